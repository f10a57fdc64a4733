"""The methods and shapes of the Python client, made from the registry of operations.

    python tools/client_code.py          write them, where the sources have changed since
    python tools/client_code.py --force  write them in any case

Names, types, defaults and docstrings are those of the operations, so that an editor and a type
checker know them. `hatch_build.py` runs this for a wheel and `make client` for a checkout; what it
writes is not in git. Only the writing needs the package's dependencies: `is_current` does not.
"""

import dataclasses
import hashlib
import json
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Final,
    Literal,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from memory_butler.operations.operation import Operation

SOURCES: Final = Path(__file__).resolve().parents[1] / "src" / "memory_butler"
OUTPUT: Final = SOURCES / "client" / "generated"
_STAMP: Final = OUTPUT / "sources.sha256"
_WIDTH: Final = 96
# The server fills it in, from the token.
_TENANT: Final = "tenant_id"
_HEADER: Final = '''\
"""{said} Made by tools/client_code.py."""

from __future__ import annotations

'''


def is_current() -> bool:
    """Whether what is written was made from the sources as they are now."""
    return _STAMP.is_file() and _STAMP.read_text(encoding="utf-8") == sources_hash()


def sources_hash() -> str:
    """sha256 over the package's Python files and this one: the operations use types from all."""
    digest = hashlib.sha256(Path(__file__).read_bytes())
    for file in sorted(SOURCES.rglob("*.py")):
        if OUTPUT not in file.parents:
            text = file.read_bytes()
            digest.update(f"{file.relative_to(SOURCES).as_posix()}\0{len(text)}\0".encode())
            digest.update(text)
    return digest.hexdigest()


def write() -> None:
    """Make the modules, and note what they were made from."""
    OUTPUT.mkdir(exist_ok=True)
    for name, text in modules().items():
        (OUTPUT / name).write_text(text, encoding="utf-8")
    _STAMP.write_text(sources_hash(), encoding="utf-8")


def offered() -> "list[Operation[Any, Any]]":
    """What a server can be asked for: tools, and what has a route."""
    # Here, because `is_current` is asked where the dependencies are not installed.
    from memory_butler.operations.registry import OPERATIONS

    return [one for one in OPERATIONS if one.toolset is not None or one.routes]


def method_name(operation: "Operation[Any, Any]") -> str:
    """`memory_search` is `search`."""
    return operation.name.removeprefix("memory_")


def modules() -> dict[str, str]:
    """The text of every module, by file name."""
    operations = offered()
    return {
        "__init__.py": '"""Of each operation. Made by tools/client_code.py."""\n',
        "shapes.py": _shapes(operations),
        "endpoints.py": _endpoints(operations),
        "methods.py": _methods(operations, asynchronous=True),
        "sync_methods.py": _methods(operations, asynchronous=False),
    }


# --- shapes.py ------------------------------------------------------------------------------------


def _shapes(operations: "Iterable[Operation[Any, Any]]") -> str:
    found: dict[str, type[Any]] = {}
    for operation in operations:
        for model in (operation.output_model, *_inputs_within(operation)):
            for one in _models(model):
                if found.setdefault(one.__name__, one) is not one:
                    raise ValueError(
                        f"two shapes are named {one.__name__}: rename one of the models"
                    )
    begin = _HEADER.format(said="Answers, and inputs that have parts.")
    imports = (
        "from datetime import datetime\nfrom typing import Any, Literal\nfrom uuid import UUID\n\n"
        "from memory_butler.client.shape import Shape\n"
    )
    return begin + imports + "".join(_shape(one, set(found.values())) for one in found.values())


def _inputs_within(operation: "Operation[Any, Any]") -> Iterator[type[Any]]:
    for field in operation.input_model.model_fields.values():
        yield from _models(field.annotation)


def _models(kind: Any) -> Iterator[type[Any]]:
    """The models and dataclasses that a type is made of, what another one needs before it."""
    for inner in get_args(kind):
        yield from _models(inner)
    if fields := fields_of(kind):
        for parent in kind.__bases__:
            # A private parent is a mere part of its children.
            if fields_of(parent) and not parent.__name__.startswith("_"):
                yield from _models(parent)
        for field in fields.values():
            yield from _models(field.annotation)
    if is_shape(kind):
        yield kind


