"""The methods of `MemoryClient`, written from the registry: a module a topic, as operations are.

Names, types, defaults and docstrings are those of the operations, so that an editor and a type
checker know them; `tools/make_docs.py` writes the modules, and a test holds them to the registry.
"""

import subprocess
import sys
import textwrap
from collections import defaultdict
from collections.abc import Iterator, Mapping
from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from memory_butler.operations.operation import Operation
from memory_butler.operations.registry import OPERATIONS

FOLDER: Final = Path(__file__).parents[1] / "src" / "memory_butler" / "client"
_WIDTH: Final = 96
# Filled in by the client itself.
_TENANT: Final = "tenant_id"
_HEADER: Final = '''\
"""The operations of `operations/{topic}.py`, as methods. Written by tools/make_docs.py."""

'''


def offered() -> list[Operation[Any, Any]]:
    """What a server can be asked for: tools, and what has a route."""
    return [one for one in OPERATIONS if one.toolset is not None or one.routes]


def method_name(operation: Operation[Any, Any]) -> str:
    """`memory_search` is `search`."""
    return operation.name.removeprefix("memory_")


def class_name(topic: str) -> str:
    """`episodes` is `Episodes`."""
    return topic.title().replace("_", "")


def by_topic() -> Mapping[str, list[Operation[Any, Any]]]:
    """The operations of each module, in the order of the registry."""
    found: dict[str, list[Operation[Any, Any]]] = defaultdict(list)
    for operation in offered():
        found[_topic(operation)].append(operation)
    return found


def _topic(operation: Operation[Any, Any]) -> str:
    return str(operation.handler.__module__).rpartition(".")[2]


def modules() -> dict[str, str]:
    """The text of every written module of the client, by file name."""
    topics = by_topic()
    written = {f"{topic}.py": _module(topic, found) for topic, found in topics.items()}
    written["methods.py"] = _all(list(topics))
    return {name: _formatted(text) for name, text in written.items()}


def _formatted(text: str) -> str:
    """As the linters want it."""
    ruff = str(Path(sys.executable).with_name("ruff"))
    for command in (["check", "--quiet", "--select", "I", "--fix", "-"], ["format", "-"]):
        done = subprocess.run(  # noqa: S603 -- our own linter
            [ruff, *command], input=text, capture_output=True, text=True, check=True
        )
        text = done.stdout
    return text


def _all(topics: list[str]) -> str:
    imports = "".join(
        f"from memory_butler.client.{topic} import {class_name(topic)}\n"
        for topic in sorted(topics)
    )
    bases = "".join(f"    {class_name(topic)},\n" for topic in topics)
    return (
        '"""Every operation as a method. Written by tools/make_docs.py."""\n\n'
        f'{imports}\n\nclass Methods(\n{bases}):\n    """All topics together."""\n'
    )


def _module(topic: str, found: list[Operation[Any, Any]]) -> str:
    names = _Names(topic)
    body = "\n".join(_method(operation, names) for operation in found)
    said = f'    """What the client can do about {topic.replace("_", " ")}."""\n\n'
    begin = f"{_HEADER.format(topic=topic)}{names.imports()}\n\n"
    return f"{begin}class {class_name(topic)}(Sender):\n{said}{body}"


class _Names:
    """The names that a module uses, and where they come from."""

    def __init__(self, topic: str) -> None:
        self._topic = topic
        self._found: dict[str, set[str]] = defaultdict(set)
        self._found["memory_butler.client.sender"].add("Sender")

    def use(self, module: str, name: str) -> str:
        self._found[module].add(name)
        return name

    def imports(self) -> str:
        own = {name for name in self._found if name.startswith("memory_butler")}
        blocks = [sorted(set(self._found) - own), sorted(own)]
        lines = ["\n".join(self._line(module) for module in block) for block in blocks if block]
        lines[-1] += f"\nfrom memory_butler.operations import {self._topic} as operations"
        return "\n\n".join(lines) + "\n"

    def _line(self, module: str) -> str:
        return f"from {module} import {', '.join(sorted(self._found[module]))}"


def _method(operation: Operation[Any, Any], names: _Names) -> str:
    required, optional = [], []
    told = []
    for name, field in operation.input_model.model_fields.items():
        if name == _TENANT:
            continue
        kind = _rendered(field.annotation, names)
        if field.is_required():
            required.append(f"{name}: {kind}")
        else:
            for constant in ("UNSET", "Unset"):
                names.use("memory_butler.client.transport", constant)
            none = kind.endswith(" | None")
            kind = f"{kind.removesuffix(' | None')} | Unset{' | None' if none else ''}"
            optional.append(f"{name}: {kind} = UNSET")
        told.append((name, field.description or ""))
    if told:
        names.use("memory_butler.client.transport", "left_in")
    parameters = ["self", *required, *(["*"] if optional else []), *optional]
    output = names.use(operation.output_model.__module__, operation.output_model.__name__)
    given = ", ".join(f"{name}={name}" for name, _ in told)
    signature = "".join(f"        {one},\n" for one in parameters)
    return (
        f"    async def {method_name(operation)}(\n{signature}    ) -> {output}:\n"
        f"{textwrap.indent(_docstring(operation, told), ' ' * 8)}"
        f"        return await self._send(\n            operations.{_constant(operation)},\n"
        f"            {f'left_in({given})' if told else '{}'},\n        )\n"
    )


def _constant(operation: Operation[Any, Any]) -> str:
    """What the operation's module calls it."""
    module = sys.modules[operation.handler.__module__]
    return next(name for name, value in vars(module).items() if value is operation)


def _docstring(operation: Operation[Any, Any], told: list[tuple[str, str]]) -> str:
    lines = [f'"""{operation.title}.', ""]
    lines += textwrap.wrap(operation.description, _WIDTH - 8)
    described = [(name, said) for name, said in told if said]
    if described:
        lines += ["", "Args:"]
        for name, said in described:
            lines += textwrap.wrap(
                f"{name}: {said}", _WIDTH - 12, initial_indent="    ", subsequent_indent=" " * 8
            )
    return "\n".join([*lines, '"""']).replace("\\", "\\\\") + "\n"


def _rendered(kind: Any, names: _Names) -> str:
    """An annotation as source."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _rendered(inner[0], names)
    if origin in (Union, UnionType):
        parts = [one for one in inner if one is not NoneType]
        return " | ".join(
            [*(_rendered(one, names) for one in parts), *(["None"] * (NoneType in inner))]
        )
    if origin is Literal:
        names.use("typing", "Literal")
        return f"Literal[{', '.join(_quoted(one) for one in inner)}]"
    if origin is not None:
        return f"{origin.__name__}[{', '.join(_rendered(one, names) for one in inner)}]"
    if kind is Any:
        return names.use("typing", "Any")
    if kind.__module__ == "builtins":
        return str(kind.__name__)
    return names.use(kind.__module__, kind.__name__)


def _quoted(word: Any) -> str:
    return f'"{word}"' if isinstance(word, str) and not isinstance(word, Enum) else repr(word)


def stale() -> Iterator[tuple[Path, str]]:
    """The modules whose text on disk is not what the registry says, each with its text."""
    for name, text in modules().items():
        path = FOLDER / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            yield path, text
