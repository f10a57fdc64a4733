"""The format of an import: JSON Lines, an object a line, its kind first (docs/cli.md).

The keys are those of the functions that store one memory; an export writes the same format.
"""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Annotated, Any, BinaryIO, Final, Literal
from uuid import UUID, uuid5

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

from memory_butler.domain.entities import EntityType
from memory_butler.domain.links import MemoryType, Relation
from memory_butler.domain.permanence import Permanence
from memory_butler.domain.trust import TrustName
from memory_butler.engine.complaints import complaints
from memory_butler.engine.inputs import whole_day

# Four times the largest content, because JSON may write a character as six.
MAX_LINE_BYTES: Final = 32 * 1024 * 1024
# A file whose first lines are none of ours is not ours.
_LOOKED_AT: Final = 20

# Any UUID would do, and it must never change: the ids of all imported memories follow from it.
_NAMESPACE: Final = UUID("7d1c0b5e-3f0a-4c53-9b53-0f6f6a0f4c11")

OwnId = Annotated[str | None, Field(None, min_length=1, coerce_numbers_to_str=True)]
_REFERENCE = "the `id` of an earlier line, or an id in the store"


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    id: OwnId = Field(
        None,
        description="The file's own name for it, by which later lines refer to it; any text.",
    )

    def parameters(self) -> dict[str, Any]:
        """What was given, as keywords of the function that makes it."""
        return self.model_dump(exclude={"kind", "id"}, exclude_unset=True)


class _MemoryLine(_Line):
    trust: TrustName = Field(
        "imported",
        description="How far what it says is to be believed; no further than `--trust`.",
    )

    def parameters(self) -> dict[str, Any]:
        return super().parameters() | {"trust": self.trust}


class EpisodeLine(_MemoryLine):
    """What happened."""

    kind: Literal["episode"]
    content: str = Field(description="What happened.")
    butler: str = Field(description="The agent in whose session it happened.")
    session_id: UUID | None = Field(None, description="The session, a UUID.")
    importance: float = Field(5.0, description="1 (trivial) to 10 (life-changing).")
    occurred_at: datetime | None = Field(None, description="When; now when left out.")
    speaker: str | None = Field(None, description="Who said it.")
    turn: int | None = Field(None, description="Its place in the session, counted from 0.")
    metadata: dict[str, Any] | None = Field(None, description="Anything else.")


class FactLine(_MemoryLine):
    """What is true; a later line of the same subject, predicate and scope supersedes it, or is
    kept as a former fact where both say since when and it began before. Of a kind of which there
    are several, such as allergies, children or medication, each line holds that says another."""

    kind: Literal["fact"]
    subject: str = Field(description="Who or what it is about.")
    predicate: str = Field(description="Which property.")
    content: str = Field(description="The value, readable by itself.")
    importance: float = Field(5.0, description="1 (trivial) to 10 (vital).")
    permanence: Permanence = Field("standard", description="How long it holds unconfirmed.")
    scope: str = Field("global", description="global, or the one butler that it is for.")
    tags: list[str] | None = Field(None, description="Words to find facts by.")
    entity_id: OwnId = Field(None, description=f"The entity that it is about: {_REFERENCE}.")
    valid_from: datetime | None = Field(None, description="Since when it is true; now if left out.")
    valid_until: Annotated[datetime, BeforeValidator(whole_day)] | None = Field(
        None, description="Until when; a date: all that day."
    )
    source_butler: str | None = Field(None, description="The butler that learned it.")
    source_episode_id: OwnId = Field(None, description=f"Where it is from: {_REFERENCE}.")
    metadata: dict[str, Any] | None = Field(None, description="Anything else.")


class RuleLine(_MemoryLine):
    """How to behave; every rule starts as a candidate."""

    kind: Literal["rule"]
    content: str = Field(description="What to do and when.")
    scope: str = Field("global", description="global, or the one butler that it is for.")
    tags: list[str] | None = Field(None, description="Words to find rules by.")
    permanence: Permanence | None = Field(None, description="How long it holds unconfirmed.")
    source_butler: str | None = Field(None, description="The butler that learned it.")
    source_episode_id: OwnId = Field(None, description=f"Where it is from: {_REFERENCE}.")
    metadata: dict[str, Any] | None = Field(None, description="Anything else.")


