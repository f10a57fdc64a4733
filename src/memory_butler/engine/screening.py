"""What is about to be stored, without its secrets and without what nobody sees (C-145).

Whatever enters memory passes here, before it is embedded or written. What was found is noted in the
memory's metadata under `secrets`, by kind and count; what was masked is kept for an hour, encrypted
under a key that is told to whoever stored it (`unmask_keys`).
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar

from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.invisible import visible
from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.store.episodes import NewEpisode
from memory_butler.store.facts import NewFact
from memory_butler.store.masking import Said
from memory_butler.store.rows import Row
from memory_butler.store.rules import NewRule
from memory_butler.trust_config import TrustConfig

# Where a memory's metadata tells what was found in it.
NOTE: Final = "secrets"
# For a model, which would otherwise take it for an error and mend it.
KEEP_IT: Final = "If the user wants it stored as it was, repeat the call with allow_secrets: true."
# Where it was stored before: the same id is not stored again.
STAYS: Final = (
    "It is stored already, and stays masked. Within an hour of that, `memory-butler unmask` and "
    "the key of the first answer restore it."
)

New = TypeVar("New", bound=NewEpisode | NewFact | NewRule)
Made = TypeVar("Made")
# A longer text is searched for secrets in a thread: 60,000 characters take tens of milliseconds, in
# which others want to be served.
_LONG: Final = 8_000


@dataclass(slots=True)
class Sieve:
    """Masks texts one after the other, and counts what it finds.

    `mask`: whether what is found is replaced, or only counted. A household's own codes, bank
    accounts and identity numbers are never replaced.
    """

    mask: bool
    secrets: Counter[str] = field(default_factory=Counter)
    private: Counter[str] = field(default_factory=Counter)
    invisible: int = 0

    def text(self, given: str, said_before: str = "") -> str:
        """A text as it is to be stored; `said_before` is what its reader has read by then."""
        # Imported here: its patterns are many, and whoever only reads needs none of them.
        from memory_butler.domain.secrets import Found, find, masked

        clean, dropped = visible(given)
        self.invisible += dropped
        head = len(said_before)
        found = [
            Found(max(0, one.start - head), one.end - head, one.kind, one.level)
            for one in find(said_before + clean)
            if one.end > head
        ]
        secrets = [one for one in found if one.level == "mask"]
        self.secrets.update(one.kind for one in secrets)
        self.private.update(one.kind for one in found if one.level == "mark")
        return masked(clean, secrets) if self.mask else clean

    def json(self, value: Any, key: str = "") -> Any:
        """A JSON value with its texts as they are to be stored."""
        if isinstance(value, str):
            return self.text(value, f"{key}: " if key else "")
        if isinstance(value, Mapping):
            return {name: self.json(one, str(name)) for name, one in value.items()}
        return [self.json(one, key) for one in value] if isinstance(value, list) else value

    @property
    def note(self) -> dict[str, Any]:
        """What was found, for the metadata; empty where nothing was."""
        kept = self.private if self.mask else self.secrets + self.private
        parts: dict[str, Any] = {"kept": dict(kept), "invisible": self.invisible}
        if self.mask:
            parts = {"masked": dict(self.secrets), **parts}
        return {name: one for name, one in parts.items() if one}

    def refuse(self) -> None:
        """Refuse what holds a secret.

        Raises:
            InvalidInput: it names the kinds, and says what to do instead.
        """
        if self.secrets:
            raise InvalidInput(
                f"this looks like it holds {listed(self.secrets)}; memory refuses secrets, and "
                "nothing was stored: leave it out, and say where it is kept instead"
            )


def screened(memory: Memory, principal: Principal, new: New, *, allow_secrets: bool = False) -> New:
    """A new memory as this tenant's setting has it: masked, marked, or as it is.

    Raises:
        InvalidInput: it holds a secret, and secrets are refused.
    """
    mode = memory.config.trust.of(principal.tenant)
    if mode == "off":
        return new
    sieve = Sieve(mask=mode == "mask" and not allow_secrets)
    found = _through(sieve, new)
    if mode == "refuse":
        sieve.refuse()
    if sieve.note:
        found = replace(found, metadata=found.metadata | {NOTE: sieve.note})
    return found


async def apart(screen: Callable[[], Made], text: str) -> Made:
    """What `screen` makes of a text, in a thread where the text is long."""
    return await asyncio.to_thread(screen) if len(text) > _LONG else screen()


def screened_text(
    trust: TrustConfig,
    principal: Principal,
    text: str,
    *,
    allow_secrets: bool = False,
    keep_it: str = KEEP_IT,
) -> tuple[str, str | None]:
    """A text that is no memory, such as a reason, and what was found in it (see `told`).

    Raises:
        InvalidInput: it holds a secret, and secrets are refused.
    """
    mode = trust.of(principal.tenant)
    if mode == "off":
        return text, None
    sieve = Sieve(mask=mode == "mask" and not allow_secrets)
    clean = sieve.text(text)
    if mode == "refuse":
        sieve.refuse()
    return clean, told({NOTE: sieve.note}, keep_it)


def joined(earlier: Mapping[str, Any], later: Mapping[str, Any]) -> dict[str, Any]:
    """The note of a text that was stored in parts: what was found before, and what since."""
    parts = {**earlier, **later}
    for name in earlier.keys() & later.keys():
        both = earlier[name], later[name]
        counts = all(isinstance(one, Mapping) for one in both)
        parts[name] = dict(Counter(both[0]) + Counter(both[1])) if counts else sum(both)
    return parts


def told(
    metadata: Mapping[str, Any], keep_it: str = KEEP_IT, *, unmask: str | None = None
) -> str | None:
    """What was found in a memory, for whoever stored it; None where nothing was.

    `metadata` is that of the memory; `keep_it` says how to store what was masked, and `unmask` is
    the command that restores it.
    """
    note = metadata.get(NOTE)
    if not isinstance(note, Mapping):
        return None
    said = []
    if note.get("masked"):
        said.append(f"Masked before it was stored: {listed(note['masked'])}. {keep_it}".rstrip())
        if unmask is not None:
            said.append(f"For an hour, `{unmask}` restores it, or this key on the dashboard.")
    if note.get("kept"):
        said.append(f"Stored as it is, and marked: {listed(note['kept'])}.")
    if note.get("invisible"):
        said.append(f"Dropped invisible characters: {note['invisible']}.")
    return " ".join(said) or None


def sieved(sieve: Sieve, row: Row, before: str) -> Said:
    """What a stored memory says, through a sieve; a fact says `before` before its content."""
    return Said(
        sieve.text(row["content"], before),
        sieve.json({name: one for name, one in row["metadata"].items() if name != NOTE}),
        [sieve.text(one) for one in row.get("tags") or ()],
    )


def is_masked(metadata: Mapping[str, Any]) -> bool:
    """Whether a secret in a memory was masked; `metadata` is that of the memory."""
    note = metadata.get(NOTE)
    return isinstance(note, Mapping) and bool(note.get("masked"))


def listed(kinds: Mapping[str, int]) -> str:
    """Kinds of secrets and how many: "2 × password, 1 × GitHub token"."""
    return ", ".join(f"{count} × {kind}" for kind, count in sorted(kinds.items()))


def _through(sieve: Sieve, new: New) -> New:
    metadata = sieve.json({name: one for name, one in new.metadata.items() if name != NOTE})
    if isinstance(new, NewEpisode):
        return replace(new, content=sieve.text(new.content), metadata=metadata)
    tags = [sieve.text(one) for one in new.tags]
    if isinstance(new, NewRule):
        return replace(new, content=sieve.text(new.content), tags=tags, metadata=metadata)
    subject, predicate = sieve.text(new.subject), sieve.text(new.predicate)
    content = sieve.text(new.content, said_of(subject, predicate))
    return replace(
        new, subject=subject, predicate=predicate, content=content, tags=tags, metadata=metadata
    )


def said_of(subject: str, predicate: str) -> str:
    """What a fact says before its content: a password may be announced by the predicate alone."""
    return f"{subject} {predicate.replace('_', ' ')}: "