def _is_dataclass(kind: Any) -> bool:
    # What annotates a type may be an instance of one.
    return isinstance(kind, type) and dataclasses.is_dataclass(kind)


def is_shape(kind: Any) -> bool:
    """Whether a type is a model or a dataclass."""
    return hasattr(kind, "model_fields") or _is_dataclass(kind)


def fields_of(kind: Any) -> "Mapping[str, FieldInfo]":
    """The fields of a model, or of a dataclass that is a part of one; of any other type none."""
    if _is_dataclass(kind):
        from pydantic.fields import FieldInfo

        hints = get_type_hints(kind, include_extras=True)
        return {
            one.name: FieldInfo.from_annotation(hints[one.name])
            if one.default is dataclasses.MISSING
            else FieldInfo.from_annotated_attribute(hints[one.name], one.default)
            for one in dataclasses.fields(kind)
        }
    found: Mapping[str, FieldInfo] = getattr(kind, "model_fields", {})
    return found


def _shape(model: type[Any], shown: set[type[Any]]) -> str:
    parents = [one for one in model.__bases__ if one in shown]
    inherited = {name for one in parents for name in fields_of(one)}
    lines = [
        f"\n\nclass {model.__name__}({', '.join(one.__name__ for one in parents) or 'Shape'}):"
    ]
    lines += [*_quoted_text((model.__doc__ or "").strip().split("\n\n")[0], 4), ""]
    for name, field in fields_of(model).items():
        if name in inherited:
            continue
        # The server always gives what has a changeable default.
        simple = isinstance(field.default, str | int | float | NoneType)
        default = "" if field.is_required() or not simple else f" = {_literal(field.default)}"
        lines.append(f"    {name}: {_rendered(field.annotation)}{default}")
        lines += _quoted_text(field.description or "", 4)
    return "\n".join(lines) + "\n"


# --- endpoints.py ---------------------------------------------------------------------------------


def _endpoints(operations: "Iterable[Operation[Any, Any]]") -> str:
    begin = _HEADER.format(said="Where each operation is asked for.")
    imports = (
        "from typing import Any, Final\n\n"
        "from memory_butler.client.endpoint import Endpoint, Route\n"
        "from memory_butler.client.generated import shapes\n\n"
    )
    return begin + imports + "".join(map(_endpoint, operations)) + _ENDPOINTS


_ENDPOINTS: Final = """
ENDPOINTS: Final[dict[str, Endpoint[Any]]] = {
    one.name: one for one in tuple(globals().values()) if isinstance(one, Endpoint)
}
"""


def _endpoint(operation: "Operation[Any, Any]") -> str:
    # A tool is asked for over MCP, which takes whatever the path of a route would want. Those of
    # other toolsets than the default one a server need not offer there; over REST it does.
    routes = () if operation.toolset == "memory" else operation.routes
    parts = [f'"{operation.name}"', f"shapes.{operation.output_model.__name__}"]
    fields = operation.input_model.model_fields
    for route in routes:
        path = route.path.replace(":path}", "}")
        fixed = ", ".join(f"{_literal(name)}: {_literal(one)}" for name, one in route.fixed.items())
        defaults = ", ".join(
            f"{_literal(name)}: {_literal(fields[name].default)}"
            for name in route.in_path
            if not fields[name].is_required() and fields[name].default is not None
        )
        more = f", {{{defaults}}}" if defaults else ""
        parts.append(f'Route("{route.method}", "{path}", {{{fixed}}}{more})')
    renamed = {name: one.alias for name, one in fields.items() if one.alias not in (None, name)}
    if renamed:
        inner = ", ".join(f"{_literal(name)}: {_literal(one)}" for name, one in renamed.items())
        parts.append(f"renamed={{{inner}}}")
    line = f"{_constant(operation)}: Final = Endpoint({', '.join(parts)})\n"
    if len(line) <= _WIDTH:
        return line
    inner = "".join(f"    {one},\n" for one in parts)
    return f"{_constant(operation)}: Final = Endpoint(\n{inner})\n"


def _constant(operation: "Operation[Any, Any]") -> str:
    return method_name(operation).upper()


