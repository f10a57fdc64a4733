"""What an erasure takes: from what was named to all that was drawn from it alone."""

import re
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal
from uuid import UUID

from memory_butler.domain import mistakes
from memory_butler.domain.errors import InvalidInput, NotFound
from memory_butler.domain.links import Item, MemoryType
from memory_butler.domain.prompts import CAPITALISED
from memory_butler.engine import inputs
from memory_butler.store import episodes, erasure, facts, rules
from memory_butler.store.erasure import Doomed, Traces
from memory_butler.store.rows import Row
from memory_butler.store.transaction import Transaction


@dataclass(frozen=True, slots=True)
class Target:
    """What somebody wants to have erased: exactly one of the six.

    `message`: of a journal, the companion's name and the message's id; with it go the episodes of
    the sessions that hold it.
    `sources`: the episodes that an erased fact or rule was drawn from go too; without it they are
    told, for they still say it.
    `mentions`: what has a name of an erased entity as it is written goes too; what else names it
    is told.
    `writer`: whose memories go: a butler, or an actor as events have it, such as "token:laptop".
    """

    memory: Item | None = None
    entity_id: UUID | None = None
    session_id: UUID | None = None
    everything: bool = False
    sources: bool = False
    message: tuple[str, int] | None = None
    mentions: bool = False
    writer: str | None = None

    def __post_init__(self) -> None:
        named = [self.memory, self.entity_id, self.session_id, self.message, self.writer]
        if sum(one is not None for one in [*named, self.everything or None]) != 1:
            raise InvalidInput(
                "name exactly one: a memory, an entity, a session, a message, a writer, or "
                "everything"
            )
        if self.mentions and self.entity_id is None:
            raise InvalidInput(
                "mentions are erased with an entity; name it too: erase --entity ID --mentions"
            )

    def as_json(self) -> dict[str, Any]:
        """As the certificate tells it."""
        if self.memory is not None:
            kind, id = self.memory
            return {"by": "memory", "memory_type": kind, "id": str(id), "sources": self.sources}
        if self.entity_id is not None:
            more = {"mentions": True} if self.mentions else {}
            return {"by": "entity", "id": str(self.entity_id), "sources": self.sources, **more}
        if self.writer is not None:
            return {"by": "writer", "id": self.writer, "sources": self.sources}
        if self.session_id is not None:
            return {"by": "session", "id": str(self.session_id)}
        if self.message is not None:
            companion, number = self.message
            return {"by": "message", "companion": companion, "id": number}
        return {"by": "tenant"}


@dataclass(frozen=True, slots=True)
class Kept:
    """What stays and may still say it: it rests on other things too, is another version of an
    erased fact, or names an erased entity.

    `left`: how many of the episodes that it rests on besides are still there; `closest`: how like
    it the most alike of them is, from 0 to 1. None or little: look at it, it may say no more than
    what was erased.
    """

    kind: Literal["fact", "rule", "episode", "entity"]
    id: UUID
    why: str
    left: int = 0
    closest: float | None = None


@dataclass(frozen=True, slots=True)
class Scope:
    """All that goes, and what was looked at and stays."""

    doomed: Doomed
    kept: tuple[Kept, ...]


NOTHING: Final = Scope(Doomed(), ())

# Scripts that write words together, or endings onto names: Chinese, Japanese, Korean, Thai, Lao,
# Burmese and Khmer.
_UNPARTED: Final = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]"
)
_SIGN: Final = re.compile(r"([^\w\s])")
# "Brandts" and "Toms" are theirs; "also" is not Al's.
_INFLECTED: Final = 4

_UNDONE: Final = (
    "an undo removed it, and its past state names the erased entity: erase it by its id"
)

_ONCE: Final = "named the erased entity before it was changed, and its past state still does"
_FIRST_NAME: Final = "has the first name alone, and may be about the erased person or another"

_TABLES: Mapping[MemoryType, Any] = {"episode": episodes, "fact": facts, "rule": rules}


