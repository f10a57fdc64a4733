"""What another installation has, on its way in: merged one by one, as domain/exchange.py decides.

Here facts, in `rules.py` rules. Whatever is taken twice, in parts or in another order comes to the
same. An accepted peer changes nothing that is trusted more than the peer is (C-210).
"""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final, TypeVar
from uuid import UUID, uuid5

from memory_butler.domain.errors import Conflict, InvalidInput, PermissionDenied
from memory_butler.domain.events import EventType
from memory_butler.domain.exchange import (
    MARK,
    MOST_AHEAD_SECONDS,
    Claim,
    Scopes,
    State,
    changed_since,
    is_newer,
    loser,
    mark_of,
    went_with,
)
from memory_butler.domain.facts import FactKey, FactPeriod, Validity
from memory_butler.domain.principals import Principal
from memory_butler.domain.trust import Trust, outranks
from memory_butler.engine import writing
from memory_butler.engine.entities import NewEntity, insert_entity, new_entity
from memory_butler.engine.exchange import peers
from memory_butler.engine.exchange import rules as exchanged_rules
from memory_butler.engine.exchange.packs import PACK_FACTS, Sent, Signed, opened, own_key, read_fact
from memory_butler.engine.exchange.peers import Peer
from memory_butler.engine.exchange.rules import RuleBatch, SentRule, read_rule
from memory_butler.engine.exchange.taken import Taken
from memory_butler.engine.indexing import indexed_text, shortened
from memory_butler.engine.memory import Memory
from memory_butler.engine.screening import apart, screened
from memory_butler.store import entities, events, facts, links, versions
from memory_butler.store import exchange as store
from memory_butler.store.embeddings import Embedded
from memory_butler.store.facts import NewFact
from memory_butler.store.rows import Row
from memory_butler.store.rules import NewRule
from memory_butler.store.transaction import Transaction, one_bulk_writer, transaction

BATCH: Final = 256
One = TypeVar("One", Sent, SentRule)

# What the log says of a fact that an exchange brought into a state.
_EVENTS: Final[dict[Validity, EventType]] = {
    "active": "memory_restored",
    "expired": "fact_expired",
    "waiting": "fact_set_aside",
    "superseded": "fact_superseded",
    "retracted": "fact_retracted",
}
_SAYS: Final = ("subject", "predicate", "content", "scope")
# Marks in the metadata that go with a state, and are made anew for the next.
_OF_STATE: Final = ("forgotten", "waiting", "status")


async def take(
    memory: Memory, principal: Principal, given: Signed, scopes: Collection[str] | None = None
) -> Taken:
    """Take what another installation says; cut off, what was done is done, and the rest can follow.

    Args:
        scopes: leave facts of others out; none: take what was agreed with that installation.

    Raises:
        InvalidInput: it is damaged, of a format that is not known here, or our own.
        PermissionDenied: nobody has accepted the key that signed it.
        Conflict: the clock of the other installation is ahead.
    """
    done, asked = Taken(), peers.chosen(scopes)
    # In a thread: megabytes of JSON take tens of milliseconds, in which others want to be served.
    reading = partial(_read, memory, principal, given, asked, done)
    peer, said, sent, sent_rules = await asyncio.to_thread(reading)
    if said["kind"] == "state":
        return await _take_gone(memory, principal, peer, asked, _ids(said))
    moments = [*map(_newest, sent), *map(_newest_of_rule, sent_rules)]
    await _wait_for(memory, _latest(*moments))
    await _take_rules(memory, principal, peer, sent_rules, done)
    wanted = await _wanted(memory, principal, peer, sent, done)
    for begin in range(0, len(wanted), BATCH):
        taking = _Batch(memory, principal, peer)
        async with transaction(memory.pool, principal.tenant) as tx:
            await one_bulk_writer(tx)
            await taking.write(tx, wanted[begin : begin + BATCH])
        done.add(taking.done)
    if done.new:
        async with transaction(memory.pool, principal.tenant) as tx:
            await store.connect(tx)
    return done


