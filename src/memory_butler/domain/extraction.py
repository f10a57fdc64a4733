"""What a language model drew from episodes, read tolerantly into closed types (PAR-01..08).

Nothing that a model says is trusted: what is malformed is reported and left out, never raised; an
id counts only if it is a UUID or one of the short handles that the prompt gave out. The journal
reads what a model makes of its messages by the same means.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from typing import Any, Final, TypeVar
from uuid import UUID

from memory_butler.domain.facts import DEFAULT_IMPORTANCE, end_of_day
from memory_butler.domain.permanence import DEFAULT_PERMANENCE, PERMANENCES, Permanence
from memory_butler.domain.text import storable

NO_JSON: Final = "No JSON block found in consolidation output"

_ARRAYS: Final = (
    "new_facts",
    "updated_facts",
    "new_rules",
    "confirmations",
    "contradictions",
)

# A runaway output must not become a million actions or complaints.
MAX_ENTRIES: Final = 200
MAX_COMPLAINT_CHARS: Final = 200

# One for each episode, at the most that are asked about by default.
_MAX_OBJECTS: Final = 50

# A brace in the prose before the object may never close; each costs a reading to the end.
_MAX_UNCLOSED: Final = 20

# More tags than are kept, or longer ones, would be refused with all that they are of.
_MAX_TAGS: Final = 100
_MAX_TAG_BYTES: Final = 500

_THE_USER: Final = frozenset(
    """
    the user|user|i|me|myself|der nutzer|nutzer|die nutzerin|nutzerin|der benutzer|benutzer|ich
    |l'utilisateur|utilisateur|l'utilisatrice|utilisatrice|el usuario|usuario|la usuaria|usuaria
    |l'utente|utente|o usuário|usuário|a usuária|usuária
    """.replace("\n", "")
    .replace("    ", "")
    .split("|")
)

_FENCE = re.compile(r"```(?:json)?[ \t]*\r?\n(.*?)```", re.DOTALL | re.IGNORECASE)
_THOUGHT: Final = "</think>"
# A string, whatever it holds; or a comma before what closes an array or object.
_TRAILING_COMMA = re.compile(r'("(?>(?:[^"\\]|\\.)*)")|,(?=\s*[\]}])', re.DOTALL)
# What small models put around a handle: "[e1]", "#F3", "E2.".
_AROUND_HANDLES: Final = " \t\n[](){}<>#.:;'\"`"
_NUMBER = re.compile(r"(\d{1,3}(?:\.\d{1,6})?)(?: ?/ ?10)?")


@dataclass(frozen=True, slots=True)
class ExtractedFact:
    """A fact that the model states; `sources` are the episodes it names, empty if none (C-57)."""

    subject: str
    predicate: str
    content: str
    permanence: Permanence = DEFAULT_PERMANENCE
    importance: float = DEFAULT_IMPORTANCE
    tags: tuple[str, ...] = ()
    scope: str | None = None
    sources: tuple[UUID, ...] = ()
    # When it is over, of what lasts until then: a plan, an appointment, a passing state.
    valid_until: datetime | None = None
    # Which of importance and permanence the model did not state so that they can be used.
    unstated: frozenset[str] = frozenset()
    # Where it stands in its array, by which a rule of the same output may name it.
    place: int = 0


@dataclass(frozen=True, slots=True)
class UpdatedFact:
    """A fact that takes the place of the one that the model names (PAR-06)."""

    target_id: UUID
    fact: ExtractedFact


@dataclass(frozen=True, slots=True)
class ExtractedRule:
    """A rule that the model states.

    `supported_by` names known facts by id, and facts of the same output by their place in new_facts
    (C-58). `permanence` is None where the model gives none.
    """

    content: str
    permanence: Permanence | None = None
    tags: tuple[str, ...] = ()
    scope: str | None = None
    sources: tuple[UUID, ...] = ()
    supported_by: tuple[UUID | int, ...] = ()


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two known memories that the model finds in tension (C-58)."""

    one: UUID
    other: UUID


