"""Looking at a database from outside, whatever state it is in; nothing is changed."""

import re
from contextlib import suppress
from dataclasses import dataclass

import asyncpg

from memory_butler.store.schema import HEAD, OLDEST, revision_of
from memory_butler.store.transaction import connected

# Where the iterative scans came, without which a filtered search of a large store finds too little.
MIN_PGVECTOR = (0, 8)


@dataclass(frozen=True, slots=True)
class Inspection:
    """What a login finds; `pgvector` and `revision` are None where there is none.

    `damaged`: pages whose checksum was wrong when they were read, since the statistics began.
    """

    server_version: str
    server_major: int
    pgvector: str | None
    role: str
    bypasses: bool
    revision: str | None
    damaged: int = 0
    head: str = HEAD

    @property
    def pgvector_is_new_enough(self) -> bool:
        numbers = [int(part) for part in re.findall(r"\d+", self.pgvector or "")]
        return tuple(numbers[:2]) >= MIN_PGVECTOR

    @property
    def is_upgraded_by_a_start(self) -> bool:
        """Whether it is older than this version, and the steps from there are known."""
        return self.revision is not None and OLDEST <= self.revision < self.head


async def inspect(dsn: str) -> Inspection:
    """Look at a database with one login.

    Raises:
        Unavailable: the database cannot be reached, or refuses the login.
    """
    async with connected(dsn) as connection:
        row = await connection.fetchrow(
            """
            SELECT current_setting('server_version') AS server_version,
                   current_setting('server_version_num')::integer / 10000 AS server_major,
                   (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS pgvector,
                   current_user AS role,
                   coalesce((SELECT checksum_failures FROM pg_stat_database
                             WHERE datname = current_database()), 0) AS damaged,
                   r.rolsuper OR r.rolbypassrls OR EXISTS (
                       SELECT 1 FROM pg_class c WHERE c.oid = to_regclass('public.facts')
                       AND pg_has_role(current_user, c.relowner, 'MEMBER')) AS bypasses
            FROM pg_roles r WHERE r.rolname = current_user
            """
        )
        revision = None
        with suppress(asyncpg.InsufficientPrivilegeError):
            revision = await revision_of(connection)
        return Inspection(**dict(row), revision=revision)
