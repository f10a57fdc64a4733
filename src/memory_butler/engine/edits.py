"""A person's corrections: another text for a fact or a rule, and a rule moved by hand.

An edit may name the revision that it was made from. Of two people who edit one memory, the second
is refused and told what the first one made of it (StaleRevision).
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, Literal, assert_never
from uuid import UUID

from memory_butler.domain.errors import Conflict, InvalidInput, StaleRevision
from memory_butler.domain.events import EventType
from memory_butler.domain.evidence import BY_USER
from memory_butler.domain.exchange import MARK
from memory_butler.domain.facts import FactKey, has_ended
from memory_butler.domain.links import MemoryType
from memory_butler.domain.permanence import (
    DEFAULT_PERMANENCE,
    RULE_DECAY_RATE,
    RULE_OF_USER,
    decay_rate_of,
)
from memory_butler.domain.principals import Principal
from memory_butler.domain.revisions import revision_of
from memory_butler.domain.rules import (
    is_disabled,
    is_forgotten,
    step_by_hand,
)
from memory_butler.domain.trust import Trust, outranks, parse_trust
from memory_butler.engine import inputs
from memory_butler.engine.browse.criteria import fact_row, faded
from memory_butler.engine.curate import require
from memory_butler.engine.indexing import shortened, text_of
from memory_butler.engine.memory import Memory
from memory_butler.engine.screening import NOTE, apart, joined, screened
from memory_butler.engine.unmask_keys import UnmaskKey
from memory_butler.engine.writing import new_fact, new_rule, replace_fact
from memory_butler.store import events, facts, rules, versions
from memory_butler.store.embeddings import Embedded
from memory_butler.store.facts import NewFact
from memory_butler.store.rows import Row
from memory_butler.store.transaction import Transaction, transaction

# What an edited fact keeps unless it is given anew (C-81).
INHERITED: Final = (
    "subject",
    "predicate",
    "content",
    "importance",
    "permanence",
    "scope",
    "tags",
    "entity_id",
    "valid_from",
    "valid_until",
    "source_butler",
    "source_episode_id",
)
# Marks on the old text that say nothing of the new one.
MARKS: Final = frozenset(
    {
        "status",
        "forgotten",
        "needs_review",
        "support",
        "needs_inversion",
        "overrated",
        "resembles",
        "unheard",
        "settled",
        "waiting",
        "echo",
        "echo_of",
        "echo_nearness",
        *BY_USER,
        MARK,
        NOTE,
    }
)

# What a fact says; the rest is about it.
_SAYS: Final = ("subject", "predicate", "content")
_NOTHING: Final[dict[str, Any]] = {**dict.fromkeys(_SAYS, ""), "tags": [], "metadata": {}}

ByHand = Literal["promote", "demote", "disable", "enable"]


async def edit_fact(
    memory: Memory,
    principal: Principal,
    fact_id: UUID | str,
    changes: Mapping[str, Any],
    expected_revision: str | None = None,
    *,
    allow_secrets: bool = False,
    key: UnmaskKey | None = None,
) -> Row:
    """Correct an active fact by one that supersedes it; the new fact's row (C-81, DASH-05).

    `changes` has keys of `INHERITED`, `trust`, on whose word it says something else, and
    `metadata`, members to be set; what it leaves out is inherited. The moment since which the fact
    is true is among that: an edit corrects what was said. Give `valid_from` where the world has
    changed. What is masked is kept under `key` for an hour.

    Raises:
        NotFound: there is no such fact.
        InvalidInput: a value that cannot be stored.
        StaleRevision: it was edited since; the error has the fact that holds now.
        Conflict: it is no longer active, another active fact has the new subject and predicate, or
            it is trusted more than the word that the edit is on.
    """
    id = inputs.uuid("fact_id", fact_id)
    _require_some(changes)
    edit = await _prepared(memory, principal, id, changes, allow_secrets=allow_secrets)

    async def write(fitting: Embedded) -> Row:
        async with transaction(memory.pool, principal.tenant) as tx:
            row = await _replace(memory, principal, tx, edit, fitting, expected_revision)
            if key is not None:
                clean = replace(edit.clean, id=row["id"])
                await key.keep_new(tx, edit.given, clean, memory.clock())
            return row

    return await shortened(edit.embedded, write)


async def rename_facts(
    memory: Memory, principal: Principal, subjects: Mapping[UUID, str]
) -> dict[UUID, UUID]:
    """Give active facts other subjects, all or none; the new fact of each, by the id of the old.

    It is one change, which is undone as one. They are renamed in the order given, so that one may
    take the name that another before it has left.

    Raises:
        NotFound, InvalidInput, Conflict: as of `edit_fact`, for any of them.
    """
    edits = [
        await _prepared(memory, principal, id, {"subject": subject})
        for id, subject in subjects.items()
    ]
    renamed = {}
    async with transaction(memory.pool, principal.tenant) as tx:
        await facts.lock_keys(tx, {key for one in edits for key in one.keys})
        for edit in edits:
            write = partial(_replace_within, memory, principal, tx, edit)
            renamed[edit.id] = (await shortened(edit.embedded, write))["id"]
    return renamed


async def _replace_within(
    memory: Memory, principal: Principal, tx: Transaction, edit: "_Edit", fitting: Embedded
) -> Row:
    """In a savepoint, so that a text that is too much for one row may be tried again.

    Another name is no new word: the fact keeps its age.
    """
    async with tx.connection.transaction():
        row = await _replace(memory, principal, tx, edit, fitting)
        await facts.make_as_old(tx, row["id"], edit.id)
        return row


@dataclass(frozen=True, slots=True)
class _Edit:
    """An edit whose text was searched and embedded, so that nothing of that is done under a lock.

    `given` to the search are the words that it brings, and `clean` they came out. `edited` makes
    the new fact of the row as it is then.
    """

    id: UUID
    given: NewFact
    clean: NewFact
    keys: set[FactKey]
    edited: Callable[[Row], NewFact]
    embedded: Embedded


async def _prepared(
    memory: Memory,
    principal: Principal,
    id: UUID,
    changes: Mapping[str, Any],
    *,
    allow_secrets: bool = False,
) -> _Edit:
    async with memory.reading(principal.tenant, on_primary=True) as tx:
        before = require("fact", id, await facts.look(tx, id))
    wanted = _edited(memory, before, changes)
    brings = _brought(before, wanted)
    # What stays is not searched: a secret that was allowed before stays as well.
    given = clean = replace(wanted, **_NOTHING | brings)
    if brings:
        screen = partial(screened, memory, principal, given, allow_secrets=allow_secrets)
        clean = await apart(screen, given.content)

    def edited(row: Row) -> NewFact:
        now = _edited(memory, row, changes)
        if any(getattr(now, name) != getattr(wanted, name) for name in _SAYS):
            raise Conflict(f"fact {id} was changed a moment ago; look at it and try again")
        stays = {} if "content" in brings else row["metadata"].get(NOTE, {})
        note = joined(stays, clean.metadata.get(NOTE, {}))
        kept = now.metadata | clean.metadata | ({NOTE: note} if note else {})
        words = {name: getattr(clean, name) for name in brings}
        return replace(now, **words | {"metadata": kept})

    new = edited(before)
    embedded = await memory.embedded(text_of(new), new.tags)
    keys = {FactKey.of_row(before), new.key}
    return _Edit(id, given, clean, keys, edited, embedded)


async def _replace(
    memory: Memory,
    principal: Principal,
    tx: Transaction,
    edit: _Edit,
    embedded: Embedded,
    expected_revision: str | None = None,
) -> Row:
    id = edit.id
    await facts.lock_keys(tx, edit.keys)  # keys before rows, as every writer locks (C-21)
    row = require("fact", id, await facts.for_update(tx, id))
    if expected_revision is not None and revision_of(row) != expected_revision:
        raise await _stale_fact(memory, tx, row)
    if row["validity"] != "active":
        reason, _ = await _no_longer_active(tx, row)
        raise Conflict(reason)
    new = edit.edited(row)
    if {FactKey.of_row(row), new.key} != edit.keys:
        raise Conflict(f"the entity of fact {id} was merged a moment ago; try again")
    if new.period.validity != "active":
        raise InvalidInput(
            f"fact {id} ended at {row['valid_until']}; give valid_until, or null where it holds on"
        )
    others = [one for one in await facts.active_of(tx, new.key) if one.id != id]
    if others:
        raise Conflict(
            f"fact {others[0].id} is active under that subject and predicate; edit or forget that "
            "one"
        )
    old = facts.Holder(id, row["created_at"], Trust(row["trust"]), row["content"])
    await replace_fact(tx, principal, new, embedded, old)
    stored = await facts.look(tx, new.id)
    assert stored is not None  # noqa: S101 -- inserted above
    return stored


def _require_some(changes: Mapping[str, Any]) -> None:
    if not changes.keys() - {"trust"}:
        raise InvalidInput("the edit changes nothing; give at least one field a new value")


def _brought(row: Row, new: NewFact) -> dict[str, Any]:
    """The words that an edit brings in: fields, and of the metadata members.

    What a fact says is one text: its predicate may announce the password in its content.
    """
    brought: dict[str, Any] = {name: getattr(new, name) for name in _SAYS}
    if all(row[name] == one for name, one in brought.items()):
        brought = {}
    if new.tags != row["tags"]:
        brought["tags"] = new.tags
    known = row["metadata"].items()
    members = dict(one for one in new.metadata.items() if one not in known)
    return brought | ({"metadata": members} if members else {})


def _edited(memory: Memory, row: Row, changes: Mapping[str, Any]) -> NewFact:
    given = {name: changes[name] if name in changes else row[name] for name in INHERITED}
    if "valid_from" not in changes:
        # A fact may be known a microsecond later than the clock says: see `writing`.
        given["valid_from"] = min(row["valid_from"], memory.clock())
    kept = {name: value for name, value in row["metadata"].items() if name not in MARKS}
    kept |= changes.get("metadata", {})
    trust = _trust("fact", row, changes, _SAYS).label
    return new_fact(memory, **given, metadata=kept, trust=trust)


def _trust(kind: MemoryType, row: Row, changes: Mapping[str, Any], says: Collection[str]) -> Trust:
    """How far an edited memory is trusted: other words are no longer those of its source (C-125).

    They are the editor's, who says on whose word they are, or else speaks as an agent. A word that
    the memory outranks edits nothing of it (C-210).
    """
    known = Trust(row["trust"])
    stated = None if changes.get("trust") is None else parse_trust(changes["trust"])
    if stated is not None and outranks(known, stated):
        raise Conflict(
            f"what has the trust {stated.label} does not edit {kind} {row['id']} of trust "
            f"{known.label}; store it as a {kind} of its own"
        )
    if all(changes.get(name, row[name]) == row[name] for name in says):
        return known
    return min(known, Trust.AGENT_INFERRED) if stated is None else stated


async def _stale_fact(memory: Memory, tx: Transaction, row: Row) -> StaleRevision:
    current = await _newest(tx, row)
    shown = fact_row(current, memory.clock())
    shown.pop("superseded_by", None)
    changed = "edited" if current["id"] != row["id"] else "changed"
    return StaleRevision(
        f"fact {row['id']} was {changed} by somebody else meanwhile; look at what it says now, "
        f"and edit fact {current['id']}",
        "fact",
        shown,
        revision_of(current),
    )


async def _no_longer_active(tx: Transaction, row: Row) -> tuple[str, UUID | None]:
    """Why, with what to do; and the fact that took its place."""
    id = row["id"]
    match row["validity"]:
        case "superseded":
            current = await _newest(tx, row)
            if current["validity"] != "active":
                told = f"{current['id']}, which took its place, is {current['validity']} too"
                return f"fact {id} was superseded, and {told}", current["id"]
            told = f"the one that holds now is {current['id']}"
            return f"fact {id} was superseded; {told}", current["id"]
        case "retracted":
            return f"fact {id} is forgotten; restore it first", None
        case "waiting":
            return f"fact {id} waits for your decision: accept it first", None
        case _:
            return f"fact {id} has expired; store it anew if it holds after all", None


async def why_inactive(
    memory: Memory, principal: Principal, kind: MemoryType, row: Row
) -> tuple[str | None, UUID | None]:
    """Why retrieval leaves a memory out, with what to do; and the fact that took its place."""
    id = row["id"]
    if kind == "rule":
        if is_forgotten(row["metadata"]):
            return _forgotten_rule(id), None
        return (f"rule {id} is switched off" if is_disabled(row["metadata"]) else None), None
    if row["validity"] == "active":
        if not has_ended(row["valid_until"], memory.clock()):
            return None, None
        end = f"{row['valid_until']:%Y-%m-%d %H:%M} UTC"
        return f"fact {id} ended at {end}; give it a later valid_until if it holds on", None
    async with memory.reading(principal.tenant, on_primary=True) as tx:
        return await _no_longer_active(tx, row)


def _forgotten_rule(id: UUID) -> str:
    return f"rule {id} is forgotten; restore it first"


async def _newest(tx: Transaction, row: Row) -> Row:
    """The fact at the end of the chain of those that replaced this one."""
    seen = {row["id"]}
    found = await facts.look(tx, row["id"])
    while found is not None and found["superseded_by"] not in {None, *seen}:
        row = found
        seen.add(found["superseded_by"])
        found = await facts.look(tx, found["superseded_by"])
    return found if found is not None else row


async def edit_rule(
    memory: Memory,
    principal: Principal,
    rule_id: UUID | str,
    changes: Mapping[str, Any],
    expected_revision: str | None = None,
    *,
    allow_secrets: bool = False,
    key: UnmaskKey | None = None,
) -> Row:
    """Give a rule another text, scope or tags: it is a candidate again, its counters kept (C-37).

    What is masked is kept under `key` for an hour.

    Raises:
        NotFound: there is no such rule.
        InvalidInput: a value that cannot be stored.
        StaleRevision: it was changed since; the error has it as it is now.
        Conflict: it is forgotten, or trusted more than the word that the edit is on.
    """
    id = inputs.uuid("rule_id", rule_id)
    _require_some(changes)
    async with memory.reading(principal.tenant, on_primary=True) as tx:
        before = require("rule", id, await rules.look(tx, id))
    given = new_rule(
        memory,
        changes.get("content", before["content"]),
        tags=changes.get("tags", before["tags"]),
    )
    brings = {name for name in ("content", "tags") if getattr(given, name) != before[name]}
    # What stays is not searched: a secret that was allowed before stays as well.
    given = replace(
        given,
        content=given.content if "content" in brings else "",
        tags=given.tags if "tags" in brings else [],
    )
    clean = given
    if brings:
        screen = partial(screened, memory, principal, given, allow_secrets=allow_secrets)
        clean = await apart(screen, given.content)
    content = clean.content if "content" in brings else before["content"]
    stays = {} if "content" in brings else before["metadata"].get(NOTE, {})
    note = joined(stays, clean.metadata.get(NOTE, {}))
    tags = clean.tags if "tags" in brings else before["tags"]
    embedded = await memory.embedded(content, tags)

    async def write(fitting: Embedded) -> Row:
        async with transaction(memory.pool, principal.tenant) as tx:
            row = await _rule_to_edit(memory, tx, id, expected_revision)
            if ("content" not in changes and row["content"] != content) or (
                "tags" not in changes and row["tags"] != tags
            ):
                raise Conflict(f"rule {id} was edited a moment ago; look at it and try again")
            now = memory.clock()
            trust = _trust("rule", row, {**changes, "content": content}, ("content",))
            await versions.keep_text(tx, id, now)
            edited = await rules.edit(
                tx,
                id,
                content,
                fitting,
                scope=inputs.scope(changes.get("scope", row["scope"])),
                tags=tags,
                metadata=of_another_text(row) | ({NOTE: note} if note else {}),
                trust=trust,
                now=now,
                **life_of_edited(row, trust),
            )
            await _tell(tx, principal, "rule_edited", edited, memory)
            if key is not None and brings:
                said = replace(given, id=id), replace(clean, id=id)
                await key.keep_new(tx, *said, now)
            return edited

    return await shortened(embedded, write)


def life_of_edited(row: Row, trust: Trust) -> dict[str, Any]:
    """`decay_rate` and `permanence` of a rule that has another text, on a word of this trust.

    The user's word lasts, and what others make of it no longer than their own (C-463); a warning
    that is none any more fades again (C-37).
    """
    rate, permanence = row["decay_rate"], row["permanence"]
    warning = row["maturity"] == "anti_pattern"
    if trust is Trust.USER_SAID and (warning or rate == RULE_DECAY_RATE):
        rate, permanence = decay_rate_of(RULE_OF_USER), RULE_OF_USER
    elif warning or (trust < row["trust"] and rate < RULE_DECAY_RATE):
        rate, permanence = RULE_DECAY_RATE, DEFAULT_PERMANENCE
    return {"decay_rate": rate, "permanence": permanence}


def of_another_text(row: Row) -> dict[str, Any]:
    """A rule's metadata for another text; the harm that the old one did is not held against it.

    It is the same rule still: what exchanges noted of it stays.
    """
    kept = {name: value for name, value in row["metadata"].items() if name not in MARKS - {MARK}}
    harmful = row["maturity"] == "anti_pattern" or "needs_inversion" in row["metadata"]
    return kept | ({"needs_inversion": False} if harmful else {})


async def move_rule(
    memory: Memory,
    principal: Principal,
    rule_id: UUID | str,
    act: ByHand,
    expected_revision: str | None = None,
) -> Row:
    """Promote or demote a rule by one step, or switch it off or on, whatever its counts (C-37).

    Raises:
        NotFound: there is no such rule.
        InvalidInput: there is no step further in that direction.
        StaleRevision: it was changed since; the error has it as it is now.
        Conflict: it is forgotten, or is off (on) already.
    """
    id = inputs.uuid("rule_id", rule_id)
    async with transaction(memory.pool, principal.tenant) as tx:
        row = await _rule_to_edit(memory, tx, id, expected_revision)
        now = memory.clock()
        match act:
            case "promote" | "demote":
                maturity = step_by_hand(row["maturity"], act)
                await versions.keep(tx, "rule", [id], now)
                moved = await rules.set_maturity(tx, id, maturity, now)
                event: EventType = "rule_promoted" if act == "promote" else "rule_demoted"
            case "disable" | "enable":
                if is_disabled(row["metadata"]) is (act == "disable"):
                    raise Conflict(f"rule {id} is {act}d already")
                await versions.keep(tx, "rule", [id], now)
                moved = await _switch(tx, row, off=act == "disable")
                event = "rule_disabled" if act == "disable" else "rule_enabled"
            case _:
                assert_never(act)
        await _tell(tx, principal, event, moved, memory)
        return moved


async def _switch(tx: Transaction, row: Row, *, off: bool) -> Row:
    metadata = {name: value for name, value in row["metadata"].items() if name != "disabled"}
    if off:
        metadata["disabled"] = True
    await rules.set_metadata(tx, row["id"], metadata)
    return row | {"metadata": metadata}


async def _rule_to_edit(
    memory: Memory, tx: Transaction, id: UUID, expected_revision: str | None
) -> Row:
    row = require("rule", id, await rules.for_update(tx, id))
    if expected_revision is not None and revision_of(row) != expected_revision:
        raise StaleRevision(
            f"rule {id} was changed by somebody else meanwhile; look at what it says now",
            "rule",
            faded(row, memory.clock()),
            revision_of(row),
        )
    if is_forgotten(row["metadata"]):
        raise Conflict(_forgotten_rule(id))
    return row


async def _tell(
    tx: Transaction, principal: Principal, event: EventType, row: Row, memory: Memory
) -> None:
    told = events.of_memory(event, "rule", row["id"], maturity=row["maturity"], by_hand=True)
    await events.record(tx, principal.actor, [told], memory.clock())
