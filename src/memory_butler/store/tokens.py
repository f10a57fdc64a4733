"""Tokens in the database. Only hashes come here; a token itself never does."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import asyncpg

from memory_butler.domain.errors import Frozen
from memory_butler.domain.principals import Scope, parse_scope
from memory_butler.store.queries import load
from memory_butler.store.rows import Row, rows
from memory_butler.store.transaction import BEGIN_TIMEOUT, untenanted

SQL = load("tokens")


@dataclass(frozen=True, slots=True)
class TokenHolder:
    """Whom a presented token belongs to."""

    token_id: UUID
    tenant: str
    name: str
    scopes: frozenset[Scope]


async def authenticate(pool: asyncpg.Pool, token_hash: bytes, now: datetime) -> TokenHolder | None:
    """The holder of a token that is neither revoked nor expired."""
    async with untenanted(pool) as connection:
        # It comes before everything that is asked: a database that has stopped is noticed here.
        row = await connection.fetchrow(SQL["authenticate"], token_hash, now, timeout=BEGIN_TIMEOUT)
    if row is None:
        return None
    scopes = frozenset(parse_scope(scope) for scope in row["token_scopes"])
    return TokenHolder(row["token_id"], row["tenant_id"], row["token_name"], scopes)


async def create(
    pool: asyncpg.Pool,
    tenant: str,
    name: str,
    token_hash: bytes,
    scopes: list[str],
    now: datetime,
    expires_at: datetime | None,
) -> UUID:
    """Admit a token, and its tenant where that is new; the token's id.

    Raises:
        Frozen: the tenant is moving to another installation, or has moved.
    """
    async with untenanted(pool) as connection:
        id: UUID | None = await connection.fetchval(
            SQL["create"], tenant, name, token_hash, scopes, now, expires_at
        )
    if id is None:
        raise Frozen(f"tenant {tenant} is moving or has moved: make its tokens where it goes")
    return id


async def listed(pool: asyncpg.Pool, tenant: str | None) -> list[Row]:
    """Every token of a tenant, or of all, the oldest first, revoked ones too."""
    async with untenanted(pool) as connection:
        return rows(await connection.fetch(SQL["list"], tenant))


async def revoke(pool: asyncpg.Pool, token_id: UUID, now: datetime) -> bool:
    """End a token; False where none is valid under that id.

    Raises:
        Frozen: its tenant is moving to another installation.
    """
    async with untenanted(pool) as connection:
        ended: bool | None = await connection.fetchval(SQL["revoke"], token_id, now)
    if ended is None:
        raise Frozen("the tenant of this token is moving: revoke it when it is there")
    return ended


async def used(pool: asyncpg.Pool, token_id: UUID, now: datetime) -> None:
    """Note the use of a token; the database keeps at most one a minute."""
    async with untenanted(pool) as connection:
        await connection.execute(SQL["used"], token_id, now)
