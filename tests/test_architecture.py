"""The house rules that no linter of its own holds."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[1]
_SOURCE = _ROOT / "src" / "memory_butler"
_VAGUE_NAMES = {"utils", "util", "common", "helpers", "helper", "manager", "base", "misc"}

# What a pure rule may not use: it takes values and `now`, and returns values.
_IMPURE_MODULES = {"asyncio", "io", "os", "pathlib", "random", "secrets", "shutil", "socket"}
_IMPURE_MODULES |= {"subprocess", "sys", "tempfile", "threading", "time"}
_IMPURE_CALLS = {"open", "print", "input", "exec", "eval", "now", "utcnow", "today"}
_IMPURE_CALLS |= {"uuid1", "uuid4", "fromtimestamp"}

_MADE = _SOURCE / "client" / "generated"
_MODULES = sorted(one for one in _SOURCE.rglob("*.py") if _MADE not in one.parents)
_DOMAIN = sorted((_SOURCE / "domain").glob("*.py"))


def _name(path: Path) -> str:
    return str(path.relative_to(_SOURCE))


def test_imports_point_one_way() -> None:
    lint = Path(sys.executable).with_name("lint-imports")
    ran = subprocess.run([lint, "--no-cache"], cwd=_ROOT, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize("path", _DOMAIN, ids=_name)
def test_the_domain_has_no_clock_no_chance_and_no_io(path: Path) -> None:
    assert list(_impurities(ast.parse(path.read_text(encoding="utf-8")))) == []


def test_an_impurity_would_be_found() -> None:
    tree = ast.parse(
        "import time\nfrom os import path\nfrom datetime import datetime\n"
        "a = datetime.now()\nb = open('x')\n"
    )
    assert list(_impurities(tree)) == ["time", "os", "now()", "open()"]


def _impurities(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (one.name for one in names if one.name in _IMPURE_MODULES)
            case ast.ImportFrom(module=str(module)) if module.split(".")[0] in _IMPURE_MODULES:
                yield module
            case ast.Call(func=ast.Name(id=called) | ast.Attribute(attr=called)):
                if called in _IMPURE_CALLS:
                    yield f"{called}()"


def test_every_module_is_named_for_what_it_holds() -> None:
    folders = {path.parent for path in _MODULES}
    assert [_name(one) for one in [*_MODULES, *folders] if one.stem in _VAGUE_NAMES] == []


def test_only_the_store_and_the_journal_speak_sql() -> None:
    speakers = {path.relative_to(_SOURCE).parts[0] for path in _SOURCE.rglob("*.sql")}
    assert speakers <= {"store", "journal"}
