"""The rows of a database, a table and a tenant at a time, in the text format of COPY."""

from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Protocol

import asyncpg

from memory_butler.store.schema import quoted

# As pg_dump has it: the text of a value must not depend on the settings of its server.
TEXT_FORMAT: Final = """
SET timezone = 'UTC'; SET datestyle = 'ISO'; SET intervalstyle = 'postgres';
SET extra_float_digits = 3
"""
_TENANT: Final = "tenant_id"
# Those of a database of ours, without what an extension brings.
_TABLES: Final = """
SELECT n.nspname AS schema, c.relname AS table,
       array_agg(a.attname::text ORDER BY a.attnum) AS columns
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
                       AND a.attgenerated = ''
WHERE c.relkind = 'r' AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
  AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
GROUP BY 1, 2 ORDER BY 1, 2
"""


@dataclass(frozen=True, slots=True)
class Table:
    """A table, and its columns that are stored."""

    schema: str
    table: str
    columns: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{quoted(self.schema)}.{quoted(self.table)}"

    def as_json(self) -> dict[str, Any]:
        """What `Rows.of` reads back."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows on their way in, read once."""

    table: Table
    pieces: Iterator[bytes]

    @classmethod
    def of(cls, said: Mapping[str, Any], pieces: Iterator[bytes]) -> "Rows":
        return cls(Table(said["schema"], said["table"], tuple(said["columns"])), pieces)


class Sink(Protocol):
    """Where rows go: a section begins, and then come its bytes."""

    def begin(self, tenant: str, head: Mapping[str, Any]) -> None:
        """Begin a section of a tenant; "" for what belongs to none."""

    def write(self, data: bytes) -> int:
        """Add bytes to the section."""


async def tables(connection: asyncpg.Connection) -> list[Table]:
    """All tables, as the catalog has them."""
    found = await connection.fetch(_TABLES)
    return [Table(row["schema"], row["table"], tuple(row["columns"])) for row in found]


async def copy_out(
    connection: asyncpg.Connection, tenants: Mapping[str, list[str]], sink: Sink
) -> None:
    """Write all rows; `tenants` has those with rows in a table, by its name."""

    async def write(data: bytes) -> None:
        sink.write(data)

    for table in await tables(connection):
        columns = ", ".join(map(quoted, table.columns))
        query = f"SELECT {columns} FROM {table.name}"  # noqa: S608 -- names of the catalog
        if _TENANT not in table.columns:
            sink.begin("", table.as_json())
            await connection.copy_from_query(query, output=write)
            continue
        for tenant in tenants.get(table.table, ()):
            sink.begin(tenant, table.as_json())
            await connection.copy_from_query(f"{query} WHERE {_TENANT} = $1", tenant, output=write)


async def copy_in(connection: asyncpg.Connection, rows: Rows) -> None:
    """Store rows in their table."""

    async def pieces() -> AsyncIterator[bytes]:
        for piece in rows.pieces:
            yield piece

    await connection.copy_to_table(
        rows.table.table,
        schema_name=rows.table.schema,
        columns=rows.table.columns,
        source=pieces(),
    )