# --- methods.py and sync_methods.py ---------------------------------------------------------------


def _methods(operations: "Iterable[Operation[Any, Any]]", *, asynchronous: bool) -> str:
    kind = "" if asynchronous else "Sync"
    begin = _HEADER.format(said="Every operation as a method.")
    imports = (
        "from datetime import date, datetime\nfrom typing import Any, Literal\n"
        "from uuid import UUID\n\n"
        "from memory_butler.client.endpoint import UNSET, Unset\n"
        "from memory_butler.client.generated import endpoints, shapes\n"
        f"from memory_butler.client.transport import {kind}Sender\n"
    )
    head = f'\n\nclass {kind}Methods({kind}Sender):\n    """All operations."""\n'
    body = "".join(_method(one, asynchronous=asynchronous) for one in operations)
    return begin + imports + head + body


def _method(operation: "Operation[Any, Any]", *, asynchronous: bool) -> str:
    required, optional = [], []
    fields = {n: one for n, one in operation.input_model.model_fields.items() if n != _TENANT}
    for name, field in fields.items():
        kind = _rendered(field.annotation, "shapes.")
        if field.is_required():
            required.append(f"{name}: {kind}")
        else:
            optional.append(f"{name}: {kind} | Unset = UNSET")
    parameters = ["self", *required, *(["*"] if optional else []), *optional]
    signature = "".join(f"        {one},\n" for one in parameters)
    define, wait = ("async def", "await ") if asynchronous else ("def", "")
    return (
        f"\n    {define} {method_name(operation)}(\n{signature}"
        f"    ) -> shapes.{operation.output_model.__name__}:\n"
        f"{_docstring(operation, {n: one.description for n, one in fields.items()})}"
        f"        return {wait}self._send(endpoints.{_constant(operation)}, locals())\n"
    )


def _docstring(operation: "Operation[Any, Any]", said: Mapping[str, str | None]) -> str:
    lines = [f"{operation.title}.", "", *textwrap.wrap(operation.description, _WIDTH - 8)]
    described = [f"{name}: {one}" for name, one in said.items() if one]
    if described:
        lines += ["", "Args:"]
        for one in described:
            lines += textwrap.wrap(
                one, _WIDTH - 8, initial_indent="    ", subsequent_indent=" " * 8
            )
    return "\n".join(_quoted_text("\n".join(lines), 8)) + "\n"


# --- text -----------------------------------------------------------------------------------------


def _rendered(kind: Any, shapes: str = "") -> str:
    """An annotation as source; `shapes` stands before the name of a shape.

    It does so in what a caller gives, where a date will do for its midnight in UTC.
    """
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _rendered(inner[0], shapes)
    if origin in (Union, UnionType):
        parts = [one for one in inner if one is not NoneType]
        none = ["None"] if NoneType in inner else []
        return " | ".join([*(_rendered(one, shapes) for one in parts), *none])
    if origin is Literal:
        return f"Literal[{', '.join(map(_literal, inner))}]"
    if origin is tuple:  # JSON has no tuples
        return f"list[{_rendered(inner[0], shapes)}]"
    if origin is not None:
        return f"{origin.__name__}[{', '.join(_rendered(one, shapes) for one in inner)}]"
    if is_shape(kind):
        return f"{shapes}{kind.__name__}"
    if shapes and kind is datetime:
        return "datetime | date"
    return str(kind.__name__)


def _literal(value: object) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def _quoted_text(text: str, indent: int) -> list[str]:
    """A docstring; nothing for no text."""
    if not text:
        return []
    lines = text.replace("\\", "\\\\").split("\n")
    if len(lines) == 1:
        lines = textwrap.wrap(lines[0], _WIDTH - indent - 6)
    end = '"""' if len(lines) > 1 or text.endswith('"') else ""
    quoted = [f'"""{lines[0]}', *lines[1:], end] if end else [f'"""{lines[0]}"""']
    return [f"{' ' * indent}{one}".rstrip() for one in quoted]


if __name__ == "__main__":
    sys.path.insert(0, str(SOURCES.parent))
    if "--force" in sys.argv or not is_current():
        write()
        print(OUTPUT)