def _read(
    memory: Memory, principal: Principal, given: Signed, asked: Scopes, done: Taken
) -> tuple[Peer, dict[str, Any], list[Sent], list[SentRule]]:
    """Who says what; what is damaged is left out, and the others are taken."""
    said = opened(given, lambda key: _peer(memory, principal, key))
    peer = _peer(memory, principal, said["key"])
    caller = peers.of_caller(memory.data_dir, principal)
    if caller is not None and caller.key != peer.key:
        raise PermissionDenied(
            f"this token is for the peer {caller.name!r}, and {peer.name!r} signed this"
        )
    if said.get("kind") == "state":
        return peer, said, [], []
    given_facts, given_rules = said.get("facts"), said.get("rules", [])
    if said.get("kind") != "facts":
        raise InvalidInput("it is no statement of an exchange")
    if not isinstance(given_facts, list) or not isinstance(given_rules, list):
        raise InvalidInput("it is no statement of an exchange")
    count = len(given_facts) + len(given_rules)
    if count > PACK_FACTS:
        raise InvalidInput(f"it has {count:,} facts and rules, at most {PACK_FACTS:,} are taken")
    wanted = partial(_wanted_of, peer, asked, done)
    return peer, said, wanted(given_facts, read_fact), wanted(given_rules, read_rule)


def _wanted_of(
    peer: Peer,
    asked: Scopes,
    done: Taken,
    given: Sequence[object],
    read: Callable[[Any, Trust], One],
) -> list[One]:
    """Those that can be read, were asked for and may be taken of a peer; each once."""
    found: dict[UUID, One] = {}
    for said in given:
        try:
            one = read(said, peer.trust)
        except InvalidInput:
            done.refused += 1
            continue
        if asked is not None and one.scope not in asked:
            continue
        if _is_agreed(peer, one.scope):
            found[one.id] = one
        else:
            done.refused += 1
    return list(found.values())


async def _take_rules(
    memory: Memory, principal: Principal, peer: Peer, sent: Sequence[SentRule], done: Taken
) -> None:
    if not sent:
        return
    async with memory.reading(principal.tenant, on_primary=True) as tx:
        there = await store.scopes_of_rules(tx, [one.id for one in sent])
    wanted: list[tuple[SentRule, NewRule]] = []
    for one in sorted(sent, key=lambda one: one.id):
        # An id of which the peer may not speak.
        refused = one.id in there and not _is_agreed(peer, there[one.id])
        made = None if refused else await exchanged_rules.made(memory, principal, peer, one)
        done.refused += made is None
        wanted += [] if made is None else [made]
    for begin in range(0, len(wanted), BATCH):
        taking = RuleBatch(memory, principal, peer)
        async with transaction(memory.pool, principal.tenant) as tx:
            await one_bulk_writer(tx)
            await taking.write(tx, wanted[begin : begin + BATCH])
        done.add(taking.done)


async def _wanted(
    memory: Memory, principal: Principal, peer: Peer, sent: Sequence[Sent], done: Taken
) -> "list[_Wanted]":
    """What is to be taken of some facts, found and checked before anything is locked."""
    renamed = {
        one.id: replace(one, id=uuid5(one.id, chr(31).join(_words(one.says)))) for one in sent
    }
    async with memory.reading(principal.tenant, on_primary=True) as tx:
        ids = [one.id for one in (*sent, *renamed.values())]
        there = {row["id"]: row for row in await facts.of_any_state(tx, ids)}
        away = set(await store.taken_away(tx))
        emptied = await store.emptied(tx)
    wanted: list[_Wanted] = []
    for given in sent:
        one, row, same = given, there.get(given.id), True
        if row is not None and not _is_agreed(peer, row["scope"]):
            done.refused += 1  # it has the id of a fact that the peer may not speak of
            continue
        if row is not None and _words(row) != _words(one.says):
            made = await _made(memory, principal, peer, one)
            same = (
                made is not None
                and made.new is not None
                and _words(row) == _words({name: getattr(made.new, name) for name in _SAYS})
            )
            if not same and outranks(one.trust, Trust(row["trust"])):
                # Somebody who is believed less told this id first, with other words.
                one, same = renamed[given.id], True
                row = there.get(one.id)
            done.kept += not same
        if row is not None:
            wanted.append(_Wanted(one, same=same))
        elif one.id in away or went_with(emptied, one.made):
            done.refused += 1
        else:
            made = await _made(memory, principal, peer, one)
            done.refused += made is None
            wanted += [] if made is None else [made]
    return list({one.sent.id: one for one in wanted}.values())


