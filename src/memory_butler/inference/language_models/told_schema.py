"""The schema of an answer: as text for models without structured output, or strict."""

import json
from collections.abc import Mapping
from typing import Any

_INSTRUCTION = (
    "Answer with one JSON object that follows this JSON schema, and with nothing else:\n{schema}"
)


def with_schema(system: str, schema: Mapping[str, Any] | None) -> str:
    """The instructions, with the schema after them; unchanged without one."""
    if schema is None:
        return system
    return f"{system}\n\n{_INSTRUCTION.format(schema=compact(schema))}"


def compact(schema: Mapping[str, Any]) -> str:
    """The schema as JSON without spaces."""
    return json.dumps(schema, ensure_ascii=False, separators=(",", ":"))


def strict(schema: Any) -> Any:
    """The schema as OpenAI's strict mode wants it: every property required, no others allowed."""
    if isinstance(schema, list):
        return [strict(part) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    result = {key: strict(value) for key, value in schema.items()}
    if schema.get("type") == "object" and isinstance(schema.get("properties"), Mapping):
        result |= {"required": list(schema["properties"]), "additionalProperties": False}
    return result
