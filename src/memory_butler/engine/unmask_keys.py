"""The key of what was masked: whoever stored it is told it, and memory keeps it nowhere (C-423).

What masking replaced is kept for an hour, encrypted under that key. So neither memory nor a backup
holds a secret that anybody could read without asking whoever stored it.
"""

import base64
import binascii
import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from memory_butler.domain.errors import Conflict, InvalidInput
from memory_butler.domain.links import Item, MemoryType
from memory_butler.domain.principals import DEFAULT_TENANT
from memory_butler.engine.screening import NOTE, New, is_masked
from memory_butler.store import masking
from memory_butler.store.episodes import NewEpisode
from memory_butler.store.facts import NewFact
from memory_butler.store.transaction import Transaction

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

KEPT_FOR: Final = timedelta(hours=1)

# By it an agent's account of what was masked is found to hold a key (`domain/secret_shapes.py`).
_PREFIX: Final = "unmask_"
_BYTES: Final = 16
_NONCE_BYTES: Final = 12


@dataclass(frozen=True, slots=True)
class Words:
    """What masking changed in a memory: each field as it was `given` and as it is `masked`.

    Of the metadata it is the members that changed. `in_place`: a memory that was there already was
    written over, and is to be written over again; else a fact is replaced by another.
    """

    given: Mapping[str, Any] = field(repr=False)
    masked: Mapping[str, Any]
    in_place: bool = False


@dataclass(slots=True)
class UnmaskKey:
    """A new key, unless it is made of a text; `used`: whether anything is kept under it."""

    secret: bytes = field(default_factory=lambda: os.urandom(_BYTES), repr=False)
    used: bool = field(default=False, init=False)

    @classmethod
    def of(cls, text: str) -> "UnmaskKey":
        """The key that a text is, in whatever case.

        Raises:
            InvalidInput: it is none.
        """
        try:
            code = text.strip().lower().removeprefix(_PREFIX)
            secret = base64.b32decode(f"{code.upper()}======")
        except (binascii.Error, ValueError):
            secret = b""
        if len(secret) != _BYTES:
            raise InvalidInput(
                f"this is not an unmask key: it is {_PREFIX} and 26 letters and digits, as in the "
                "answer that said what was masked"
            )
        return cls(secret)

    @property
    def text(self) -> str:
        """As people copy it."""
        return _PREFIX + base64.b32encode(self.secret).decode().rstrip("=").lower()

    @property
    def told(self) -> str | None:
        """The key for whoever stored something under it; None where nothing is kept."""
        return self.text if self.used else None

    def command(self, tenant: str) -> str | None:
        """What restores it for this tenant; None where nothing is kept."""
        if not self.used:
            return None
        of_tenant = "" if tenant == DEFAULT_TENANT else f" --tenant {tenant}"
        return f"memory-butler unmask {self.text}{of_tenant}"

    @property
    def id(self) -> bytes:
        """Names the key, and tells nothing of it."""
        return self._derived(b"unmask id")

    async def keep_new(self, tx: Transaction, given: New, clean: New, now: datetime) -> None:
        """Keep what was masked in a new memory, if anything was; in its transaction."""
        if is_masked(clean.metadata):
            words = compared(_said(given), _said(clean))
            await self.keep(tx, (_kind(clean), clean.id), words, now)

    async def keep(self, tx: Transaction, item: Item, words: Words, now: datetime) -> None:
        """Keep what was masked in a memory, in the transaction that writes it."""
        if words.given:
            sealed = self._sealed(words, _context(tx.tenant, item))
            await masking.keep(tx, self.id, item, sealed, now, now + KEPT_FOR)
            self.used = True

    def words(self, tenant: str, item: Item, sealed: bytes) -> Words:
        """What `keep` was given.

        Raises:
            Conflict: it is not what was written.
        """
        from cryptography.exceptions import InvalidTag

        nonce, text = sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:]
        try:
            return Words(**json.loads(self._cipher().decrypt(nonce, text, _context(tenant, item))))
        except (InvalidTag, ValueError):
            raise Conflict("what was masked was changed in the database: it is lost") from None

    def _sealed(self, words: Words, context: bytes) -> bytes:
        said = {"given": words.given, "masked": words.masked, "in_place": words.in_place}
        nonce = os.urandom(_NONCE_BYTES)
        return nonce + self._cipher().encrypt(nonce, json.dumps(said).encode(), context)

    def _cipher(self) -> "AESGCM":
        # Imported where something is masked: whatever stores a memory imports this file.
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        return AESGCM(self._derived(b"unmask key"))

    def _derived(self, purpose: bytes) -> bytes:
        return hashlib.blake2b(self.secret, digest_size=32, person=purpose).digest()


def compared(
    given: Mapping[str, Any], masked: Mapping[str, Any], *, in_place: bool = False
) -> Words:
    """The fields in which two states of a memory differ, and of the metadata the members."""
    before = {name: one for name, one in given.items() if one != masked.get(name, one)}
    after = {name: masked[name] for name in before}
    if "metadata" in before:
        members = {
            name: one
            for name, one in before["metadata"].items()
            if name != NOTE and after["metadata"].get(name, one) != one
        }
        before["metadata"] = members
        after["metadata"] = {name: after["metadata"][name] for name in members}
        if not members:
            del before["metadata"], after["metadata"]
    return Words(before, after, in_place)


def _said(new: New) -> dict[str, Any]:
    names = ("subject", "predicate", "content", "tags", "metadata")
    return {name: getattr(new, name) for name in names if hasattr(new, name)}


def _kind(new: New) -> MemoryType:
    if isinstance(new, NewEpisode):
        return "episode"
    return "fact" if isinstance(new, NewFact) else "rule"


def _context(tenant: str, item: Item) -> bytes:
    kind, id = item
    return f"{tenant} {kind} {id}".encode()
