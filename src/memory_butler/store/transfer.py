"""Whole tenants, row by row, out of a database and into another.

Which tables and columns there are is read from the catalog, so that nothing is forgotten when a
migration adds some; hence the statements are put together here, and not in the `.sql` file.
"""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from memory_butler.domain.trust import DEFAULT_TRUST, Trust
from memory_butler.store.queries import load
from memory_butler.store.rows import Row, rows
from memory_butler.store.schema import quoted
from memory_butler.store.transaction import UNBOUNDED_SECONDS, Transaction, unbounded

SQL = load("transfer")

_TENANT = "tenant_id"
_MODEL = "embedding_version_id"
_TRUST = "trust"
# A row that says nothing of it, of an older version, is an agent's.
_AT_MOST = f"least(coalesce({{}}, {DEFAULT_TRUST:d}::smallint), $5::smallint)"
# The table of former states, and its column that has one, with the trust of then.
_PAST, _STATE = "memory_versions", "state"
_FETCHED = 500
_NAMED_MODEL = (
    "|| jsonb_build_object('model', (SELECT v.model_name || ' ' || v.version"
    " FROM embedding_versions v WHERE v.id = t.embedding_version_id))"
)


# Which rows of a table are of some memories and entities; of no other table is a row theirs alone.
_OF_ITEM: Final[Mapping[str, str]] = {
    **dict.fromkeys(("episodes", "facts", "rules", "entities", "memory_versions"), "id = ANY ($2)"),
    "memory_links": "source_id = ANY ($2) AND target_id = ANY ($2)",
    "rule_applications": "rule_id = ANY ($2)",
    "memory_events": " OR ".join(
        f"payload->>'{name}' = ANY ($2::uuid[]::text[])"
        for name in ("memory_id", "entity_id", "source_entity_id", "target_entity_id")
    ),
}


@dataclass(frozen=True, slots=True)
class Table:
    """A table of tenant data; `columns` are those that are stored, the tenant's name apart."""

    name: str
    columns: tuple[str, ...]
    generated: tuple[str, ...]
    key: tuple[str, ...]
    needs: frozenset[str]

    @property
    def order(self) -> tuple[str, ...]:
        """A row that refers to another of the same table comes after it: it was made later."""
        return ("created_at", *self.key) if self.name in self.needs else self.key


async def tables(tx: Transaction) -> list[Table]:
    """All of them, each after those that its rows refer to."""
    found = [
        Table(
            row["name"],
            tuple(column for column in row["columns"] if column != _TENANT),
            tuple(row["generated"] or ()),
            tuple(row["key"]),
            frozenset(row["needs"] or ()),
        )
        for row in await tx.connection.fetch(SQL["tables"])
    ]
    names = {table.name for table in found}
    ordered: list[Table] = []
    while len(ordered) < len(found):
        done = {table.name for table in ordered}
        ordered += [
            table
            for table in found
            if table.name not in done and not (table.needs & names) - done - {table.name}
        ]
    return ordered


async def count(tx: Transaction, table: Table, only: Sequence[UUID] | None = None) -> int:
    """How many rows the tenant has in it; or how many of them are of some memories and entities."""
    await unbounded(tx)
    which, given = _wanted(table, only)
    query = f"SELECT count(*) FROM {quoted(table.name)} WHERE tenant_id = $1{which}"  # noqa: S608
    total: int = await tx.connection.fetchval(query, tx.tenant, *given, timeout=UNBOUNDED_SECONDS)
    return total


def is_of_items(table: Table) -> bool:
    """Whether a row of it is of one memory or entity alone."""
    return table.name in _OF_ITEM


def _wanted(table: Table, only: Sequence[UUID] | None) -> tuple[str, list[object]]:
    return ("", []) if only is None else (f" AND ({_OF_ITEM[table.name]})", [list(only)])


async def digest(
    tx: Transaction, table: Table, ids: Collection[UUID] | None = None
) -> tuple[int, str]:
    """How many rows the tenant has in it, and the sum of the hashes of what they say.

    The same in every database: a model is named, not numbered. `ids` limits it to rows that have
    one of these in their column `id`.
    """
    dropped, more = [_TENANT, *table.generated], ""
    if _MODEL in table.columns:
        dropped.append(_MODEL)
        more = _NAMED_MODEL
    limited = "$3::uuid[] IS NULL" if ids is None else "t.id = ANY ($3::uuid[])"
    query = (
        "SELECT count(*), coalesce(sum(('x' || left(md5(said::text), 16))::bit(64)::bigint), 0)"  # noqa: S608
        f" FROM (SELECT to_jsonb(t) - $2::text[] {more} AS said FROM {quoted(table.name)} t"
        f" WHERE t.tenant_id = $1 AND {limited}) r"
    )
    given = (tx.tenant, dropped, None if ids is None else list(ids))
    row = await tx.connection.fetchrow(query, *given, timeout=UNBOUNDED_SECONDS)
    return row[0], str(row[1])


