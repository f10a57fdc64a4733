"""Citus: the statements that spread the tables over machines by tenant, and what forbids it.

Which tables, keys and constraints there are is read from the catalog, so that a table of a later
migration is part of it. The rules are those of Citus for a table distributed by `tenant_id`: the
column is in each of its keys, each foreign key goes from tenant to the same tenant or to a
reference table, none sets columns of such a key to NULL, and there is no trigger.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import asyncpg

from memory_butler.domain.errors import ConfigurationError
from memory_butler.store.migrations.functions import FIRST
from memory_butler.store.queries import load
from memory_butler.store.schema import Roles, quoted
from memory_butler.store.transaction import untenanted

SQL = load("distribution")

COLUMN: Final = "tenant_id"
# Functions that run at the coordinator alone: about logins, or about all tenants.
STAYING: Final = frozenset(
    {
        "authenticate",
        "erase_tenant_tokens",
        "tenant_mark",
        "tenant_move",
        "tenant_take_tokens",
        "tenant_tokens",
        "tenants_to_embed",
        "tenants_to_reembed",
        "tenants_to_seal",
        "tenants_with_work",
        "token_create",
        "token_list",
        "token_revoke",
        "token_used",
    }
)


# Functions that queries of one tenant call among others: Citus has them look at that tenant's rows
# on the machine where they are only if it is told to.
NESTED: Final = frozenset({"entities_named", "facts_referenced", "nearest_facts", "worded_facts"})
_NESTING: Final = "citus.allow_nested_distributed_execution"


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
class Function:
    """A function that runs on the machine of a tenant; which one its first argument may say."""

    signature: str
    name: str
    of_tenant: bool
    of_owner: bool
    settings: Sequence[str]

    @property
    def is_kept_apart(self) -> bool:
        """Whether it is called among others, and may not look at rows there yet."""
        return self.name in NESTED and f"{_NESTING}=on" not in self.settings


@dataclass(frozen=True, slots=True)
class Catalog:
    """What the rules are about.

    `tables`: of tenants, where their primary key begins with it. `functions`, `types` and `views`
    (a name and its text each) are used on the machine of the tenant, as `extensions` are.
    """

    tables: dict[str, bool]
    keys: Sequence[Key]
    foreign_keys: Sequence[ForeignKey]
    triggers: Sequence[tuple[str, str]]
    functions: Sequence[Function]
    types: Sequence[tuple[str, str, str]]
    views: Sequence[tuple[str, str]]
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


def statements(
    catalog: Catalog, done: frozenset[str], roles: Roles, database: str, *, lacking: bool = False
) -> list[str]:
    """What is left to do, in order; nothing where everything is in `done` and nothing `lacking`.

    Raises:
        ConfigurationError: the schema breaks a rule.
    """
    if broken := catalog.obstacles():
        raise ConfigurationError("the schema cannot be distributed: " + "; ".join(broken))
    ordered = catalog.in_order()
    references = [name for name in catalog.references if name not in done]
    left = [name for name in ordered if name not in done]
    functions = [one for one in catalog.functions if one.signature not in done]
    extensions = [name for name in catalog.extensions if name not in done]
    types = [one for one in catalog.types if one[0] not in done]
    views = [one for one in catalog.views if one[0] not in done]
    lacking = lacking or any(one.is_kept_apart for one in catalog.functions)
    if not (references or left or functions or extensions or types or views or lacking):
        return []
    first = ordered[0]
    owner, runtime = quoted(roles.owner), quoted(roles.runtime)
    return [
        # A foreign key to a reference table forbids to work on several shards at once.
        "SET LOCAL citus.multi_shard_modify_mode = 'sequential'",
        # Else a reference table makes whatever refers to it a table that Citus keeps on one
        # machine, and such a table may not refer to a distributed one.
        "SET LOCAL citus.enable_local_reference_table_foreign_keys = off",
        # The machines ask each other in the name of whoever asked, and polls over all tenants run
        # with the owner's rights. It has no password. Rows that are written while their shard moves
        # are written again by the owner, which PostgreSQL refuses while row-level security holds it
        # too: such a move would never end. The owner's policies let it see all rows anyway.
        f"ALTER ROLE {owner} LOGIN BYPASSRLS",
        *(
            f"ALTER TABLE public.{quoted(one.table)} DROP CONSTRAINT {quoted(one.name)}"
            for one in catalog.setting
        ),
        # What was there before Citus is on the coordinator alone; what is made with it is made on
        # every machine, on those that are added later too.
        *(
            line
            for name in extensions
            for line in (
                f"DROP EXTENSION {quoted(name)}",
                f"CREATE EXTENSION {quoted(name)} WITH SCHEMA public",
            )
        ),
        *(
            line
            for name, owned_by, columns in types
            for line in (
                f"DROP TYPE {name}",
                f"CREATE TYPE {name} AS ({columns})",
                f"ALTER TYPE {name} OWNER TO {quoted(owned_by)}",
            )
        ),
        *(
            f"SELECT create_distributed_function('{one.signature}')"
            for one in functions
            if not one.of_tenant
        ),
        *(f"SELECT create_reference_table('public.{name}')" for name in references),
        *(
            f"SELECT create_distributed_table('public.{name}', '{COLUMN}', colocate_with => "
            f"'{'none' if name == first else f'public.{first}'}')"
            for name in left
        ),
        *(
            f"SELECT create_distributed_function('{one.signature}', 'of_tenant', "
            f"colocate_with => 'public.{first}', force_delegation => true)"
            for one in functions
            if one.of_tenant
        ),
        *(
            f"ALTER FUNCTION {one.signature} SET {_NESTING} = on"
            for one in catalog.functions
            if one.is_kept_apart
        ),
        *(
            f"CREATE OR REPLACE VIEW {name} WITH (security_invoker = true) AS {text.rstrip(';')}"
            for name, text in views
        ),
        # What a function is made with elsewhere is the right of everybody to call it.
        *(
            f"REVOKE ALL ON FUNCTION {one.signature} FROM PUBLIC"
            for one in catalog.functions
            if one.of_owner
        ),
        *(f"GRANT EXECUTE ON FUNCTION {one.signature} TO {runtime}" for one in catalog.functions),
        f"GRANT USAGE ON SCHEMA public, memory_history TO {runtime}",
        # Row-level security is held on the workers too, which must be told the tenant.
        f"ALTER DATABASE {quoted(database)} SET citus.propagate_set_commands = 'local'",
        # Citus hides its shards from whoever reads the catalog, and what it adds to each such query
        # makes the driver's look at unknown types, thrice a connection, take half a second each.
        f"ALTER ROLE {runtime} IN DATABASE {quoted(database)} "
        "SET citus.override_table_visibility = off",
        # An upgrade makes functions on workers as the owner, who may name settings of pgvector only
        # where it is loaded.
        f"ALTER DATABASE {quoted(database)} SET session_preload_libraries = 'vector'",
    ]


def afterwards(roles: Roles) -> list[str]:
    """What Citus does not hand on, to be run on its workers once they have the views."""
    return [
        "GRANT SELECT ON ALL TABLES IN SCHEMA memory_history TO " + quoted(roles.runtime),
    ]


async def finish(connection: "asyncpg.Connection[asyncpg.Record]") -> list[str]:
    """Run that on each worker; what was run.

    Raises:
        ConfigurationError: a worker refused; run it again.
    """
    roles = Roles.of(await connection.fetchval("SELECT current_database()"))
    for command in afterwards(roles):
        for row in await connection.fetch(_ON_WORKERS, command):
            if not row["success"]:
                raise ConfigurationError(
                    f"{row['nodename']}:{row['nodeport']} refused {command!r}: {row['result']}. "
                    "Once it does not, run `memory-butler distribute` again."
                )
    return afterwards(roles)


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
        sorted(
            (Function(**row) for row in await found("functions") if row["name"] not in STAYING),
            key=_place,
        ),
        [(row["name"], row["owner"], row["columns"]) for row in await found("types")],
        [(row["name"], row["definition"]) for row in await found("views")],
        [row["name"] for row in await found("extensions")],
    )


def _place(function: Function) -> int:
    return FIRST.index(function.name) if function.name in FIRST else len(FIRST)


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
    lacking = False
    if has_citus:
        # Tables of the extension, which are not there to prepare the query on where it is not.
        rows = await connection.fetch(_DONE)
        done = frozenset(row[0].removeprefix("public.") for row in rows)
        lacking = not await connection.fetchval(SQL["has_roles"]) or bool(await lacks(connection))
    database: str = await connection.fetchval("SELECT current_database()")
    roles = Roles.of(database)
    return has_citus, statements(known, done, roles, database, lacking=lacking)


_DONE: Final = """
SELECT logicalrelid::regclass::text FROM pg_dist_partition
UNION ALL
SELECT CASE classid WHEN 'pg_proc'::regclass THEN objid::regprocedure::text
                    WHEN 'pg_type'::regclass THEN objid::regtype::text
                    WHEN 'pg_extension'::regclass THEN
                        (SELECT extname FROM pg_extension WHERE oid = objid)
                    ELSE objid::regclass::text END