async def scope_of(tx: Transaction, target: Target) -> Scope:
    """What would go now.

    Raises:
        NotFound: there is nothing of that name; it may have been erased already.
    """
    if target.everything:
        return Scope(await erasure.everything(tx), ())
    named = await _named(tx, target)
    episode_ids, fact_ids, rule_ids = set(named.episodes), set(named.facts), set(named.rules)
    above = set(await erasure.sources(tx, sorted(fact_ids), sorted(rule_ids))) - episode_ids
    if target.sources:
        episode_ids |= above
        above = set()
    kept: dict[UUID, Kept] = {}
    # Facts first: a rule may rest on nothing but facts that go with their episodes.
    for kind, ids in (("fact", fact_ids), ("rule", rule_ids)):
        for row in await erasure.resting(tx, sorted(episode_ids), sorted(fact_ids)):
            if row["kind"] != kind or row["id"] in ids:
                continue
            if row["drawn"] and not row["episodes"] and not row["facts"]:
                ids.add(row["id"])
            else:
                kept[row["id"]] = _kept(row)
    for row in await _undone(tx, target, named, episode_ids, fact_ids):
        {"episode": episode_ids, "fact": fact_ids, "rule": rule_ids}[row["kind"]].add(row["id"])
    for id in sorted(above):
        kept[id] = Kept("episode", id, "what was erased was drawn from it, and it may still say so")
    for id in await erasure.versions(tx, sorted(fact_ids)):
        kept.setdefault(id, Kept("fact", id, "an earlier or later version of what was erased"))
    gone = episode_ids | fact_ids | rule_ids
    async for one in _naming_them(tx, named.entities):
        if one.id not in gone:
            kept.setdefault(one.id, one)
    doomed = Doomed(
        tuple(sorted(episode_ids)),
        tuple(sorted(fact_ids)),
        tuple(sorted(rule_ids)),
        named.entities,
    )
    return Scope(doomed, tuple(kept.values()))


async def _naming_them(tx: Transaction, entities: Sequence[UUID]) -> AsyncIterator[Kept]:
    """What names one of these entities, the surest first."""
    pattern = _naming(await erasure.names(tx, entities))
    if not pattern:
        return
    for row in await erasure.naming(tx, pattern):
        yield Kept(row["kind"], row["id"], "names the erased entity")
    for row in await erasure.other_names(tx, pattern, entities):
        yield Kept(
            row["kind"], row["id"], _ONCE if row["once"] else "has a name of the erased entity"
        )
    first = [one for one in await erasure.first_names(tx, entities) if _is_first_name(one)]
    for row in await erasure.first_naming(tx, _first_naming(first), first) if first else []:
        yield Kept(row["kind"], row["id"], _FIRST_NAME)
    for row in await erasure.removed(tx, Traces(pattern=pattern)):
        yield Kept(row["kind"], row["id"], _UNDONE)


async def _undone(
    tx: Transaction, target: Target, named: Doomed, episode_ids: set[UUID], fact_ids: set[UUID]
) -> list[Row]:
    """What an undo removed of all this: a past state is all that is left of it, and goes too."""
    pattern = _naming(await erasure.names(tx, named.entities), surely=True)
    traces = Traces(
        entities=named.entities,
        session=target.session_id,
        writer=target.writer,
        ids=() if target.memory is None else (target.memory[1],),
        pattern=pattern or None if target.mentions else None,
    )
    found: dict[UUID, Row] = {}
    while True:
        # What was drawn from one that was removed went before it, and is found by it.
        traces = replace(
            traces,
            episodes={*episode_ids, *(id for id, row in found.items() if row["kind"] == "episode")},
            facts={*fact_ids, *(id for id, row in found.items() if row["kind"] == "fact")},
        )
        new = {row["id"]: row for row in await erasure.removed(tx, traces)}
        if new.keys() <= found.keys():
            return list(found.values())
        found |= new


