"""Examples for the description: made from the models, with one sample for each name of a field.

The ids are those of one small household, so that whoever stores it can send every request as it
stands; a test does.
"""

from collections.abc import Mapping
from typing import Any, Final

from memory_butler.operations.operation import Operation, Route

Schema = Mapping[str, Any]

FACT: Final = "5d0f4c7e-1c1e-4a51-9a5e-6f0a3f6f1a01"
RULE: Final = "5d0f4c7e-1c1e-4a51-9a5e-6f0a3f6f1a02"
EPISODE: Final = "5d0f4c7e-1c1e-4a51-9a5e-6f0a3f6f1a03"
SESSION: Final = "5d0f4c7e-1c1e-4a51-9a5e-6f0a3f6f1a04"
PERSON: Final = "5d0f4c7e-1c1e-4a51-9a5e-6f0a3f6f1a05"
DUPLICATE: Final = "5d0f4c7e-1c1e-4a51-9a5e-6f0a3f6f1a06"
TOKEN: Final = "5d0f4c7e-1c1e-4a51-9a5e-6f0a3f6f1a07"  # noqa: S105 -- the id of one, no secret
RECEIPT: Final = "5d0f4c7e-1c1e-4a51-9a5e-6f0a3f6f1a08"
LIKE_FACT: Final = "5d0f4c7e-1c1e-4a51-9a5e-6f0a3f6f1a09"
WAITING_FACT: Final = "5d0f4c7e-1c1e-4a51-9a5e-6f0a3f6f1a21"
UNMASK_KEY: Final = "unmask_mfrggzdfmztwq2lknnwg23tpoa"
BUTLER: Final = "travel"
COMPANION: Final = "ada"
FRAGMENT: Final = "garden"

_SAMPLES: Final[Mapping[str, Any]] = {
    "actor": "token:dashboard",
    "address": "0c6d2f0f2a5e4d1b.3p7bfXt9wbTTW2HC7OQ1Nz-DQ8hbeGdNrfx-FG-IK08=",
    "aliases": ["Ana"],
    "at": "2026-03-01T12:00:00+00:00",
    "butler": BUTLER,
    "canonical_name": "Ana Silva",
    "code": "not_found",
    "companion": COMPANION,
    "content": "Prefers dark green",
    "context": {},
    "database": "ok",
    "day": "2026-03-01T00:00:00+00:00",
    "decay_rate": 0.008,
    "detail": {},
    "earlier_id": FACT,
    "entity_id": PERSON,
    "episode_id": EPISODE,
    "event_id": 1,
    "event_type": "fact_created",
    "fact_id": FACT,
    "id": FACT,
    "importance": 5.0,
    "job": "decay_sweep",
    "key": FRAGMENT,
    "keys": [FRAGMENT],
    "label": "user · favorite_color: Prefers dark green",
    "later_id": LIKE_FACT,
    "letter": "AQxtLw8qXk0b…",
    "limit": 50,
    "memory_id": FACT,
    "metadata": {},
    "name": "dashboard",
    "namespace": ["users", "ana"],
    "offset": 0,
    "payload": {"memory_type": "fact", "memory_id": FACT},
    "predicate": "favorite_color",
    "q": "green",
    "query": "which colour does the user like",
    "question": "Which colour does the user like?",
    "receipt_id": RECEIPT,
    "revision": "0c6d2f0f2a5e4d1b9f6b8a7c5d4e3f21",
    "rule_id": RULE,
    "run_id": 1,
    "said": "a fact was stored",
    "scope": "global",
    "session_id": SESSION,
    "source_butler": BUTLER,
    "source_entity_id": DUPLICATE,
    "source_episode_id": EPISODE,
    "source_id": FACT,
    "source_type": "fact",
    "subject": "user",
    "supersedes_id": None,
    "superseded": None,
    "superseded_by": None,
    "tags": ["taste"],
    "target_entity_id": PERSON,
    "target_id": RULE,
    "target_type": "rule",
    "tenant_id": "default",
    "token": "mbt_shown-this-once",
    "token_id": TOKEN,
    "topic": "painting the kitchen",
    "trigger_prompt": "Which colour for the kitchen?",
    "unmask_key": UNMASK_KEY,
    "without": [FACT],
}

