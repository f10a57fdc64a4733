"""Citus: the statements that spread the tables over machines by tenant, and what forbids it.

Which tables, keys and constraints there are is read from the catalog, so that a table of a later
migration is part of it. The rules are those of Citus for a table distributed by `tenant_id`: the
column is in each of its keys, each foreign key goes from tenant to the same tenant or to a
reference table, none sets columns of such a key to NULL, and there is no trigger.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import asyncpg

from memory_butler.domain.errors import ConfigurationError, Unavailable
from memory_butler.store.migrations.functions import FIRST
from memory_butler.store.queries import load
from memory_butler.store.schema import quoted
from memory_butler.store.transaction import CONNECT_TIMEOUT, OUTAGES, describe

SQL = load("distribution")

COLUMN: Final = "tenant_id"


@dataclass(frozen=True, slots=True)
class Key:
    """A primary key, a unique index or an exclusion of a table."""

    table: str
    name: str
    columns: Sequence[str]


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """A foreign key; `sets` where it sets columns to NULL or their default."""

    table: str
    name: str
    target: str
    columns: Sequence[str]
    targets: Sequence[str]
    sets: bool

    @property
    def within_tenant(self) -> bool:
        """Whether it leads from a tenant to the same tenant."""
        pairs = zip(self.columns, self.targets, strict=True)
        return (COLUMN, COLUMN) in pairs


@dataclass(frozen=True, slots=True)
class Catalog:
    """What the rules are about.

    `tables`: of tenants, where their primary key begins with it. `functions`: the signatures of
    those with the caller's rights, which queries call on the machine of the tenant, as they do
    those of `extensions`.
    """

    tables: dict[str, bool]
    keys: Sequence[Key]
    foreign_keys: Sequence[ForeignKey]
    triggers: Sequence[tuple[str, str]]
    functions: Sequence[str]
    extensions: Sequence[str]

    @property
    def of_tenants(self) -> list[str]:
        return [name for name, of_tenant in self.tables.items() if of_tenant]

    @property
    def references(self) -> list[str]:
        """Tables that every machine needs whole: tenants' tables refer to them."""
        found = {
            one.target
            for one in self.foreign_keys
            if self.tables[one.table] and not self.tables[one.target]
        }
        return sorted(found)

    @property
    def setting(self) -> list[ForeignKey]:
        """Foreign keys that Citus refuses, though they set other columns than the tenant's."""
        return [
            one
            for one in self.foreign_keys
            if one.sets and self.tables[one.table] and COLUMN in one.columns
        ]

    def obstacles(self) -> list[str]:
        """Each rule that is broken, in words; no statement of this program can fix one."""
        broken = [
            f"{key.table}: {key.name} is without {COLUMN}"
            for key in self.keys
            if self.tables[key.table] and COLUMN not in key.columns
        ]
        broken += [
            f"{one.table}: {one.name} leads to {one.target} without {COLUMN}"
            for one in self.foreign_keys
            if self.tables[one.table] and self.tables[one.target] and not one.within_tenant
        ]
        broken += [
            f"{one.table}: {one.name} leads from a table of all machines to one of tenants"
            for one in self.foreign_keys
            if not self.tables[one.table] and self.tables[one.target]
        ]
        broken += [
            f"{table}: has the trigger {name}"
            for table, name in self.triggers
            if self.tables[table]
        ]
        return broken

    def in_order(self) -> list[str]:
        """The tenants' tables, each after those that it refers to."""
        left, ordered = set(self.of_tenants), list[str]()
        while left:
            free = sorted(left - {one.table for one in self._between(left)})
            if not free:
                raise ConfigurationError(f"tables refer to each other in a circle: {sorted(left)}")
            ordered += free
            left -= set(free)
        return ordered

    def _between(self, tables: set[str]) -> Iterable[ForeignKey]:
        return (
            one
            for one in self.foreign_keys
            if {one.table, one.target} <= tables and one.table != one.target
        )


