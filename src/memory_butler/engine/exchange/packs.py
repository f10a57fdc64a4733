"""What travels between installations: statements in JSON, signed with a key of the tenant's own.

Two kinds. A `state` tells digests of the 256 parts of the facts and rules, so that only parts that
differ are asked for, and the ids of what is gone for good. `facts` are some of these parts' facts,
or rules, of whatever state. docs/sync.md has the format.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from memory_butler.domain.entities import SYSTEM_METADATA_KEYS
from memory_butler.domain.errors import ConfigurationError, InvalidInput
from memory_butler.domain.exchange import State, changed_since, mark_of
from memory_butler.domain.facts import VALIDITIES, Validity
from memory_butler.domain.trust import Trust, parse_trust
from memory_butler.engine.edits import MARKS
from memory_butler.engine.inputs import metadata
from memory_butler.engine.memory import Memory
from memory_butler.store.rows import Row

FORMAT: Final = 1
PARTS: Final = 256
# A page ends with the fact or rule that passes this; the door takes 8 MB.
PACK_BYTES: Final = 2_000_000
PACK_FACTS: Final = 2_000


@dataclass(frozen=True, slots=True)
class Signed:
    """A statement, to the letter, and its signature as hexadecimal digits."""

    statement: str
    signature: str


@dataclass(frozen=True, slots=True)
class Sent:
    """A fact as another installation has it; `made`: when it was stored first, wherever."""

    id: UUID
    made: datetime
    state: State
    trust: Trust
    supersedes: UUID | None
    waiting: Mapping[str, Any] | None
    entity: Mapping[str, Any] | None
    confidence: float
    says: Mapping[str, Any]

    @property
    def scope(self) -> object:
        """Its scope, as it is said."""
        return self.says["scope"]


def own_key(memory: Memory, tenant: str) -> str:
    """The public key by which others know this tenant of this installation.

    Raises:
        ConfigurationError: the memory has no keys.
    """
    raw: bytes = _signer(memory, tenant).public_key().public_bytes_raw()
    return raw.hex()


def signed(memory: Memory, tenant: str, said: Mapping[str, Any]) -> Signed:
    """A statement of this installation."""
    signer = _signer(memory, tenant)
    key = signer.public_key().public_bytes_raw().hex()
    text = json.dumps({"format": FORMAT, "key": key, **said}, ensure_ascii=False, sort_keys=True)
    return Signed(text, signer.sign(text.encode()).hex())


def opened(given: Signed, check: Callable[[str], object] = str) -> dict[str, Any]:
    """What a statement says, once `check` has let its `key` pass and its signature holds.

    Raises:
        InvalidInput: it is no statement of a format that is known here, or was changed.
    """
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        said = json.loads(given.statement)
        number, key = said["format"], bytes.fromhex(said["key"])
        if number != FORMAT:
            raise InvalidInput(f"it has format {number}, this version reads {FORMAT}")
        check(said["key"])
        Ed25519PublicKey.from_public_bytes(key).verify(
            bytes.fromhex(given.signature), given.statement.encode()
        )
    except InvalidSignature:
        raise InvalidInput("its signature does not hold: it was changed on the way") from None
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput("it is no statement of an exchange") from error
    found: dict[str, Any] = said
    return found


def as_sent(row: Row, *, with_entity: bool) -> dict[str, Any]:
    """A fact of the store as a statement has it; `with_entity`: and what it is about."""
    noted = row["metadata"]
    mark = mark_of(noted)
    supersedes = row["supersedes_id"] or (mark or {}).get("supersedes")
    entity = None
    if with_entity and row["canonical_name"] is not None:
        entity = {name: row[name] for name in ("canonical_name", "entity_type", "aliases")}
        noted_of = row["entity_metadata"] or {}
        entity["metadata"] = {
            name: value for name, value in noted_of.items() if name not in SYSTEM_METADATA_KEYS
        }
    return {
        "id": str(row["id"]),
        "made": row["made"].isoformat(),
        "state": row["validity"],
        "since": changed_since(row["known_since"], row["created_at"], mark).isoformat(),
        "confirmed": text_of(row["last_confirmed_at"]),
        "supersedes": None if supersedes is None else str(supersedes),
        "waiting": noted.get("waiting") if row["validity"] == "waiting" else None,
        "subject": row["subject"],
        "predicate": row["predicate"],
        "content": row["content"],
        "scope": row["scope"],
        "importance": row["importance"],
        "confidence": row["confidence"],
        "permanence": row["permanence"],
        "source_butler": row["source_butler"],
        "valid_from": row["valid_from"].isoformat(),
        "valid_until": text_of(row["valid_until"]),
        "tags": row["tags"],
        "metadata": {name: value for name, value in noted.items() if name not in MARKS},
        "trust": Trust(row["trust"]).label,
        "entity": entity,
    }


def read_fact(given: Any, most: Trust) -> Sent:
    """A fact out of a statement, trusted as `most` at most; what it says is not checked yet.

    Raises:
        InvalidInput: it is none.
    """
    try:
        until = moment(given["valid_until"])
        state = State(
            _validity(given["state"]), sure(given["since"]), until, moment(given["confirmed"])
        )
        says = {
            name: given[name]
            for name in (
                "subject",
                "predicate",
                "content",
                "scope",
                "importance",
                "permanence",
                "source_butler",
                "tags",
            )
        }
        # What these mean is for each installation to find out.
        own = {name: one for name, one in given["metadata"].items() if name not in MARKS}
        begin = sure(given["valid_from"])
        if until is not None and until <= begin:
            raise InvalidInput("a fact in it ends before it begins")
        return Sent(
            UUID(given["id"]),
            sure(given["made"]),
            state,
            min(parse_trust(given["trust"]), most),
            None if given["supersedes"] is None else UUID(given["supersedes"]),
            None if given["waiting"] is None else _waiting(given["waiting"]),
            None if given["entity"] is None else dict(given["entity"]),
            min(1.0, max(0.0, float(given["confidence"]))),
            says | {"metadata": own, "valid_from": begin},
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidInput(f"a fact in it is damaged ({type(error).__name__})") from error


def _validity(given: str) -> Validity:
    (found,) = [one for one in VALIDITIES if one == given]
    return found


def _waiting(given: Any) -> dict[str, Any]:
    clean = metadata(dict(given))
    if clean.get("target") is not None:
        UUID(clean["target"])
    return clean


def sure(given: str) -> datetime:
    """A date or time of a statement; a ValueError where it has no zone."""
    found = datetime.fromisoformat(given)
    if found.tzinfo is None:
        raise ValueError("a date or time without a zone")
    return found


def moment(given: str | None) -> datetime | None:
    """The same, where there may be none."""
    return None if given is None else sure(given)


def text_of(given: datetime | None) -> str | None:
    """A date or time as a statement has it."""
    return None if given is None else given.isoformat()


def _signer(memory: Memory, tenant: str) -> Any:
    if memory.audit is None:
        raise ConfigurationError(
            "this installation has no keys to sign with; set audit_dir to a folder that can be "
            "written, such as /var/lib/memory-butler/audit"
        )
    return memory.audit.exchange(tenant)