@dataclass(frozen=True, slots=True)
class ConsolidationResult:
    """Everything usable of one output, in its order, and what was wrong with the rest (PAR-02)."""

    new_facts: tuple[ExtractedFact, ...] = ()
    updated_facts: tuple[UpdatedFact, ...] = ()
    new_rules: tuple[ExtractedRule, ...] = ()
    confirmations: tuple[UUID, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    parse_errors: tuple[str, ...] = ()
    # False: there was no JSON object at all, which is a failure to be retried (C-55).
    found_json: bool = True

    @property
    def actions(self) -> int:
        """How many things there are to do."""
        return (
            len(self.new_facts)
            + len(self.updated_facts)
            + len(self.new_rules)
            + len(self.confirmations)
            + len(self.contradictions)
        )


Entry = TypeVar("Entry")


class Refused(ValueError):
    """One entry cannot be used; the message says why."""


@dataclass(slots=True)
class _Reader:
    """Reads entries, and collects what is wrong with those that cannot be used."""

    handles: Mapping[str, UUID]
    errors: list[str] = field(default_factory=list)
    # How many new facts the objects before this one have, by which rules of it name them.
    before: int = 0
    _place: int = 0

    def entries(
        self, document: Mapping[str, Any], key: str, read: Callable[[Any], Entry]
    ) -> tuple[Entry, ...]:
        """Every usable entry of one array."""
        listed = document.get(key, [])
        if listed is None:
            return ()
        if not isinstance(listed, list):
            self.complain(f"{key}: expected an array, got {type(listed).__name__}")
            return ()
        if len(listed) > MAX_ENTRIES:
            self.complain(f"{key}: only the first {MAX_ENTRIES} of {len(listed)} entries are read")
        read_entries = []
        for place, entry in enumerate(listed[:MAX_ENTRIES]):
            self._place = self.before + place
            try:
                read_entries.append(read(entry))
            except Refused as error:
                self.complain(f"{key}[{place}]: {error}")
        return tuple(read_entries)

    def complain(self, message: str) -> None:
        self.errors.append(message[:MAX_COMPLAINT_CHARS])

    def fact(self, entry: Any) -> ExtractedFact:
        fields = fields_of(entry)
        return ExtractedFact(
            subject=_text(fields, "subject"),
            predicate=_text(fields, "predicate"),
            content=_text(fields, "content"),
            permanence=_permanence(fields.get("permanence")),
            importance=_importance(fields.get("importance")),
            tags=_tags(fields.get("tags")),
            scope=_scope(fields.get("scope")),
            sources=self.known_ids(fields.get("source_episode_ids")),
            valid_until=self.end(fields.get("valid_until"), "valid_until"),
            unstated=_unstated(fields),
            place=self._place,
        )

    def updated_fact(self, entry: Any) -> UpdatedFact:
        fields = fields_of(entry)
        return UpdatedFact(self.id(fields.get("target_id"), "target_id"), self.fact(fields))

    def rule(self, entry: Any) -> ExtractedRule:
        fields = fields_of(entry)
        return ExtractedRule(
            content=_text(fields, "content"),
            permanence=_permanence(stated) if (stated := fields.get("permanence")) else None,
            tags=_tags(fields.get("tags")),
            scope=_scope(fields.get("scope")),
            sources=self.known_ids(fields.get("source_episode_ids")),
            supported_by=self.supports(fields.get("supported_by")),
        )

    def confirmation(self, entry: Any) -> UUID:
        return self.id(entry, "a confirmation")

    def contradiction(self, entry: Any) -> Contradiction:
        ids = entry if isinstance(entry, list) else fields_of(entry).get("ids")
        if not isinstance(ids, list) or len(ids) != 2:
            raise Refused("expected two ids")
        one, other = (self.id(id, "an id") for id in ids)
        if one == other:
            raise Refused("a memory cannot contradict itself")
        return Contradiction(one, other)

    def id(self, value: Any, what: str) -> UUID:
        """A UUID, or a handle that the prompt gave out."""
        if isinstance(value, str):
            known = self.handles.get(value.strip(_AROUND_HANDLES).upper())
            if known is not None:
                return known
            try:
                return UUID(value.strip())
            except ValueError:
                pass
        raise Refused(f"{what} is not a valid UUID")

    def end(self, value: Any, what: str) -> datetime | None:
        """A moment in ISO 8601; without a zone it is UTC, a day alone lasts until it is over."""
        if not isinstance(value, str) or not value.strip():
            return None
        try:
            moment = end_of_day(value) or datetime.fromisoformat(value.strip())
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
        except ValueError:
            self.complain(f"{what}: {value!r} is not a date or time in ISO 8601; ignored")
        except OverflowError:  # models write 9999-12-31 for "no end"
            pass
        return None

    def known_ids(self, value: Any) -> tuple[UUID, ...]:
        """The ids of a list that can be read; the rest is complained of, not fatal."""
        ids: list[UUID] = []
        named = value.split(",") if isinstance(value, str) else value
        for item in named if isinstance(named, list) else []:
            try:
                ids.append(self.id(item, "a source episode"))
            except Refused as error:
                self.complain(f"source_episode_ids: {error}")
        return tuple(dict.fromkeys(ids))

    def supports(self, value: Any) -> tuple[UUID | int, ...]:
        found: list[UUID | int] = []
        for item in value if isinstance(value, list) else []:
            if isinstance(item, int) and not isinstance(item, bool):
                found.append(self.before + item)
                continue
            try:
                found.append(self.id(item, "a supporting fact"))
            except Refused as error:
                self.complain(f"supported_by: {error}")
        return tuple(dict.fromkeys(found))


def parse(output: str, handles: Mapping[str, UUID] | None = None) -> ConsolidationResult:
    """Read a model's output. `handles` are the short names that the prompt gave to known ids.

    Several objects, one for each episode or one more after a second thought, are read together.
    """
    documents = _documents(output)
    if not documents:
        return ConsolidationResult(parse_errors=(NO_JSON,), found_json=False)
    reader = _Reader(handles or {})
    new_facts: list[ExtractedFact] = []
    updated_facts: list[UpdatedFact] = []
    new_rules: list[ExtractedRule] = []
    confirmations: list[UUID] = []
    contradictions: list[Contradiction] = []
    for document in documents:
        if document and not document.keys() & set(_ARRAYS):
            reader.complain("none of the expected arrays is there: " + ", ".join(_ARRAYS))
        new_facts += reader.entries(document, "new_facts", reader.fact)
        updated_facts += reader.entries(document, "updated_facts", reader.updated_fact)
        new_rules += reader.entries(document, "new_rules", reader.rule)
        confirmations += reader.entries(document, "confirmations", reader.confirmation)
        contradictions += reader.entries(document, "contradictions", reader.contradiction)
        stated = document.get("new_facts")
        reader.before += len(stated) if isinstance(stated, list) else 0
    return ConsolidationResult(
        tuple(new_facts),
        tuple(updated_facts),
        tuple(new_rules),
        tuple(dict.fromkeys(confirmations)),
        tuple(contradictions),
        tuple(reader.errors),
    )


def subject_of(stated: str) -> str:
    """The subject, which is "user" wherever a model calls the user something else."""
    return "user" if stated.strip().casefold() in _THE_USER else stated


def find_object(output: str) -> dict[str, Any] | None:
    """The JSON object of an output: in a fence, or else the outermost balanced braces (PAR-01)."""
    return next(_objects(_candidates(output)), None)


def _documents(output: str) -> list[dict[str, Any]]:
    """The objects with the arrays that are asked for: those in fences, or else all.

    Without any of them the first object, which then is complained of; what a model only thought
    counts where it says nothing else.
    """
    said = output.rpartition(_THOUGHT)[2]
    texts = [said] if said == output else [said, output]
    for text in texts:
        for candidates in (_fenced(text), _bare(text)):
            found = [_unwrapped(one) for one in islice(_objects(candidates), _MAX_OBJECTS)]
            if answers := [one for one in found if one.keys() & set(_ARRAYS)]:
                return answers
    first = find_object(output)
    return [] if first is None else [first]


def _unwrapped(document: dict[str, Any]) -> dict[str, Any]:
    """The answer within an object with a single member, as in {"result": {"new_facts": …}}."""
    (inner,) = document.values() if len(document) == 1 else (None,)
    return inner if isinstance(inner, dict) and inner.keys() & set(_ARRAYS) else document


def _objects(candidates: Iterable[str]) -> Iterator[dict[str, Any]]:
    for candidate in candidates:
        document = _loaded(candidate)
        if isinstance(document, dict):
            yield document


def _loaded(text: str) -> Any:
    """JSON, also with line breaks in strings or a comma too many; None for anything else."""
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        pass
    try:
        return json.loads(_TRAILING_COMMA.sub(r"\1", text), strict=False)
    except (ValueError, RecursionError):
        return None


def _candidates(output: str) -> Iterator[str]:
    yield from _fenced(output)
    yield from _bare(output)


def _fenced(output: str) -> Iterator[str]:
    for fenced in _FENCE.finditer(output):
        yield fenced.group(1)


def _bare(output: str) -> Iterator[str]:
    start, unclosed = output.find("{"), 0
    while start != -1 and unclosed < _MAX_UNCLOSED:
        end = _closing_brace(output, start)
        if end is None:
            unclosed += 1
            end = start
        else:
            yield output[start : end + 1]
        start = output.find("{", end + 1)


def _closing_brace(text: str, start: int) -> int | None:
    """The brace that closes the one at `start`; braces inside JSON strings do not count."""
    depth, in_string, escaped = 0, False, False
    for place in range(start, len(text)):
        character = text[place]
        if in_string:
            if escaped:
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == '"':
                in_string = False
        elif character == '"':
            in_string = True
        elif character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
            if depth == 0:
                return place
    return None


def fields_of(entry: Any) -> dict[str, Any]:
    """An entry that has to be an object."""
    if not isinstance(entry, dict):
        raise Refused(f"expected an object, got {type(entry).__name__}")
    return entry


def object_schema(properties: Mapping[str, Any], required: Sequence[str]) -> dict[str, Any]:
    """The JSON Schema of an object with these properties alone."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


def handle_schema(handles: Sequence[str]) -> dict[str, Any]:
    """The JSON Schema of one of the handles that a prompt gave out."""
    # An empty enum is no valid schema; a string that no handle matches is refused by the parser.
    return {"type": "string", "enum": list(handles)} if handles else {"type": "string"}


def _text(fields: Mapping[str, Any], key: str) -> str:
    value = fields.get(key)
    if not isinstance(value, str) or not value.strip():
        raise Refused(f"{key} is missing or empty")
    return storable(value).strip()


def _unstated(fields: Mapping[str, Any]) -> frozenset[str]:
    """What of it is a default: 5.0 and `standard` are what was stated, too."""
    found = {
        "importance": _number(fields.get("importance")) is not None,
        "permanence": _spelt(fields.get("permanence")) in PERMANENCES,
    }
    return frozenset(name for name, stated in found.items() if not stated)


def _number(value: Any) -> float | None:
    """An importance, clamped to 1..10, also one that is written as a text: "9", "9/10"."""
    if isinstance(value, str) and (written := _NUMBER.fullmatch(value.strip())):
        value = float(written[1])
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        return None
    return float(min(10.0, max(1.0, value)))


def _spelt(value: Any) -> object:
    return value.strip().casefold() if isinstance(value, str) else value


def _permanence(value: Any) -> Permanence:
    """The permanence, or the default for an unknown one: the store is strict (PAR-04, C-30)."""
    return next((one for one in PERMANENCES if one == _spelt(value)), DEFAULT_PERMANENCE)


def _importance(value: Any) -> float:
    """The importance, clamped to 1..10; the default for what is no number (PAR-05)."""
    number = _number(value)
    return DEFAULT_IMPORTANCE if number is None else number


def _tags(value: Any) -> tuple[str, ...]:
    """As many as are kept, without those that are too long: they are not worth the statement."""
    if not isinstance(value, list):
        return ()
    found = (storable(tag).strip() for tag in value if isinstance(tag, str) and tag.strip())
    return tuple(islice((one for one in found if len(one.encode()) <= _MAX_TAG_BYTES), _MAX_TAGS))


def _scope(value: Any) -> str | None:
    return value.strip() if isinstance(value, str) and value.strip() else None