def statements(catalog: Catalog, done: frozenset[str], database: str) -> list[str]:
    """What is left to do, in order; nothing where every table is in `done`.

    Raises:
        ConfigurationError: the schema breaks a rule.
    """
    if broken := catalog.obstacles():
        raise ConfigurationError("the schema cannot be distributed: " + "; ".join(broken))
    ordered = catalog.in_order()
    references = [name for name in catalog.references if name not in done]
    left = [name for name in ordered if name not in done]
    functions = [name for name in catalog.functions if name not in done]
    if not references and not left and not functions:
        return []
    first = ordered[0]
    return [
        # A foreign key to a reference table forbids to work on several shards at once.
        "SET LOCAL citus.multi_shard_modify_mode = 'sequential'",
        # Else a reference table makes whatever refers to it a table that Citus keeps on one
        # machine, and such a table may not refer to a distributed one.
        "SET LOCAL citus.enable_local_reference_table_foreign_keys = off",
        *(
            f"ALTER TABLE public.{quoted(one.table)} DROP CONSTRAINT {quoted(one.name)}"
            for one in catalog.setting
        ),
        # Those that were there before Citus are on the coordinator alone.
        *(
            "SELECT run_command_on_workers('CREATE EXTENSION IF NOT EXISTS "
            f"{quoted(name)} WITH SCHEMA public')"
            for name in catalog.extensions
        ),
        *(f"SELECT create_distributed_function('{name}')" for name in functions),
        *(f"SELECT create_reference_table('public.{name}')" for name in references),
        *(
            f"SELECT create_distributed_table('public.{name}', '{COLUMN}', colocate_with => "
            f"'{'none' if name == first else f'public.{first}'}')"
            for name in left
        ),
        # Row-level security is held on the workers too, which must be told the tenant.
        f"ALTER DATABASE {quoted(database)} SET citus.propagate_set_commands = 'local'",
    ]


async def catalog(connection: "asyncpg.Connection[asyncpg.Record]") -> Catalog:
    """Read it."""

    async def found(name: str) -> list[dict[str, Any]]:
        return [dict(row) for row in await connection.fetch(SQL[name])]

    return Catalog(
        {row["name"]: row["of_tenant"] for row in await found("tables")},
        [Key(**row) for row in await found("uniques")],
        [ForeignKey(**row) for row in await found("foreign_keys")],
        [(row["table"], row["name"]) for row in await found("triggers")],
        # One is refused before those that it calls.
        sorted((row["name"] for row in await found("functions")), key=_place),
        [row["name"] for row in await found("extensions")],
    )


def _place(signature: str) -> int:
    return FIRST.index(signature.partition("(")[0])


async def planned(connection: "asyncpg.Connection[asyncpg.Record]") -> tuple[bool, list[str]]:
    """Whether Citus is there, and the statements that are left.

    Raises:
        ConfigurationError: there is no schema, or it breaks a rule.
    """
    known = await catalog(connection)
    if "facts" not in known.tables:
        raise ConfigurationError(
            "the database has no schema yet; run `memory-butler db init` first"
        )
    has_citus: bool = await connection.fetchval(SQL["has_citus"])
    done: frozenset[str] = frozenset()
    if has_citus:
        # A table of the extension, which is not there to prepare the query on where it is not.
        rows = await connection.fetch(
            "SELECT logicalrelid::regclass::text FROM pg_dist_partition"
            " UNION ALL SELECT objid::regprocedure::text FROM pg_catalog.pg_dist_object"
            " WHERE classid = 'pg_proc'::regclass"
        )
        done = frozenset(row[0].removeprefix("public.") for row in rows)
    database: str = await connection.fetchval("SELECT current_database()")
    return has_citus, statements(known, done, database)


async def connected(dsn: str) -> "asyncpg.Connection[asyncpg.Record]":
    """A connection for it.

    Raises:
        Unavailable: the database cannot be reached, or refuses the login.
    """
    try:
        return await asyncpg.connect(dsn, timeout=CONNECT_TIMEOUT)
    except OUTAGES as error:
        raise Unavailable(f"the database cannot be reached: {describe(error)}") from error
