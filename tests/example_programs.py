"""Loading a program of `examples/`, as its file stands."""

import importlib.util
from pathlib import Path
from types import ModuleType

_EXAMPLES = Path(__file__).parents[1] / "examples"


def example(name: str) -> ModuleType:
    """The module of `examples/<name>.py`, new each time."""
    spec = importlib.util.spec_from_file_location(name, _EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