class EntityLine(_Line):
    """A person, organisation or place; one of the same name and type is used if there is one."""

    kind: Literal["entity"]
    canonical_name: str = Field(description="The full, usual name.")
    entity_type: EntityType = Field(description="What it is.")
    aliases: list[str] | None = Field(None, description="Other names for it.")
    metadata: dict[str, Any] | None = Field(None, description="Anything else.")


class LinkLine(_Line):
    """How two memories belong together."""

    kind: Literal["link"]
    source_type: MemoryType = Field(description="From what.")
    source_id: str = Field(description=f"From which: {_REFERENCE}.", coerce_numbers_to_str=True)
    target_type: MemoryType = Field(description="To what.")
    target_id: str = Field(description=f"To which: {_REFERENCE}.", coerce_numbers_to_str=True)
    relation: Relation = Field(description="What the source is to the target.")


AnyLine = EpisodeLine | FactLine | RuleLine | EntityLine | LinkLine
LINES: Final[tuple[type[AnyLine], ...]] = (EpisodeLine, FactLine, RuleLine, EntityLine, LinkLine)

_PARSER: TypeAdapter[AnyLine] = TypeAdapter(Annotated[AnyLine, Field(discriminator="kind")])


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that was left out, counted from 1; `file` where there are several."""

    number: int
    reason: str
    file: str = ""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What an export has and no memory is made of: told, and no fault.

    Attributes:
        what: its kind in the singular, such as "attachment".
    """

    what: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something to be stored, or what is wrong with it, or what is left out.

    Attributes:
        number: the line that it stands on, counted from 1.
        id: of the memory that it becomes; the same in every run.
        reached: how much of the source is read with it, in the source's own unit.
    """

    number: int
    id: UUID
    line: "AnyLine | BadLine | LeftOut"
    reached: int
    file: str = ""


def memory_id(tenant: str, key: str) -> UUID:
    """The id of what a source names `key`: the same in every run, another in every tenant."""
    # A source may lie in a file whose name is no UTF-8.
    return uuid5(_NAMESPACE, f"{tenant}/{key}".encode("utf-8", "backslashreplace").decode())


def read_lines(file: BinaryIO, tenant: str) -> Iterator[Candidate]:
    """The lines that are not blank, each with the id that its memory gets.

    The id follows from the tenant, the line's bytes, and how many equal lines stand before it. So
    the same line gets the same id in every run, whatever was added, corrected or removed elsewhere
    in the file, and two equal lines of one file stay two.
    """
    seen: Counter[bytes] = Counter()
    number = 0
    while line := file.readline(MAX_LINE_BYTES + 1):
        number += 1
        digest = sha256(line.strip())
        too_long = len(line) > MAX_LINE_BYTES
        while len(line) > MAX_LINE_BYTES and not line.endswith(b"\n"):
            line = file.readline(MAX_LINE_BYTES + 1)
            digest.update(line)
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")  # a byte order mark
        if not line.strip() and not too_long:
            continue
        key = digest.digest()
        id = memory_id(tenant, f"{key.hex()}/{seen[key]}")
        seen[key] += 1
        yield Candidate(number, id, _parse(number, None if too_long else line), number)


def begins_as_ours(file: BinaryIO) -> bool:
    """Whether one of the first lines is of this format; the file is at its beginning again."""
    is_ours = False
    for _ in range(_LOOKED_AT):
        line = file.readline(MAX_LINE_BYTES)
        try:
            found = json.loads(line.removeprefix(b"\xef\xbb\xbf"))
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict) and "kind" in found:
            is_ours = True
            break
    file.seek(0)
    return is_ours


def _parse(number: int, data: bytes | None) -> AnyLine | BadLine:
    """The line as one of the kinds, or what is wrong with it; None is one that is too long."""
    if data is None:
        return BadLine(number, f"it is longer than {MAX_LINE_BYTES:,} bytes")
    try:
        return _PARSER.validate_json(data)
    except ValidationError as error:
        try:
            data.decode()
        except UnicodeDecodeError:
            return BadLine(number, "it is not UTF-8: save the file as UTF-8")
        return BadLine(number, complaints(error, "the line", below=1))
