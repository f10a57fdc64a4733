"""Rules on their way: each has a text and a state, and of either the later one holds.

A rule that comes is a candidate here, whatever it was there: maturity and marks are each side's
own, and so no rule of others stands in a file of instructions before it has proven itself here.
A text that gives way to one that did not know of it stays, as a rule that is switched off.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final
from uuid import UUID, uuid5

from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.events import EventType
from memory_butler.domain.exchange import (
    MARK,
    RuleText,
    State,
    changed_since,
    is_kept_beside,
    is_newer,
    mark_of,
    text_is_later,
    went_with,
)
from memory_butler.domain.facts import Validity
from memory_butler.domain.permanence import RULE_DECAY_RATE
from memory_butler.domain.principals import Principal
from memory_butler.domain.trust import Trust, outranks, parse_trust
from memory_butler.engine import writing
from memory_butler.engine.edits import MARKS, life_of_edited, of_another_text
from memory_butler.engine.exchange.packs import moment, sure, text_of
from memory_butler.engine.exchange.peers import Peer
from memory_butler.engine.exchange.taken import Taken
from memory_butler.engine.indexing import indexed_text, shortened
from memory_butler.engine.memory import Memory
from memory_butler.engine.screening import apart, is_masked, screened
from memory_butler.store import events, rules, versions
from memory_butler.store import exchange as store
from memory_butler.store.embeddings import Embedded
from memory_butler.store.rows import Row
from memory_butler.store.rules import NewRule
from memory_butler.store.transaction import Transaction

_STATES: Final[tuple[Validity, ...]] = ("active", "waiting", "expired", "retracted")
_MARKS: Final[dict[Validity, dict[str, bool]]] = {
    "active": {},
    "waiting": {"disabled": True},
    "expired": {"forgotten": True, "swept": True},
    "retracted": {"forgotten": True},
}
_OF_STATE: Final = ("disabled", "forgotten", "swept", "status")
# What is noted of a rule's state and use here.
_OF_USE: Final = frozenset({*MARKS, *_OF_STATE, "harmful_reasons", "original_content"})
_EVENTS: Final[dict[Validity, EventType]] = {
    "active": "memory_restored",
    "waiting": "rule_disabled",
    "expired": "rule_forgotten",
    "retracted": "rule_forgotten",
}
_DIGEST: Final = re.compile("[0-9a-f]{64}")
# Of a rule with more, some edits look as if they had not known of each other.
_MOST_FORMER: Final = 1_000


@dataclass(frozen=True, slots=True)
class SentRule:
    """A rule as another installation has it.

    `made`: when it was stored first, wherever. `former`: digests of the texts that it had.
    """

    id: UUID
    made: datetime
    text: RuleText
    state: State
    permanence: str | None
    source_butler: str | None
    former: frozenset[str]
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def scope(self) -> object:
        """Its scope, as it is said."""
        return self.text.scope


def as_sent(row: Row) -> dict[str, Any]:
    """A rule of the store as a statement has it."""
    text, state = _text(row), _state(row)
    noted = mark_of(row["metadata"]) or {}
    return {
        "id": str(row["id"]),
        "made": noted.get("made") or row["created_at"].isoformat(),
        "content": text.content,
        "scope": text.scope,
        "tags": list(text.tags),
        "warning": text.warning,
        "written": text.since.isoformat(),
        "former": sorted({*row["former"], *_noted_former(row)})[:_MOST_FORMER],
        "state": state.validity,
        "since": state.since.isoformat(),
        "confirmed": text_of(state.confirmed),
        "permanence": None if row["decay_rate"] == RULE_DECAY_RATE else row["permanence"],
        "source_butler": row["source_butler"],
        "metadata": _own(row["metadata"]),
        "trust": text.trust.label,
    }


def read_rule(given: Any, most: Trust) -> SentRule:
    """A rule out of a statement, trusted as `most` at most; what it says is not checked yet.

    Raises:
        InvalidInput: it is none.
    """
    try:
        (validity,) = [one for one in _STATES if one == given["state"]]
        former = frozenset(given["former"])
        if len(former) > _MOST_FORMER or not all(map(_DIGEST.fullmatch, former)):
            raise InvalidInput("a rule in it has a former text that is no digest")
        tags = given["tags"]
        if not isinstance(tags, list):
            raise InvalidInput("a rule in it has tags that are no list")
        text = RuleText(
            given["content"],
            given["scope"],
            tuple(tags),
            bool(given["warning"]),
            min(parse_trust(given["trust"]), most),
            sure(given["written"]),
        )
        return SentRule(
            UUID(given["id"]),
            sure(given["made"]),
            text,
            State(validity, sure(given["since"]), None, moment(given["confirmed"])),
            given["permanence"],
            given["source_butler"],
            former,
            _own(given.get("metadata") or {}),  # an older version sends none
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidInput(f"a rule in it is damaged ({type(error).__name__})") from error


async def made(
    memory: Memory, principal: Principal, peer: Peer, sent: SentRule
) -> tuple[SentRule, NewRule] | None:
    """What is sent as this installation would store it, screened; None: it cannot be stored."""
    try:
        checked = writing.new_rule(
            memory,
            sent.text.content,
            id=sent.id,
            scope=sent.text.scope,
            tags=list(sent.text.tags),
            permanence=sent.permanence,
            source_butler=sent.source_butler,
            metadata=dict(sent.metadata),
            trust=sent.text.trust.label,
        )
        clean = await apart(partial(screened, memory, principal, checked), checked.content)
    except (ValueError, TypeError, AttributeError):
        return None
    text = replace(sent.text, content=clean.content, scope=clean.scope, tags=tuple(clean.tags))
    mark = {"from": peer.key, "made": sent.made.isoformat()}
    return replace(sent, text=text), replace(clean, metadata=clean.metadata | {MARK: mark})


class RuleBatch:
    """Rules that are taken in one transaction."""

    def __init__(self, memory: Memory, principal: Principal, peer: Peer) -> None:
        self.done = Taken()
        self._principal = principal
        self._peer = peer
        self._happened: list[events.Event] = []
        self._now = memory.clock()
        self._away: set[UUID] = set()

    async def write(self, tx: Transaction, wanted: Sequence[tuple[SentRule, NewRule]]) -> None:
        """Merge each with what is here; the tenant's other exchanges and erasures wait."""
        self._away = set(await store.taken_away(tx))
        emptied = await store.emptied(tx)
        there = await store.rules_there(tx, [sent.id for sent, _ in wanted])
        later = (row["touched"] + timedelta(microseconds=1) for row in there.values())
        # No state was known later than the one that takes its place.
        self._now = max([self._now, *later])
        for sent, new in wanted:
            row = there.get(sent.id)
            if row is not None:
                await self._merge(tx, sent, new, row)
            elif sent.id in self._away or went_with(emptied, sent.made):
                self.done.refused += 1
            else:
                await self._insert(tx, sent, new)
        await events.record(tx, self._principal.actor, self._happened, self._now)

    async def _merge(self, tx: Transaction, sent: SentRule, new: NewRule, row: Row) -> None:
        noted = mark_of(row["metadata"]) or {}
        if noted.get("gone", self._peer.key) != self._peer.key:
            return  # of what it took away, only the same installation has a later word
        text, state = _text(row), _state(row)
        wanted, trust = sent.text, text.trust
        takes_text = text_is_later(wanted, text)
        newer = is_newer(sent.state, state)
        if outranks(text.trust, wanted.trust):
            self.done.kept += newer or wanted.says != text.says
            return
        if outranks(wanted.trust, text.trust) and noted:
            # Whoever is believed more decides what one who is believed less had brought.
            brought = row["known_since"] == datetime.fromisoformat(noted["at"])
            newer = newer or (brought and sent.state.validity != state.validity)
        if takes_text or wanted.says == text.says:
            trust = wanted.trust if takes_text else max(trust, wanted.trust)
        confirmed = max(
            (one for one in (state.confirmed, sent.state.confirmed) if one is not None),
            default=None,
        )
        if not (takes_text or newer or trust != text.trust or confirmed != state.confirmed):
            return
        if takes_text and is_kept_beside(text, wanted, sent.former) and not _came_masked(row):
            await self._keep_beside(tx, row, text)
        await versions.keep_text(tx, row["id"], self._now)
        metadata = dict(row["metadata"])
        if takes_text:
            metadata = await self._write_text(tx, sent, new, row)
        if newer:
            metadata = {name: one for name, one in metadata.items() if name not in _OF_STATE}
            metadata |= _MARKS[sent.state.validity]
            known = {name: one for name, one in _noted(metadata).items() if name != "gone"}
            metadata[MARK] = known | self._at(sent.state.since)
            self._tell(_EVENTS[sent.state.validity], row["id"])
        elif confirmed != state.confirmed:
            metadata.pop("status", None)
            self._tell("memory_confirmed", row["id"])
        warning = takes_text and wanted.warning
        await store.set_rule(tx, row["id"], confirmed, metadata, trust, warning=warning)
        self.done.changed += takes_text or newer or confirmed != state.confirmed

    async def _write_text(
        self, tx: Transaction, sent: SentRule, new: NewRule, row: Row
    ) -> dict[str, Any]:
        """Write another text, and return the metadata that goes with it."""
        metadata = of_another_text(row)
        metadata |= {name: one for name, one in row["metadata"].items() if name in _OF_STATE}
        metadata.pop("status", None)
        metadata |= {name: one for name, one in new.metadata.items() if name != MARK}
        former = sorted({*_noted_former(row), *sent.former})[:_MOST_FORMER]
        mark = {"text": self._at(sent.text.since), "former": former}
        metadata[MARK] = _noted(row["metadata"]) | mark
        words = await indexed_text(new)

        async def write(fitting: Embedded) -> None:
            async with tx.connection.transaction():
                await rules.edit(
                    tx,
                    row["id"],
                    new.content,
                    fitting,
                    scope=new.scope,
                    tags=new.tags,
                    metadata=metadata,
                    trust=sent.text.trust,
                    **life_of_edited(row, sent.text.trust),
                    now=self._now,
                )

        await shortened(Embedded.later(words), write)
        self._tell("rule_inverted" if sent.text.warning else "rule_edited", row["id"])
        return metadata

    async def _keep_beside(self, tx: Transaction, row: Row, text: RuleText) -> None:
        """Keep a text that gives way under an id that follows from it, wherever that happens."""
        id = uuid5(row["id"], text.words)
        if id in self._away or await rules.exists(tx, id):
            return
        new = NewRule(
            id=id,
            content=text.content,
            scope=text.scope,
            decay_rate=row["decay_rate"],
            permanence=row["permanence"],
            source_episode_id=None,
            source_butler=row["source_butler"],
            created_at=self._now,
            tags=list(text.tags),
            metadata={MARK: {"from": self._peer.key, "made": text.since.isoformat()}},
            trust=text.trust,
        )
        state = State("waiting", text.since, None, row["last_confirmed_at"])
        kept = SentRule(id, text.since, text, state, None, None, frozenset())
        await self._insert(tx, kept, new)
        self.done.conflicts += 1

    async def _insert(self, tx: Transaction, sent: SentRule, new: NewRule) -> None:
        mark = new.metadata[MARK] | self._at(sent.state.since)
        mark |= {"text": self._at(sent.text.since), "former": sorted(sent.former)}
        metadata = new.metadata | _MARKS[sent.state.validity] | {MARK: mark}
        rule = replace(new, metadata=metadata, created_at=self._now)
        words = await indexed_text(new)

        async def write(fitting: Embedded) -> None:
            async with tx.connection.transaction():
                await rules.insert(tx, rule, fitting)

        await shortened(Embedded.later(words), write)
        await store.set_rule(
            tx, rule.id, sent.state.confirmed, metadata, rule.trust, warning=sent.text.warning
        )
        self._tell("rule_created", rule.id, scope=rule.scope)
        self.done.new += 1

    def _at(self, since: datetime) -> dict[str, str]:
        return {"at": self._now.isoformat(), "since": since.isoformat()}

    def _tell(self, event: EventType, id: UUID, **more: str) -> None:
        told = events.of_memory(event, "rule", id, exchange=self._peer.key, **more)
        self._happened.append(told)


