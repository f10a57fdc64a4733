"""The server starts without the libraries that only a model's call needs."""

import subprocess
import sys

_LAZY = ("pydantic_ai", "anthropic", "openai", "xllamacpp")
_PROGRAM = """
import sys
import {module}
print([name for name in {lazy} if name in sys.modules])
"""


def test_the_server_and_the_choice_of_a_model_import_no_provider() -> None:
    for module in ("memory_butler.app", "memory_butler.inference.language_models.choose"):
        program = _PROGRAM.format(module=module, lazy=_LAZY)
        ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr
        assert ran.stdout.strip() == "[]"
