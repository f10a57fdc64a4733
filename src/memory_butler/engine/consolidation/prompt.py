"""The prompt of a consolidation: the skill, what is known, what happened; bounded (CONP-01..06)."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final
from uuid import UUID

from memory_butler.domain.context import CHARS_PER_TOKEN
from memory_butler.domain.extraction import find_object, handle_schema, object_schema
from memory_butler.domain.facts import key_of
from memory_butler.domain.permanence import FOR_A_TIME, PERMANENCES
from memory_butler.domain.text import one_line, without_tag
from memory_butler.store.consolidation import Claimed
from memory_butler.store.rows import Row

# A known fact or rule is shown to be recognised, not to be read in full.
_MAX_KNOWN_CHARS: Final = 400
# What is left of an episode that is too long, however small the room.
_MIN_EPISODE_CHARS: Final = 400
_CUT: Final = " […]"
# The skill of the memory butler, where people may read it.
_SKILL: Final = ("memory", "skills", "consolidate", "SKILL.md")


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the model is given, and what its short handles stand for.

    `shown` are the episodes in it; the rest did not fit and waits for the next run. `cut`: the
    first one alone was too long, and is there with its beginning only.
    """

    system: str
    text: str
    handles: dict[str, UUID]
    shown: tuple[Claimed, ...]
    cut: bool = False

    @property
    def tokens(self) -> int:
        """An estimate of its size, at four characters a token."""
        return estimate_tokens(self.system) + estimate_tokens(self.text)


@cache
def skill() -> str:
    """The text of SKILL.md without its front matter."""
    text = files("memory_butler.butlers").joinpath(*_SKILL).read_text("utf-8")
    return text.split("---\n", 2)[2].strip()


@cache
def examples() -> frozenset[str]:
    """What the example of the answer states, by key: a small model may copy it."""
    document = find_object(skill()) or {}
    entries = [
        entry for name in ("new_facts", "updated_facts", "new_rules") for entry in document[name]
    ]
    return frozenset(key_of(entry["content"]) for entry in entries)