def _is_agreed(peer: Peer, scope: object) -> bool:
    return peer.scopes is None or scope in peer.scopes


def _words(says: Mapping[str, Any]) -> tuple[str, ...]:
    """What makes two facts of one id the same."""
    return tuple(str(says[name]) for name in _SAYS)


def _newest(sent: Sent) -> datetime | None:
    return _latest(sent.made, sent.state.since, sent.state.confirmed)


def _newest_of_rule(sent: SentRule) -> datetime | None:
    return _latest(sent.made, sent.text.since, sent.state.since, sent.state.confirmed)


def _latest(*moments: datetime | None) -> datetime | None:
    return max((one for one in moments if one is not None), default=None)


def _peer(memory: Memory, principal: Principal, key: str) -> Peer:
    if key == own_key(memory, principal.tenant):
        raise InvalidInput("these are this installation's own facts")
    peer = peers.accepted(memory.data_dir, principal.tenant).get(key)
    if peer is None:
        raise PermissionDenied(
            f"nobody has accepted the key {key}; if it belongs to your own installation: "
            f"memory-butler peers accept NAME {key} --trust user_said"
        )
    return peer


def _ids(said: dict[str, Any]) -> list[UUID]:
    try:
        return [UUID(one) for one in said["gone"]]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidInput("it is no statement of an exchange") from error


