"""What a model reads of operations before it calls one: descriptions and the schemas of inputs.

As short as they can be: a client may put all of them before its model, in every request.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from pydantic import BaseModel

from memory_butler.config import MemoryModuleConfig
from memory_butler.operations.operation import Operation, Toolset
from memory_butler.operations.registry import of_toolsets

_SENTENCE_END: Final = re.compile(r"(?<=\.) ")
_TOOL: Final = re.compile(r"\b(?:memory|entity)_[a-z_]+\b")
# Said by the first tool that takes it; the name alone tells it again.
_SAID_ONCE: Final = frozenset(
    {"known_at", "as_of", "trust", "min_trust", "min_confidence", "min_relevance", "session_id"}
    | {"explain", "tenant_id", "allow_secrets", "limit", "tags"}
)

_BOUNDS: Final = frozenset({"additionalProperties", "format", "maximum", "minimum"})


@dataclass(frozen=True, slots=True)
class Described:
    """An operation as a tool; `core`: with the inputs alone that the toolset `core` shows."""

    operation: Operation[Any, Any]
    description: str
    input_schema: dict[str, Any]
    core: bool


def described_all(
    toolsets: Collection[Toolset], config: MemoryModuleConfig | None = None
) -> list[Described]:
    """The tools of these toolsets, in their order.

    Args:
        config: that of the server, whose defaults stand in the inputs (CFG-03); None: no server's.
    """
    operations = of_toolsets(toolsets)
    offered = {one.name for one in operations}
    said: set[str] = set()
    tools: list[Described] = []
    for one in operations:
        core = one.toolset not in toolsets
        schema = _inputs(one, config, core=core)
        for name, taken in schema["properties"].items():
            if name in _SAID_ONCE & said:
                taken.pop("description", None)
            said.add(name)
        tools.append(Described(one, _of_offered(one.description, offered), schema, core))
    return tools


def _of_offered(description: str, offered: Collection[str]) -> str:
    """A description without the sentences that send the model to tools that it does not have."""
    sentences = _SENTENCE_END.split(description)
    return " ".join(one for one in sentences if set(_TOOL.findall(one)) <= set(offered))


def _inputs(
    operation: Operation[Any, Any], config: MemoryModuleConfig | None, *, core: bool
) -> dict[str, Any]:
    takes: type[BaseModel] = operation.input_model
    schema = _input_schema(takes)
    properties = {
        name: _not_null(one)
        for name, one in schema.get("properties", {}).items()
        if name not in operation.programs
    }
    if operation.configured_defaults is not None and config is not None:
        for name, default in operation.configured_defaults(config).items():
            properties[name]["default"] = default
    if core:
        properties = {name: _without_bounds(properties[name]) for name in operation.core}
        schema = _without_bounds(schema)
    return {**schema, "properties": properties}


def _without_bounds(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema without its bounds: the server checks them, and a refusal tells them."""
    return {key: one for key, one in schema.items() if key not in _BOUNDS}


def _not_null(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of an input without null, which any input takes for being left out.

    Saying so of each would cost a seventh of the list.
    """
    choices = [one for one in schema.get("anyOf", []) if one != {"type": "null"}]
    lean = {key: one for key, one in schema.items() if key != "anyOf"}
    if len(choices) == 1:
        lean = {**choices[0], **lean}
    elif choices:
        lean["anyOf"] = choices
    if lean.get("default", ...) is None:
        del lean["default"]
    if lean.get("additionalProperties") is True:
        del lean["additionalProperties"]
    return lean


@cache
def _input_schema(model: type[BaseModel]) -> dict[str, Any]:
    return without_titles(model.model_json_schema())


def without_titles(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema without pydantic's titles and docstrings, which say nothing that the names do not.

    A property may itself be called "title": only strings are dropped, and properties are objects.
    """
    noise = ("title", "description") if "properties" in schema else ("title",)
    return {
        key: _lean(value)
        for key, value in schema.items()
        if not (key in noise and isinstance(value, str))
    }


def _lean(value: Any) -> Any:
    if isinstance(value, dict):
        return without_titles(value)
    return [_lean(item) for item in value] if isinstance(value, list) else value