def estimate_tokens(text: str) -> int:
    """Tokens of a text, at four characters each, rounded up."""
    return -(-len(text) // CHARS_PER_TOKEN)


def build(
    butler: str,
    episodes: Sequence[Claimed],
    facts: Sequence[Row],
    rules: Sequence[Row],
    max_tokens: int,
) -> Prompt:
    """The prompt for as many of the episodes, the oldest first, as fit into `max_tokens`.

    At least one episode is always shown, cut if it must be: one that is too long for any prompt
    would otherwise wait for ever. Where the bound is low, the newest facts and rules are shown.
    """
    handles: dict[str, UUID] = {}
    bound = max_tokens * CHARS_PER_TOKEN  # more of an episode need not even be looked at
    room = (max_tokens - estimate_tokens(skill())) * CHARS_PER_TOKEN
    head = [
        f"Review these recent episodes from the {neutralised(one_line(butler))} butler.",
        "\n## Existing facts\n",
        *_listed("F", map(_fact_line, facts), [row["id"] for row in facts], handles, room // 2),
        "\n## Existing rules\n",
        *_listed("R", map(_rule_line, rules), [row["id"] for row in rules], handles, room // 4),
        "\n## Episodes\n",
    ]
    room -= sum(len(line) + 1 for line in head)
    shown: list[Claimed] = []
    body: list[str] = []
    cut = False
    for episode in episodes:
        handle = f"E{len(shown) + 1}"
        block = _episode_block(handle, episode, bound)
        if len(block) > room:
            if shown:
                break
            kept = min(len(episode.content), bound) - (len(block) - room) - len(_CUT)
            block = _episode_block(handle, episode, max(kept, _MIN_EPISODE_CHARS))
            cut = True
        handles[handle] = episode.id
        shown.append(episode)
        body.append(block)
        room -= len(block) + 1
    return Prompt(skill(), "\n".join([*head, *body]), handles, tuple(shown), cut)


def neutralised(text: str) -> str:
    """Text that cannot end, or open, the element that it is wrapped in (CONP-05)."""
    return without_tag(text, "episode", "content")


def _listed(
    letter: str, told: Iterable[str], ids: Sequence[UUID], handles: dict[str, UUID], room: int
) -> list[str]:
    """A line each, as many as the room takes; only what is shown gets a handle."""
    lines = []
    for place, (text, id) in enumerate(zip(told, ids, strict=True), start=1):
        line = f"- {letter}{place} {text}"
        room -= len(line) + 1
        if room < 0:
            break
        handles[f"{letter}{place}"] = id
        lines.append(line)
    return lines or ["(none)"]


def _fact_line(row: Row) -> str:
    told = f"{row['subject']} / {row['predicate']}: {row['content']}"
    return f"[{row['permanence']}, {row['scope']}] {_known(told)}"


def _rule_line(row: Row) -> str:
    return f"[{row['maturity']}, {row['scope']}] {_known(row['content'])}"


def _known(text: str) -> str:
    return neutralised(one_line(text))[:_MAX_KNOWN_CHARS]


def _episode_block(handle: str, episode: Claimed, max_chars: int) -> str:
    content = neutralised(episode.content[:max_chars])
    if len(episode.content) > max_chars:
        content += _CUT
    when = episode.occurred_at.strftime("%Y-%m-%d %H:%M UTC")
    who = f", said by {neutralised(one_line(episode.speaker))}" if episode.speaker else ""
    return f"{handle} ({when}{who}):\n<episode_content>\n{content}\n</episode_content>"


def output_schema(handles: Sequence[str]) -> dict[str, Any]:
    """The JSON Schema of the answer, its ids limited to the handles that were given out."""
    episodes = [handle for handle in handles if handle.startswith("E")]
    facts = [handle for handle in handles if handle.startswith("F")]
    known = [handle for handle in handles if not handle.startswith("E")]
    text = {"type": "string", "minLength": 1}
    sources = {"type": "array", "items": handle_schema(episodes)}
    fact = {
        "subject": text,
        "predicate": text,
        "content": text,
        "permanence": {"type": "string", "enum": list(PERMANENCES)},
        "importance": {"type": "number", "minimum": 1, "maximum": 10},
        "tags": {"type": "array", "items": {"type": "string"}},
        "scope": {"type": "string"},
        "valid_until": {
            "type": "string",
            "description": "When it is over, in ISO 8601: of plans, appointments, passing states.",
        },
        "source_episode_ids": sources,
    }
    rule = {
        "content": text,
        "permanence": {"type": "string", "enum": list(FOR_A_TIME)},
        "scope": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "source_episode_ids": sources,
        "supported_by": _list(handle_schema(facts), allowed=bool(facts)),
    }
    arrays = {
        "new_facts": object_schema(fact, ["subject", "predicate", "content", "permanence"]),
        "updated_facts": object_schema(
            {"target_id": handle_schema(facts), **fact},
            ["target_id", "subject", "predicate", "content"],
        ),
        "new_rules": object_schema(rule, ["content"]),
        "confirmations": handle_schema(facts),
        "contradictions": {
            "type": "array",
            "items": handle_schema(known),
            "minItems": 2,
            "maxItems": 2,
        },
    }
    # Without a known fact there is none to name, and a small model would make ids up.
    possible = {
        "updated_facts": bool(facts),
        "confirmations": bool(facts),
        "contradictions": len(known) > 1,
    }
    return object_schema(
        {name: _list(item, allowed=possible.get(name, True)) for name, item in arrays.items()},
        list(arrays),
    )


def _list(item: dict[str, Any], *, allowed: bool) -> dict[str, Any]:
    listed = {"type": "array", "items": item}
    return listed if allowed else listed | {"maxItems": 0}


def shown_as_json(handles: dict[str, UUID]) -> dict[str, str]:
    """The handles as they are kept with the run."""
    return {handle: str(id) for handle, id in handles.items()}


def shown_from_json(stored: dict[str, str] | str) -> dict[str, UUID]:
    """The handles of a run as they were kept."""
    document = json.loads(stored) if isinstance(stored, str) else stored
    return {handle: UUID(id) for handle, id in document.items()}