# Optional fields of the examples; ids in a path, where the field's name does not tell which.
_REQUESTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "memory_store_fact": {"predicate": "favorite_tea", "content": "Likes oolong best"},
    "memory_store_rule": {"content": "Confirm before sending messages", "tags": ["messages"]},
    "memory_store_episode": {"content": "Ana called about the trip"},
    "memory_mark_harmful": {"reason": "It was sent to the wrong Ana"},
    "entity_create": {"canonical_name": "Lisbon", "entity_type": "place"},
    "entity_update": {"aliases": ["Ana", "Anita"]},
    "entity_resolve": {"name": "Ana"},
    "fact_edit": {"content": "Prefers dark blue"},
    "facts_rename": {"subjects": [{"fact_id": LIKE_FACT, "subject": "Ana Silva"}]},
    "fact_accept": {"fact_id": WAITING_FACT},
    "memory_erase": {"memory_type": "fact", "memory_id": LIKE_FACT, "preview": True},
    "conflict_settle": {"choice": "keep_both"},
    "rule_edit": {"content": "Ask before a message goes to somebody new"},
    "rule_confirm": {"memory_id": RULE},
    "rule_forget": {"memory_id": RULE},
    "rule_restore": {"memory_id": RULE},
    "rule_links": {"memory_id": RULE},
    "rule_events": {"memory_id": RULE},
    "episode_forget": {"memory_id": EPISODE},
    "episode_restore": {"memory_id": EPISODE},
    "episode_links": {"memory_id": EPISODE},
    "episode_events": {"memory_id": EPISODE},
    "link_create": {"relation": "supports"},
    "facts_list": {"q": "green", "limit": 20},
    "job_run": {"dry_run": True},
    "journal_edit": {"words": "water the garden", "content": "water the roses"},
    "journal_forget": {"words": "water the roses"},
    "journal_introduce": {"user": "Ana", "name": "Luna", "time_zone": "Europe/Lisbon"},
    "journal_log": {"content": "Good morning! <plan>water the garden tomorrow at 9am</plan>"},
    "journal_remember": {"type": "plan", "content": "drop the car at the garage on Friday"},
    "journal_search": {"question": "when did we plant the roses"},
    "journal_maintain": {"run_type": "weekly"},
    "token_create": {"name": "dashboard", "scopes": ["read", "write"]},
}


def request_of(operation: Operation[Any, Any], route: Route, id: str) -> dict[str, Any]:
    """A request: all required fields, and optional ones that make a better example."""
    schema = operation.input_model.model_json_schema()
    definitions = schema.get("$defs", {})
    told = _REQUESTS.get(id, {})
    needed = [*route.in_path, *schema.get("required", ())]
    filled_in = {*route.fixed, "tenant_id"}
    return {
        name: told[name] if name in told else _value(name, schema["properties"][name], definitions)
        for name in dict.fromkeys([*needed, *told])
        if name not in filled_in
    }


def part_of_path(name: str) -> Any:
    """An example of what stands in a path by this name."""
    return _SAMPLES[name]


def answer_of(schema: Schema, definitions: Mapping[str, Schema]) -> Any:
    """An answer of this shape."""
    return _value("", schema, definitions)


def _value(name: str, schema: Schema, definitions: Mapping[str, Schema]) -> Any:
    if "$ref" in schema:
        return _value(name, definitions[schema["$ref"].rpartition("/")[2]], definitions)
    for either in ("anyOf", "oneOf"):
        if either in schema:
            return _either(name, schema[either], definitions)
    if "const" in schema:
        return schema["const"]
    sample = _SAMPLES.get(name)
    if "enum" in schema:
        return sample if sample in schema["enum"] else schema["enum"][0]
    return _plain(name, schema, definitions)


def _either(name: str, shapes: list[Schema], definitions: Mapping[str, Schema]) -> Any:
    """The named sample, the first shape that is not null, or null for moments that may never be."""
    nullable = any(one.get("type") == "null" for one in shapes)
    if nullable and _SAMPLES.get(name, "") is None:
        return None
    told = [one for one in shapes if one.get("type") != "null"]
    if nullable and name not in _SAMPLES and told[0].get("format") == "date-time":
        return None
    return _value(name, told[0], definitions)


def _plain(name: str, schema: Schema, definitions: Mapping[str, Schema]) -> Any:
    kind = schema.get("type")
    if kind == "array":
        if isinstance(_SAMPLES.get(name), list):
            return _SAMPLES[name]
        count = schema.get("minItems", 1)
        return [_value("", schema.get("items", {}), definitions)] * count
    if kind == "object" and "properties" in schema:
        return {key: _value(key, one, definitions) for key, one in schema["properties"].items()}
    if kind == "object":
        return _SAMPLES[name] if isinstance(_SAMPLES.get(name), dict) else {}
    if name in _SAMPLES and _fits(_SAMPLES[name], kind):
        return _SAMPLES[name]
    if schema.get("format") == "uuid":
        return FACT
    if schema.get("format") == "date-time":
        return "2026-03-01T12:00:00+00:00"
    plain: dict[str | None, Any] = {"integer": 1, "number": 0.8, "boolean": True}
    return plain.get(kind, "text")


def _fits(sample: Any, kind: str | None) -> bool:
    kinds: dict[str | None, tuple[type, ...]] = {
        "string": (str,),
        "integer": (int,),
        "number": (int, float),
        "boolean": (bool,),
    }
    return isinstance(sample, kinds.get(kind, (object,)))