async def _wait_for(memory: Memory, latest: datetime | None) -> None:
    """Until nothing of what is taken lies in the future: what follows here must be later."""
    ahead = 0.0 if latest is None else (latest - memory.clock()).total_seconds()
    if ahead > MOST_AHEAD_SECONDS:
        raise Conflict(
            f"the clock of the other installation is {ahead:.0f} seconds ahead of this one; set "
            "both by a time server, or its changes would win over all later ones here"
        )
    if ahead > 0:
        await asyncio.sleep(ahead)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A fact to be taken; what is `new`, and how it is found, where it is not here yet.

    `same`: the words that this installation has by its id are these.
    """

    sent: Sent
    new: NewFact | None = None
    entity: NewEntity | None = None
    words: str = ""
    same: bool = True


async def _made(memory: Memory, principal: Principal, peer: Peer, sent: Sent) -> _Wanted | None:
    """A new fact, checked and screened like whatever comes in; None: it cannot be stored here."""
    try:
        checked = writing.new_fact(memory, id=sent.id, trust=sent.trust.label, **sent.says)
        clean = await apart(partial(screened, memory, principal, checked), checked.content)
        entity = None if sent.entity is None else new_entity(**sent.entity)
        if entity is not None and peer.trust < Trust.AGENT_INFERRED:
            # A name that others may have chosen must not take over what is said of somebody.
            entity = replace(entity, aliases=[], metadata={})
    except (ValueError, TypeError, AttributeError):
        return None
    mark = {"from": peer.key, "made": sent.made.isoformat()}
    if sent.supersedes is not None:
        mark["supersedes"] = str(sent.supersedes)
    new = replace(clean, confidence=sent.confidence, metadata=clean.metadata | {MARK: mark})
    words = await indexed_text(new)
    return _Wanted(sent, new, entity, words)


class _Batch:
    """Facts that are taken in one transaction."""

    def __init__(self, memory: Memory, principal: Principal, peer: Peer) -> None:
        self.done = Taken()
        self._memory = memory
        self._principal = principal
        self._peer = peer
        self._happened: list[events.Event] = []
        self._held: dict[FactKey, list[facts.Holder]] = {}
        self._entities: dict[tuple[str, str] | str, UUID | None] = {}
        self._waiting: list[tuple[UUID, UUID]] = []
        self._now = memory.clock()

    async def write(self, tx: Transaction, wanted: Sequence[_Wanted]) -> None:
        ids = [one.sent.id for one in wanted]
        known = {row["id"] for row in await facts.of_any_state(tx, ids)}
        emptied = await store.emptied(tx)
        # What was here a moment ago may be erased by now.
        wanted = [
            one
            for one in wanted
            if one.sent.id in known
            or (one.new is not None and not went_with(emptied, one.sent.made))
        ]
        keys = {one.sent.id: await self._key(tx, one) for one in wanted if one.sent.id not in known}
        # Only now: an entity that these register is given the facts here that name it.
        keys |= {row["id"]: FactKey.of_row(row) for row in await facts.of_any_state(tx, ids)}
        # Keys before rows, as every writer locks (C-21).
        claimed = {keys[one.sent.id] for one in wanted if one.sent.state.validity == "active"}
        await facts.lock_keys(tx, claimed)
        for key in claimed:
            self._held[key] = await facts.active_of(tx, key)
        there = await store.there(tx, ids)
        known_since = [row["touched"] for row in there.values()]
        known_since += [one.known_since for held in self._held.values() for one in held]
        # No state was known later than the one that takes its place.
        self._now = max([self._now, *(one + timedelta(microseconds=1) for one in known_since)])
        comers: list[tuple[_Wanted, Row | None]] = []
        for one in wanted:
            row = there.get(one.sent.id)
            if row is not None:
                comers += [(one, row)] if await self._merge(tx, one, row) else []
            elif one.new is None:
                continue  # erased since it was looked for
            elif one.sent.state.validity == "active":
                comers.append((one, None))
            else:
                await self._insert(tx, one, keys[one.sent.id], one.sent.state, one.sent.waiting)
        comers.sort(key=lambda one: (one[0].sent.state.since, one[0].sent.id))
        for one, row in comers:
            await self._claim(tx, one, row, keys[one.sent.id])
        ends = [id for pair in self._waiting for id in pair]
        found = await facts.of_any_state(tx, ends) if ends else []
        at = {row["id"]: FactKey.of_row(row) for row in found}
        for lost, won in self._waiting:
            if won == lost or at.get(won) != at[lost]:
                continue  # not here, or not about the same
            await links.insert(tx, ("fact", lost), ("fact", won), "contradicts", self._now)
        await events.record(tx, self._principal.actor, self._happened, self._now)

    async def _key(self, tx: Transaction, one: _Wanted) -> FactKey:
        assert one.new is not None  # noqa: S101 -- it was not here when the batch was made
        entity_id = await self._entity(tx, one)
        return FactKey.of(one.new.scope, one.new.predicate, one.new.subject, entity_id)

    async def _entity(self, tx: Transaction, one: _Wanted) -> UUID | None:
        """The entity here that the fact is about there, registered where it is missing."""
        assert one.new is not None  # noqa: S101 -- as above
        if one.entity is None:
            subject = one.new.subject
            if subject not in self._entities:
                self._entities[subject] = (await writing.about_entity(tx, one.new)).entity_id
            return self._entities[subject]
        name = (one.entity.canonical_name, one.entity.entity_type)
        if name not in self._entities:
            made = await insert_entity(tx, self._principal, one.entity, self._now)
            if made is None:
                named = await entities.named(tx, *name)
                assert named is not None  # noqa: S101 -- its name was found taken
                row = await entities.share(tx, named["id"]) or named
            else:
                row, _ = made
            merged_into = (row["metadata"] or {}).get("merged_into")
            self._entities[name] = row["id"] if merged_into is None else UUID(merged_into)
        return self._entities[name]

    async def _merge(self, tx: Transaction, one: _Wanted, row: Row) -> bool:
        """Merge the state of a fact that is here; whether it is to be active, which is decided by
        its key.
        """
        sent, mark = one.sent, mark_of(row["metadata"])
        if mark is not None and mark.get("gone", self._peer.key) != self._peer.key:
            return False  # of what it took away, only the same installation has a later word
        mine = State(row["validity"], _changed(row), row["valid_until"], row["last_confirmed_at"])
        newer = is_newer(sent.state, mine)
        confirmed = _latest(mine.confirmed, sent.state.confirmed)
        known = Trust(row["trust"])
        if outranks(known, sent.trust):
            self.done.kept += newer
            return False
        if one.same and sent.trust > known:
            # The same fact, from whoever is believed more: nobody who is believed less decides it.
            if outranks(sent.trust, known) and mark is not None:
                brought = row["known_since"] == datetime.fromisoformat(mark["at"])
                newer = newer or (brought and _differs(sent.state, mine))
            await versions.keep(tx, "fact", [row["id"]], self._now)
            await store.raise_trust(tx, row["id"], sent.trust)
            row["trust"] = sent.trust
        if newer and sent.state.validity == "active":
            return True
        if newer:
            await self._set(tx, row, replace(sent.state, confirmed=confirmed), sent.waiting)
        elif confirmed != mine.confirmed:
            await versions.keep(tx, "fact", [row["id"]], self._now)
            metadata = {key: val for key, val in row["metadata"].items() if key != "status"}
            state = replace(mine, confirmed=confirmed)
            await store.set_state(tx, row["id"], state, metadata, self._now)
            self._tell("memory_confirmed", row["id"])
            self.done.changed += 1
        return False

    async def _claim(self, tx: Transaction, one: _Wanted, row: Row | None, key: FactKey) -> None:
        """Make a fact active, or let it yield to the one that holds its key."""
        sent = one.sent
        state, waiting = sent.state, None
        holders = [held for held in self._held[key] if held.id != sent.id]
        if holders:
            comer = await self._comer(tx, sent, row)
            known = await store.there(tx, [held.id for held in holders])
            fights = [
                (held, *loser(await self._holder(tx, held), comer))
                for held in known.values()
                if held["validity"] == "active"
            ]
            lost = next(((held, how) for held, id, how in fights if id == sent.id), None)
            if lost is not None:
                held, how = lost
                state = replace(state, validity=how)
                waiting = {"reason": "elsewhere", "target": str(held["id"])}
            else:
                for held, _, how in fights:
                    await self._yield(tx, held, how, sent)
                self._held[key] = []
        if row is None:
            await self._insert(tx, one, key, state, waiting)
        elif row["validity"] != state.validity or row["valid_until"] != state.valid_until:
            confirmed = _latest(row["last_confirmed_at"], state.confirmed)
            await self._set(tx, row, replace(state, confirmed=confirmed), waiting)
        if state.validity == "active":
            trust = sent.trust if row is None else Trust(row["trust"])
            older = None if row is None else await self._older(tx, sent, key)
            if older is not None:
                await facts.set_supersedes(tx, sent.id, older)  # what waited here replaced it there
            self._held[key].append(facts.Holder(sent.id, self._now, trust, sent.says["content"]))

    async def _comer(self, tx: Transaction, sent: Sent, row: Row | None) -> Claim:
        older = sent.supersedes if row is None else (row["supersedes_id"] or sent.supersedes)
        ancestors: frozenset[UUID] = frozenset()
        if older is not None:
            ancestors = await store.ancestors(tx, older) | {older}
        content = sent.says["content"] if row is None else row["content"]
        trust = sent.trust if row is None else Trust(row["trust"])
        return Claim(sent.id, content, trust, sent.state.since, ancestors)

    async def _holder(self, tx: Transaction, row: Row) -> Claim:
        ancestors = await store.ancestors(tx, row["id"])
        return Claim(row["id"], row["content"], Trust(row["trust"]), _changed(row), ancestors)

    async def _older(self, tx: Transaction, sent: Sent, key: FactKey) -> UUID | None:
        """What a fact replaced, where it is here and the sender may say so of it."""
        if sent.supersedes is None or sent.supersedes == sent.id:
            return None
        for row in await facts.of_any_state(tx, [sent.supersedes]):
            if FactKey.of_row(row) == key and not outranks(Trust(row["trust"]), sent.trust):
                return sent.supersedes
        return None  # it may come later, or was erased

    async def _yield(self, tx: Transaction, row: Row, how: Validity, winner: Sent) -> None:
        """Take a fact back that was active. It does so since it was: a later word decides again."""
        state = State(how, _changed(row), row["valid_until"], row["last_confirmed_at"])
        if how == "superseded":
            begin: datetime = winner.says["valid_from"]
            ends = [one for one in (row["valid_until"], begin) if one is not None]
            state = replace(state, valid_until=min(ends) if begin > row["valid_from"] else None)
        await self._set(tx, row, state, {"reason": "elsewhere", "target": str(winner.id)})

    async def _insert(
        self,
        tx: Transaction,
        one: _Wanted,
        key: FactKey,
        state: State,
        waiting: Any,
    ) -> None:
        sent, new = one.sent, one.new
        assert new is not None  # noqa: S101 -- the caller asked
        # What waits has replaced nothing.
        older = None if state.validity == "waiting" else await self._older(tx, sent, key)
        mark = new.metadata[MARK] | self._mark(state.since)
        metadata = _marked(new.metadata | {MARK: mark}, state.validity, waiting)
        fact = replace(
            new,
            supersedes_id=older,
            entity_id=key.entity_id,
            period=FactPeriod(new.period.valid_from, state.valid_until, state.validity),
            created_at=self._now,
            metadata=metadata,
        )

        async def write(fitting: Embedded) -> None:
            async with tx.connection.transaction():
                await facts.insert(tx, fact, fitting)

        await shortened(Embedded.later(one.words), write)
        await store.set_state(tx, fact.id, state, metadata, self._now)
        if older is not None:
            await links.insert(tx, ("fact", fact.id), ("fact", older), "supersedes", self._now)
        self._note_waiting(fact.id, state.validity, waiting)
        self._tell("fact_created", fact.id, scope=fact.scope)
        self.done.new += 1

    async def _set(self, tx: Transaction, row: Row, state: State, waiting: Any) -> None:
        await versions.keep(tx, "fact", [row["id"]], self._now)
        metadata = {key: one for key, one in row["metadata"].items() if key not in _OF_STATE}
        known = mark_of(metadata) or {}
        mark = {name: one for name, one in known.items() if name != "gone"}
        metadata[MARK] = mark | self._mark(state.since)
        metadata = _marked(metadata, state.validity, waiting)
        await store.set_state(tx, row["id"], state, metadata, self._now)
        self._note_waiting(row["id"], state.validity, waiting)
        self._tell(_EVENTS[state.validity], row["id"])
        self.done.changed += 1

    def _mark(self, since: datetime) -> dict[str, str]:
        return {"at": self._now.isoformat(), "since": since.isoformat()}

    def _note_waiting(self, id: UUID, validity: Validity, waiting: Any) -> None:
        target = (waiting or {}).get("target")
        if validity == "waiting" and target is not None:
            self._waiting.append((id, UUID(target)))
            self.done.conflicts += 1

    def _tell(self, event: EventType, id: UUID, **more: str) -> None:
        told = events.of_memory(event, "fact", id, exchange=self._peer.key, **more)
        self._happened.append(told)


def _differs(theirs: State, mine: State) -> bool:
    return (theirs.validity, theirs.valid_until) != (mine.validity, mine.valid_until)


def _marked(metadata: dict[str, Any], validity: Validity, waiting: Any) -> dict[str, Any]:
    if validity == "retracted":
        return metadata | {"forgotten": True}
    if validity == "waiting" and waiting is not None:
        return metadata | {"waiting": waiting}
    return metadata


def _changed(row: Row) -> datetime:
    return changed_since(row["known_since"], row["created_at"], mark_of(row["metadata"]))


async def _take_gone(
    memory: Memory,
    principal: Principal,
    peer: Peer,
    asked: Scopes,
    ids: Sequence[UUID],
) -> Taken:
    """Forget what is gone elsewhere, once: whoever restores it here means it."""
    done = Taken()
    for begin in range(0, len(ids), BATCH):
        async with transaction(memory.pool, principal.tenant) as tx:
            batch = ids[begin : begin + BATCH]
            there, rules_there = await store.there(tx, batch), await store.rules_there(tx, batch)
            happened: list[events.Event] = []
            now = memory.clock()
            for row in (*there.values(), *rules_there.values()):
                mark = mark_of(row["metadata"]) or {}
                left_out = asked is not None and row["scope"] not in asked
                if "gone" in mark or left_out or not _is_agreed(peer, row["scope"]):
                    continue
                if outranks(Trust(row["trust"]), peer.trust):
                    done.kept += 1
                    continue
                at = max(now, row["touched"] + timedelta(microseconds=1))
                done.gone += 1
                if row["id"] in rules_there:
                    happened.append(await exchanged_rules.forget_gone(tx, row, peer, at))
                    continue
                await versions.keep(tx, "fact", [row["id"]], at)
                kept = {key: one for key, one in row["metadata"].items() if key not in _OF_STATE}
                since = {"at": at.isoformat(), "since": at.isoformat(), "gone": peer.key}
                state = State("retracted", at, row["valid_until"], row["last_confirmed_at"])
                metadata = kept | {"forgotten": True, MARK: mark | since}
                await store.set_state(tx, row["id"], state, metadata, at)
                happened.append(
                    events.of_memory("fact_retracted", "fact", row["id"], exchange=peer.key)
                )
            await events.record(tx, principal.actor, happened, now)
    return done