def _is_first_name(word: str) -> bool:
    """A capital, and no title: "Dr", "Mrs."."""
    return word[:1].isupper() and word.isalpha() and word.casefold() not in CAPITALISED


def _first_naming(names: Iterable[str]) -> str:
    """The regular expression of PostgreSQL for a first name alone: "Tom's", not "Tom Brandt"."""
    one = "|".join(sorted(names))
    return rf"(?:^|[^[:alnum:]-])(?:{one})(?![[:alnum:]]|-[[:upper:]]|\s+[[:upper:]])"


def _naming(names: Iterable[str], *, surely: bool = False) -> str:
    """The regular expression of PostgreSQL that finds texts with one of these names; "" for none.

    As words of their own, where their script parts words; a longer name also where it is inflected.
    `surely`: as they are written alone, and none of a single letter: "May" is not "may", and "Maria
    Silva" is not "Maria Silva-Costa".
    """
    found = []
    for name in sorted({" ".join(one.split()) for one in names} - {""}):
        if surely and len(name) == 1:
            continue
        escaped = _SIGN.sub(r"\\\1", name).replace(" ", r"\s+")
        if not _UNPARTED.search(name):
            ending = "[[:alpha:]]{0,2}" if len(name) >= _INFLECTED else "s?"
            ending = "" if surely else ending
            before, behind = ("(?<![[:alpha:]]-)", "(?!-[[:upper:]])") if surely else ("", "")
            escaped = f"(?:^|[^[:alnum:]]){before}{escaped}{ending}(?![[:alnum:]]){behind}"
        found.append(escaped)
    case_counts = "(?c)" if surely and found else ""
    return case_counts + "|".join(found)


def _kept(row: Mapping[str, Any]) -> Kept:
    others = [
        f"{row[name]} other {name if row[name] != 1 else name[:-1]}"
        for name in ("episodes", "facts")
        if row[name]
    ]
    why = f"rests on {' and '.join(others)}" if others else "was stored by itself, and only linked"
    return Kept(row["kind"], row["id"], why, row["episodes_left"], row["closest"])


async def _named(tx: Transaction, target: Target) -> Doomed:
    if target.memory is not None:
        kind, id = target.memory
        if not await _TABLES[kind].exists(tx, id) and kind not in {
            row["kind"] for row in await erasure.removed(tx, Traces(ids=(id,)))
        }:
            raise NotFound(f"there is no {kind} {id}; it may have been erased already")
        plural = {"episode": "episodes", "fact": "facts", "rule": "rules"}[kind]
        return Doomed(**{plural: (id,)})
    if target.entity_id is not None:
        family = await erasure.entity_family(tx, target.entity_id)
        if not family:
            raise NotFound(
                f"there is no entity {target.entity_id}; it may have been erased already"
            )
        about = await erasure.facts_about(tx, family)
        names = await erasure.names(tx, family) if target.mentions else []
        pattern = _naming(names, surely=True)
        named = erasure.by_kind(await erasure.naming(tx, pattern) if pattern else [])
        all_facts = tuple({*about, *named.facts})
        return Doomed(named.episodes, all_facts, named.rules, tuple(family))
    if target.message is not None:
        return Doomed(episodes=tuple(await erasure.of_message(tx, *target.message)))
    if target.writer is not None:
        writer = inputs.name("writer", target.writer)
        stored = await erasure.of_writer(tx, writer)
        if not stored.ids and not await erasure.removed(tx, Traces(writer=writer)):
            raise NotFound(
                f"there is nothing that {mistakes.named(writer)} stored; `memory-butler butlers` "
                "lists butlers, `memory-butler token list` the tokens; one called ana is token:ana"
            )
        return stored
    assert target.session_id is not None  # noqa: S101 -- exactly one is named
    found = await erasure.of_session(tx, target.session_id)
    if not found and not await erasure.removed(tx, Traces(session=target.session_id)):
        raise NotFound(
            f"no episode is of session {target.session_id}; it may have been erased already"
        )
    return Doomed(episodes=tuple(found))
