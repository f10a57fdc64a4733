"""What the model proposes, read tolerantly into closed operations. Pure.

Nothing that a model says is trusted: what is malformed, names what does not exist, rests on no
message that was shown, or would tell a secret is refused and reported, never carried out.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, get_args

from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.extraction import (
    MAX_COMPLAINT_CHARS,
    MAX_ENTRIES,
    Refused,
    fields_of,
    find_object,
    handle_schema,
    object_schema,
)
from memory_butler.domain.text import storable
from memory_butler.journal.fragments import (
    ALIAS,
    DropEdge,
    DropFragment,
    Fragment,
    Operation,
    PutEdge,
    PutFragment,
    carry_out,
)
from memory_butler.journal.lifecycle import normalised
from memory_butler.journal.maintenance.prompt import Question

Action = Literal["put", "alias", "connect", "disconnect", "delete"]
ACTIONS: Final[tuple[Action, ...]] = get_args(Action)

# The fields of each action: those that must be there, and those that may.
FIELDS: Final[Mapping[Action, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "put": (("key",), ("ambient", "recognition", "inventory", "sources")),
    "alias": (("name", "key"), ()),
    "connect": (("source", "target"), ("relation",)),
    "disconnect": (("source", "target"), ()),
    "delete": (("key",), ()),
}

# A model that is led astray must not take the map down with it; a person may go further.
MAX_DELETED_SHARE: Final = 0.2
MIN_DELETABLE: Final = 3
# The map is in every prompt: a line that is longer is no line, but all that is known.
MAX_AMBIENT_CHARS: Final = 1_000


@dataclass(frozen=True, slots=True)
class Answer:
    """What can be done, in order, and what was refused, and why.

    `unseen` are the fragments that it would write anew, and that were not shown whole.
    """

    operations: tuple[Operation, ...]
    refused: tuple[str, ...]
    unseen: frozenset[str] = frozenset()


@dataclass(slots=True)
class Draft:
    """The fragments as they would be after what was proposed so far in a run."""

    fragments: dict[str, Fragment]
    secrets: Sequence[str] = ()
    deleted: int = 0
    _before: int = field(init=False)

    def __post_init__(self) -> None:
        self._before = len(self.fragments)
        self.secrets = [one for one in map(normalised, self.secrets) if one]

    def may_delete(self) -> bool:
        """Whether one more deletion stays within the bounds of a run."""
        return self.deleted < max(MIN_DELETABLE, int(self._before * MAX_DELETED_SHARE))

    def tells_a_secret(self, text: str) -> bool:
        """Whether a text holds one of the secrets, as whole words."""
        words = normalised(text)
        return any(
            # The cheap test first: there may be a thousand secrets, and as many texts.
            one in words and re.search(rf"(?<!\w){re.escape(one)}(?!\w)", words)
            for one in self.secrets
        )


def read_answer(text: str, question: Question, draft: Draft) -> Answer | None:
    """The operations of an answer, carried out on `draft`; None without a JSON object."""
    document = find_object(text)
    if document is None:
        return None
    reader = _Reader(question, draft)
    for name in sorted(document.keys() - set(ACTIONS)):
        reader.refuse(f"{name[:40]!r} is no action; actions are {', '.join(ACTIONS)}")
    operations = [one for action in ACTIONS for one in reader.entries(document, action)]
    return Answer(tuple(operations), tuple(reader.refused), frozenset(reader.unseen))


@dataclass(slots=True)
class _Reader:
    question: Question
    draft: Draft
    refused: list[str] = field(default_factory=list)
    unseen: set[str] = field(default_factory=set)

    def refuse(self, complaint: str) -> None:
        if len(self.refused) < MAX_ENTRIES:
            self.refused.append(complaint[:MAX_COMPLAINT_CHARS])

    def entries(self, document: Mapping[str, Any], action: Action) -> Iterator[Operation]:
        listed = document.get(action)
        if listed is None:
            return
        if not isinstance(listed, list):
            self.refuse(f"{action}: expected an array, got {type(listed).__name__}")
            return
        if len(listed) > MAX_ENTRIES:
            self.refuse(f"{action}: only the first {MAX_ENTRIES} of {len(listed)} are read")
        for place, entry in enumerate(listed[:MAX_ENTRIES]):
            try:
                operations = self._read(action, entry)
                # All of an entry or nothing of it.
                tried = dict(self.draft.fragments)
                for operation in operations:
                    carry_out(tried, operation)
            except (Refused, InvalidInput) as error:
                self.refuse(f"{action}[{place}]: {error}")
                continue
            self.draft.fragments = tried
            self.draft.deleted += action == "delete"
            yield from operations

    def _read(self, action: Action, entry: Any) -> list[Operation]:
        fields = fields_of(entry)
        required, optional = FIELDS[action]
        if unknown := sorted(fields.keys() - {*required, *optional}):
            raise Refused(f"unknown field {str(unknown[0])[:40]!r}")
        texts = {
            name: _text(fields, name, required=name in required)
            for name in (*required, *optional)
            if name != "sources"
        }
        if any(self.draft.tells_a_secret(text) for text in texts.values()):
            raise Refused("it would tell a secret")
        match action:
            case "put":
                return [self._put(texts, fields.get("sources"))]
            case "alias":
                return self._alias(texts["name"], texts["key"])
            case "connect":
                return [PutEdge(texts["source"], texts["target"], texts["relation"] or None)]
            case "disconnect":
                return [DropEdge(texts["source"], texts["target"])]
            case "delete":
                return [self._delete(texts["key"])]

    def _put(self, texts: Mapping[str, str], sources: Any) -> Operation:
        tiers = {name: texts[name] or None for name in ("ambient", "recognition", "inventory")}
        if not any(tiers.values()):
            raise Refused("it says nothing: every tier is empty")
        if len(texts["ambient"]) > MAX_AMBIENT_CHARS:
            raise Refused(
                f"its ambient line has {len(texts['ambient'])} characters, of {MAX_AMBIENT_CHARS} "
                "at most: it would be in every prompt"
            )
        named = sources if isinstance(sources, list) else []
        handles = self.question.handles
        # A small model may wrap them: {"id": "M1"}.
        ids = {handles[one] for one in named if isinstance(one, str) and one in handles}
        if not ids and not self.question.review:
            raise Refused(f"{texts['key'][:64]!r} rests on none of the messages")
        if self.question.review and texts["key"] not in self.draft.fragments:
            raise Refused(f"a review makes no new fragment, and {texts['key'][:64]!r} is one")
        self._check_seen(texts["key"], tiers)
        return PutFragment(texts["key"], **tiers, sources=tuple(sorted(ids)))

    def _check_seen(self, key: str, tiers: Mapping[str, str | None]) -> None:
        """Refuse to write over what the model was not shown: it cannot keep what is still true."""
        if key not in self.question.partly:
            return
        former = self.draft.fragments[key]
        was = {"recognition": former.recognition, "inventory": former.inventory}
        if key in self.question.unlisted:
            was["ambient"] = former.ambient
        if any(tiers[name] and tier and tiers[name] != tier for name, tier in was.items()):
            self.unseen.add(key)
            raise Refused(f"{key[:64]!r} was not shown whole, and would lose what it says")

    def _alias(self, name: str, key: str) -> list[Operation]:
        if name in self.draft.fragments:
            raise Refused(f"{name[:64]!r} is a fragment already; connect them instead")
        if key not in self.draft.fragments:
            raise Refused(f"there is no fragment {key[:64]!r}; put it first")
        return [
            PutFragment(name, recognition=f"Another name of [{key}]."),
            PutEdge(name, key, ALIAS),
        ]

    def _delete(self, key: str) -> Operation:
        if not self.question.review:
            raise Refused("only the review of a monthly run deletes")
        if not self.draft.may_delete():
            raise Refused("a run deletes no more than that; a person may")
        if key in self.question.partly:
            raise Refused(f"{key[:64]!r} was not shown")
        return DropFragment(key)


def _text(entry: Mapping[str, Any], name: str, *, required: bool) -> str:
    value = entry.get(name)
    if value is None and not required:
        return ""
    if not isinstance(value, str) or (required and not value.strip()):
        raise Refused(f"{name} is missing, empty or no text")
    return storable(value).strip()


def answer_schema(question: Question, fragments: Mapping[str, Fragment]) -> dict[str, Any]:
    """The JSON Schema of the answer; its sources are limited to the messages that are shown."""
    source = handle_schema(list(question.handles))
    listed: dict[str, Any] = {}
    for action, (required, optional) in FIELDS.items():
        properties: dict[str, Any] = {
            **{name: {"type": "string", "minLength": 1} for name in required},
            **{name: {"type": "string"} for name in optional},
        }
        if action == "put":
            properties["sources"] = {"type": "array", "items": source}
            required = (*required, *(() if question.review else ("sources",)))
        listed[action] = {"type": "array", "items": object_schema(properties, required)}
    # Without a fragment there is nothing to take away, and a small model would make keys up.
    for action in ("disconnect", "delete"):
        if not fragments or (action == "delete" and not question.review):
            listed[action]["maxItems"] = 0
    return object_schema(listed, list(listed))