async def forget_gone(tx: Transaction, row: Row, peer: Peer, at: datetime) -> events.Event:
    """Forget a rule that is gone elsewhere, which is locked."""
    await versions.keep(tx, "rule", [row["id"]], at)
    kept = {name: one for name, one in row["metadata"].items() if name not in _OF_STATE}
    since = {"at": at.isoformat(), "since": at.isoformat(), "gone": peer.key}
    mark = _noted(row["metadata"]) | since
    metadata = kept | _MARKS["retracted"] | {MARK: mark}
    await store.set_rule(tx, row["id"], row["last_confirmed_at"], metadata, Trust(row["trust"]))
    return events.of_memory("rule_forgotten", "rule", row["id"], exchange=peer.key)


def _text(row: Row) -> RuleText:
    written = mark_of({MARK: _noted(row["metadata"]).get("text")})
    return RuleText(
        row["content"],
        row["scope"],
        tuple(row["tags"]),
        row["maturity"] == "anti_pattern",
        Trust(row["trust"]),
        changed_since(row["text_since"], row["created_at"], written),
    )


def _state(row: Row) -> State:
    since = changed_since(row["known_since"], row["created_at"], mark_of(row["metadata"]))
    return State(row["state"], since, None, row["last_confirmed_at"])


def _came_masked(row: Row) -> bool:
    """Whether its text came from another installation, which has what was masked in it here."""
    written = mark_of({MARK: _noted(row["metadata"]).get("text")})
    if written is None or not is_masked(row["metadata"]):
        return False
    since: datetime = row["text_since"]
    return datetime.fromisoformat(written["at"]) == since


def _noted(metadata: Mapping[str, Any]) -> dict[str, Any]:
    mark = metadata.get(MARK)
    return mark if isinstance(mark, dict) else {}


def _own(metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {name: one for name, one in metadata.items() if name not in _OF_USE}


def _noted_former(row: Row) -> set[str]:
    found = _noted(row["metadata"]).get("former")
    if not isinstance(found, list):
        return set()
    return {one for one in found if isinstance(one, str) and _DIGEST.fullmatch(one)}