FROM pg_catalog.pg_dist_object
WHERE classid IN ('pg_proc'::regclass, 'pg_type'::regclass, 'pg_class'::regclass,
                  'pg_extension'::regclass)
"""


async def lacks(connection: "asyncpg.Connection[asyncpg.Record]") -> dict[str, list[str]]:
    """What each worker lacks of what the coordinator has, or allows everybody and must not.

    By host and port, a line each; a worker that lacks nothing is left out. One that does not
    answer lacks an answer.
    """
    query = SQL["inventory"]
    expected = _lines(await connection.fetchval(query))
    found: dict[str, list[str]] = {}
    for row in await connection.fetch(_ON_WORKERS, query):
        if not row["success"]:
            told = [f"an answer: {row['result']}"]
        else:
            there = _lines(row["result"])
            told = sorted(expected - there)
            told += [f"a bar: {line}" for line in sorted(there - expected) if _is_open(line)]
        if told:
            found[f"{row['nodename']}:{row['nodeport']}"] = told
    return found


_ON_WORKERS: Final = (
    "SELECT nodename, nodeport, success, result FROM run_command_on_workers($1) ORDER BY 1, 2"
)


def _lines(text: str) -> set[str]:
    return {line for line in text.splitlines() if not _STAYS.match(line)}


_STAYS: Final = re.compile(rf"function (?:{'|'.join(sorted(STAYING))})\(")


def _is_open(line: str) -> bool:
    return line.endswith(" for everybody")


async def silent(pool: asyncpg.Pool) -> list[str]:
    """The workers that do not answer within two seconds, by host and port.

    Raises:
        Unavailable: the coordinator went away.
    """
    async with untenanted(pool) as connection, connection.transaction():
        await connection.execute("SET LOCAL citus.node_connection_timeout = 2000")
        return [row[0] for row in await connection.fetch(_SILENT)]


_SILENT: Final = """
SELECT nodename || ':' || nodeport FROM pg_dist_node
WHERE isactive AND shouldhaveshards AND noderole = 'primary'
  AND NOT citus_check_connection_to_node(nodename, nodeport)
ORDER BY 1
"""
