"""What erasing takes, and the taking, in the database."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from memory_butler.domain.steps import ITEM_KINDS, ItemKind
from memory_butler.store import episodes
from memory_butler.store.embeddings import Vector
from memory_butler.store.queries import load
from memory_butler.store.rows import Row, rows
from memory_butler.store.transaction import UNBOUNDED_SECONDS, Transaction, connected, unbounded

SQL = load("erasure")

_TENANTS_UNFINISHED: Final = (
    "SELECT DISTINCT tenant_id FROM erasures WHERE finished_at IS NULL ORDER BY 1"
)
# Of no tenant. Citus finds the machine of one by a plan for the values alone.
_PLAN_WITHOUT_VALUES: Final = (
    "SELECT set_config('plan_cache_mode', 'force_generic_plan', true)"
    " WHERE NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')"
)


@dataclass(frozen=True, slots=True)
class Doomed:
    """The ids that are to be erased, of each kind in their order."""

    episodes: tuple[UUID, ...] = ()
    facts: tuple[UUID, ...] = ()
    rules: tuple[UUID, ...] = ()
    entities: tuple[UUID, ...] = ()

    def of(self, kind: ItemKind) -> tuple[UUID, ...]:
        """Those of one kind."""
        return {
            "episode": self.episodes,
            "fact": self.facts,
            "rule": self.rules,
            "entity": self.entities,
        }[kind]

    @property
    def ids(self) -> frozenset[UUID]:
        """All of them."""
        return frozenset().union(*(self.of(kind) for kind in ITEM_KINDS))


@dataclass(frozen=True, slots=True)
class Text:
    """What an item says, and the `words` it is found by."""

    kind: ItemKind
    id: UUID
    content: str = field(repr=False)
    words: str = field(repr=False)
    embedding: Vector | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class Traces:
    """By what an undone memory is found: what it was of, drawn from or named. One is enough."""

    entities: Collection[UUID] = ()
    session: UUID | None = None
    writer: str | None = None
    episodes: Collection[UUID] = ()
    facts: Collection[UUID] = ()
    ids: Collection[UUID] = ()
    pattern: str | None = None


async def everything(tx: Transaction) -> Doomed:
    """All that the tenant remembers."""
    return Doomed(
        tuple(await _ids(tx, "all_episodes")),
        tuple(await _ids(tx, "all_facts")),
        tuple(await _ids(tx, "all_rules")),
        tuple(await _ids(tx, "all_entities")),
    )


async def of_session(tx: Transaction, session_id: UUID) -> list[UUID]:
    """The episodes of a session."""
    return await _ids(tx, "of_session", session_id)


async def of_writer(tx: Transaction, writer: str) -> Doomed:
    """What a butler, or an actor as events have it, stored and is still there.

    Every memory and event is read, which takes as long as `naming`.
    """
    await unbounded(tx)
    query, connection = SQL["of_writer"], tx.connection
    return by_kind(await connection.fetch(query, tx.tenant, writer, timeout=UNBOUNDED_SECONDS))


def by_kind(found: Sequence[Mapping[str, Any]]) -> Doomed:
    """Memories by what they are; each row has its `kind` and `id`."""
    return Doomed(
        *(
            tuple(row["id"] for row in found if row["kind"] == kind)
            for kind in ("episode", "fact", "rule")
        )
    )


async def entity_family(tx: Transaction, entity_id: UUID) -> list[UUID]:
    """An entity and all that were merged into it; [] where there is none."""
    return await _ids(tx, "entity_family", entity_id)


async def facts_about(tx: Transaction, entity_ids: Sequence[UUID]) -> list[UUID]:
    """Every fact of these entities, of whatever validity."""
    return await _ids(tx, "facts_about", list(entity_ids))


async def names(tx: Transaction, entity_ids: Sequence[UUID]) -> list[str]:
    """The names and aliases of these entities."""
    return [row["name"] for row in await tx.fetch(SQL["names"], list(entity_ids))]


async def versions(tx: Transaction, facts: Sequence[UUID]) -> list[UUID]:
    """What these facts replaced, and what replaced them, without themselves."""
    return [row["id"] for row in await tx.fetch(SQL["versions"], list(facts))]


async def naming(tx: Transaction, pattern: str) -> list[Row]:
    """`kind` and `id` of what has a match of a regular expression, in whatever state.

    Every text is read: in a large store that outlasts what a statement may take otherwise.
    """
    await unbounded(tx)
    found = await tx.connection.fetch(SQL["naming"], tx.tenant, pattern, timeout=UNBOUNDED_SECONDS)
    return rows(found)


async def other_names(tx: Transaction, pattern: str, but: Sequence[UUID]) -> list[Row]:
    """Other entities with a match in a name, and what had one before it was changed: `kind`, `id`,
    `once`."""
    await unbounded(tx)
    query, connection = SQL["other_names"], tx.connection
    found = await connection.fetch(query, tx.tenant, pattern, list(but), timeout=UNBOUNDED_SECONDS)
    return rows(found)


async def first_names(tx: Transaction, entity_ids: Sequence[UUID]) -> list[str]:
    """The first names of those that are persons and are called more than that."""
    return [row["name"] for row in await tx.fetch(SQL["first_names"], list(entity_ids))]


async def first_naming(tx: Transaction, pattern: str, names: Sequence[str]) -> list[Row]:
    """`kind` and `id` of what has a match, but for what is about an entity of such a first name."""
    await unbounded(tx)
    query, connection = SQL["first_naming"], tx.connection
    found = await connection.fetch(
        query, tx.tenant, pattern, list(names), timeout=UNBOUNDED_SECONDS
    )
    return rows(found)


async def removed(tx: Transaction, traces: Traces) -> list[Row]:
    """What undoing removed, and past states alone still have: `kind`, `id`, `label`.

    Also its `content`, and the `words` it was found by. Every past state is read, as by `naming`.
    """
    await unbounded(tx)
    found = await tx.connection.fetch(
        SQL["removed"],
        tx.tenant,
        [str(id) for id in traces.entities],
        traces.session,
        traces.writer,
        [str(id) for id in traces.episodes],
        [str(id) for id in traces.facts],
        list(traces.ids),
        traces.pattern,
        timeout=UNBOUNDED_SECONDS,
    )
    return rows(found)


async def sources(tx: Transaction, facts: Sequence[UUID], rules: Sequence[UUID]) -> list[UUID]:
    """The episodes that these were drawn from and that are still there."""
    return await _ids(tx, "sources", list(facts), list(rules))


async def resting(tx: Transaction, episodes: Sequence[UUID], facts: Sequence[UUID]) -> list[Row]:
    """What rests on these episodes and facts, and on what else.

    `kind`, `id`; `drawn`: from episodes at all; `episodes`, `facts`: how many others it rests on;
    `episodes_left`: how many of those are still there, `closest`: how like it the most alike is.
    """
    return rows(await tx.fetch(SQL["resting"], list(episodes), list(facts)))


async def texts(tx: Transaction, doomed: Doomed, limit: int) -> list[Text]:
    """What they say, locked until commit; of each kind the first `limit`."""
    found, asked = [], set[UUID]()
    for kind in ITEM_KINDS:
        query, ids = SQL[f"texts_of_{kind}"], list(doomed.of(kind)[:limit])
        asked.update(ids)
        found += [
            Text(kind, row["id"], row["content"], row["words"], row["embedding"])
            for row in await tx.fetch(query, ids)
        ]
    missing = asked - {one.id for one in found}
    # Of what an undo removed, its past state says it.
    undone = await removed(tx, Traces(ids=missing)) if missing else []
    return found + [
        Text(row["kind"], row["id"], row["content"], row["words"], None) for row in undone
    ]


async def messages(tx: Transaction, episode_ids: Sequence[UUID]) -> list[Row]:
    """The messages of journals that became these episodes: `companion`, `first`, `last`."""
    return rows(await tx.fetch(SQL["messages"], list(episode_ids)))


async def of_message(tx: Transaction, companion: str, id: int) -> list[UUID]:
    """The episodes of the sessions that hold a message of a journal."""
    found = await tx.fetch(SQL["of_message"], companion, id)
    return [row["id"] for row in found]


async def erase_memories(tx: Transaction, erasure_id: UUID, doomed: Doomed) -> dict[str, int]:
    """Erase them and all that speaks of them; rows a table."""
    # Planned for the ids as given, each event would be compared with every one of them: of 8,000
    # facts that took most of the time.
    await tx.connection.execute(_PLAN_WITHOUT_VALUES)
    found: dict[str, int] = await tx.fetchval(
        SQL["erase_memories"],
        erasure_id,
        list(doomed.episodes),
        list(doomed.facts),
        list(doomed.rules),
        list(doomed.entities),
    )
    await tx.connection.execute("SET LOCAL plan_cache_mode = DEFAULT")
    await episodes.unlink(tx, doomed.episodes)
    await tx.execute(SQL["unlink_successors"], list(doomed.facts))
    return found


async def erase_tenant(tx: Transaction) -> dict[str, int]:
    """Erase every row of the tenant; rows a table."""
    found: dict[str, int] = await tx.fetchval(SQL["erase_tenant"])
    return found | {"tokens": await erase_tokens(tx)}


async def erase_tokens(tx: Transaction) -> int:
    """Erase the tenant's tokens, and what ticks say of it; how many tokens."""
    count: int = await tx.fetchval(SQL["erase_tenant_tokens"])
    return count


async def record(
    tx: Transaction,
    id: UUID,
    target: Mapping[str, Any],
    actor: str,
    now: datetime,
    report: Mapping[str, Any],
) -> None:
    """Keep what was erased, in the transaction that did it."""
    await tx.execute(SQL["record"], id, target, actor, now, report)


async def unfinished(tx: Transaction) -> list[Row]:
    """Erasures that were cut off after their transaction, the oldest first."""
    return rows(await tx.fetch(SQL["unfinished"]))


async def tenants_unfinished(admin_dsn: str) -> list[str]:
    """The tenants with an erasure that is under way or was cut off, by a login that sees all."""
    async with connected(admin_dsn) as connection:
        return [row["tenant_id"] for row in await connection.fetch(_TENANTS_UNFINISHED)]


async def finish(tx: Transaction, id: UUID, now: datetime) -> None:
    """Say that nothing is left to do."""
    await tx.execute(SQL["finish"], id, now)


async def _ids(tx: Transaction, query: str, *arguments: object) -> list[UUID]:
    return [row["id"] for row in await tx.fetch(SQL[query], *arguments)]
