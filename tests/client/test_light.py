"""The client brings nothing of the server's into a program that only asks one."""

import subprocess
import sys

_ASKING = """
from memory_butler.client import SyncMemoryClient
from memory_butler.domain.errors import Unavailable
with SyncMemoryClient.connect("http://127.0.0.1:9") as memory:
    try:
        memory.recall("anything")
    except Unavailable:
        pass
"""
_HEAVY = {"asyncio", "asyncpg", "fastapi", "httpx2", "mcp", "numpy", "onnxruntime", "pydantic"}
_HEAVY |= {"sqlalchemy", "starlette", "structlog"}


def _loaded(program: str) -> set[str]:
    """The modules that a program has at its end, in an interpreter of its own."""
    ran = subprocess.run(
        [sys.executable, "-c", f"{program}\nimport sys\nprint(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(ran.stdout.split())


def _of_ours(loaded: set[str]) -> set[str]:
    """The parts of the package among them."""
    return {".".join(name.split(".")[:2]) for name in loaded if name.startswith("memory_butler.")}


def test_importing_it_loads_nothing_of_the_server() -> None:
    loaded = _loaded("import memory_butler.client")
    assert _HEAVY & loaded == set()
    assert _of_ours(loaded) == {"memory_butler.client", "memory_butler.domain"}


def test_asking_loads_what_speaks_http_and_no_more() -> None:
    loaded = _loaded(_ASKING)
    assert "httpx2" in loaded
    assert (_HEAVY - {"asyncio", "httpx2"}) & loaded == set()
    assert _of_ours(loaded) == {"memory_butler.client", "memory_butler.domain"}