async def ids(tx: Transaction, table: Table) -> list[UUID]:
    """The column `id` of the tenant's rows, which are few."""
    query = f"SELECT id FROM {quoted(table.name)} WHERE tenant_id = $1"  # noqa: S608
    return [row["id"] for row in await tx.fetch(query)]


async def dump(
    tx: Transaction,
    table: Table,
    leave_out: Collection[str],
    only: Sequence[UUID] | None = None,
) -> AsyncIterator[str]:
    """The tenant's rows as JSON objects, as PostgreSQL writes them: no number loses a digit.

    With `only`: those of these memories and entities.
    """
    # The first row may come when all are sorted: of a hundred thousand facts that takes seconds.
    await unbounded(tx)
    order = ", ".join(quoted(column) for column in table.order)
    # By name: to write a vector as text and leave it out then takes most of the time.
    wanted = ", ".join(quoted(column) for column in table.columns if column not in leave_out)
    name = quoted(table.name)
    which, given = _wanted(table, only)
    rows = f"SELECT {wanted} FROM {name} WHERE tenant_id = $1{which} ORDER BY {order}"  # noqa: S608
    query = f"SELECT to_jsonb(t)::text FROM ({rows}) t"  # noqa: S608 -- of the catalog
    async for row in tx.connection.cursor(
        query, tx.tenant, *given, prefetch=_FETCHED, timeout=UNBOUNDED_SECONDS
    ):
        yield row[0]


async def restore(
    tx: Transaction,
    table: Table,
    columns: Sequence[str],
    lines: Sequence[str],
    models: Mapping[int, int],
    most: Trust,
) -> int:
    """Store rows that are not there yet, each the member `row` of a line; how many were new.

    Args:
        columns: those that the rows have.
        models: by the ids of embedding models in the rows, their ids here.
        most: the most that any of them, or a past state of it, is trusted.
    """
    if _TRUST in table.columns and _TRUST not in columns:
        columns = [*columns, _TRUST]
    names = [_TENANT, *columns]
    model = (
        "(SELECT m.here FROM unnest($3::integer[], $4::integer[])"  # noqa: S608 -- of the catalog
        " AS m (there, here)"
        f" WHERE m.there = r.{_MODEL})"
    )
    told = f"r.{_STATE} ->> '{_TRUST}'"
    instead = {
        _MODEL: model,
        _TRUST: _AT_MOST.format(f"r.{_TRUST}"),
        _STATE: (
            f"CASE WHEN r.{_STATE} ? '{_TRUST}' THEN jsonb_set(r.{_STATE}, '{{{_TRUST}}}',"
            f" to_jsonb({_AT_MOST.format(f'({told})::smallint')})) ELSE r.{_STATE} END"
        ),
    }
    own = {_MODEL, _TRUST, *([_STATE] if table.name == _PAST else [])}
    # The parameters are named even where the rows have neither a model nor a level.
    values = [
        "$1::text",
        *(instead[column] if column in own else f"r.{quoted(column)}" for column in columns),
    ]
    query = (
        f"INSERT INTO {quoted(table.name)} ({', '.join(map(quoted, names))})"  # noqa: S608
        f" SELECT {', '.join(values)}"
        " FROM unnest($2::text[]) WITH ORDINALITY AS l (line, place),"
        f" jsonb_populate_record(NULL::{quoted(table.name)}, l.line::jsonb -> 'row') r"
        " WHERE cardinality($3::integer[]) = cardinality($4::integer[])"
        " AND $5::smallint IS NOT NULL"
        f" ORDER BY l.place ON CONFLICT ({', '.join(map(quoted, table.key))}) DO NOTHING"
    )
    done: str = await tx.execute(query, list(lines), list(models), list(models.values()), most)
    return int(done.rpartition(" ")[2])


async def models(tx: Transaction) -> list[Row]:
    """The models that made vectors."""
    return rows(await tx.connection.fetch(SQL["models"]))


async def model_ids(tx: Transaction, known: Sequence[Mapping[str, Any]]) -> dict[int, int]:
    """By the ids of these models elsewhere, their ids here; one that is new is made known."""
    found = {}
    for model in known:
        name, version = model["model_name"], model["version"]
        await tx.connection.execute(SQL["know_model"], name, version, model["dimensions"])
        found[model["id"]] = await tx.connection.fetchval(SQL["model"], name, version)
    return found
