"""Tokens: made once, shown once, kept as a hash."""

import hashlib
import secrets
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol
from uuid import UUID

import asyncpg

from memory_butler.domain.errors import InvalidInput, NotFound, Unavailable
from memory_butler.domain.principals import Principal, parse_scope, parse_tenant
from memory_butler.engine import inputs
from memory_butler.engine.memory import Memory
from memory_butler.store import tokens
from memory_butler.store.rows import Row

# Marks a secret of ours for people and for secret scanners.
TOKEN_PREFIX = "mbt_"  # noqa: S105 -- the prefix of every token, no secret
_TOKEN_BYTES = 32


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token just made; nobody can read it again later."""

    id: UUID
    token: str
    tenant: str
    name: str
    scopes: tuple[str, ...]
    expires_at: datetime | None


async def create_token(
    memory: Memory,
    tenant: str,
    name: str,
    scopes: Sequence[str],
    lifetime: timedelta | None = None,
) -> NewToken:
    """Let somebody into a tenant.

    Raises:
        InvalidInput: no such scope, or no tenant name.
    """
    allowed = tuple(dict.fromkeys(parse_scope(scope) for scope in scopes))
    now = memory.clock()
    expires_at = None if lifetime is None else now + lifetime
    called = inputs.name("name", name)
    token = TOKEN_PREFIX + secrets.token_urlsafe(_TOKEN_BYTES)
    id = await tokens.create(
        memory.pool,
        parse_tenant(tenant),
        called,
        _hash(token),
        list(allowed),
        now,
        expires_at,
    )
    return NewToken(id, token, tenant, called, allowed, expires_at)


async def list_tokens(memory: Memory, tenant: str | None = None) -> list[Row]:
    """All tokens, or those of one tenant, without their secrets."""
    return await tokens.listed(memory.pool, None if tenant is None else parse_tenant(tenant))


async def revoke_token(memory: Memory, token_id: UUID | str, tenant: str | None = None) -> None:
    """End a token at once: of any tenant, or only if it is of this one.

    Raises:
        NotFound: no valid token has this id.
    """
    id = inputs.uuid("token_id", token_id)
    theirs = tenant is not None and id not in {
        row["id"] for row in await list_tokens(memory, tenant)
    }
    if theirs or not await tokens.revoke(memory.pool, id, memory.clock()):
        raise NotFound(f"no valid token has the id {id}; `memory-butler token list` shows them")


async def token_named(memory: Memory, tenant: str, name: str) -> UUID | None:
    """The valid token of a tenant that is called so; None where there is none.

    Raises:
        InvalidInput: several are; the error has their ids.
    """
    now = memory.clock()
    found: list[UUID] = [
        row["id"]
        for row in await list_tokens(memory, tenant)
        if row["name"] == name
        and row["revoked_at"] is None
        and (row["expires_at"] is None or row["expires_at"] > now)
    ]
    if len(found) > 1:
        ids = ", ".join(map(str, found))
        raise InvalidInput(
            f"{len(found)} valid tokens are called {name}: {ids}; name one of them by its id"
        )
    return found[0] if found else None


class Database(Protocol):
    """What a token is looked up in: a `Memory`, or less."""

    @property
    def pool(self) -> asyncpg.Pool: ...
    @property
    def clock(self) -> Callable[[], datetime]: ...


class Authenticator:
    """From a presented token to the principal that it stands for.

    The database is asked every time, so that a revocation holds at once. Only while it is away does
    a token that was good within the last five minutes still count: then memory can say that it is
    unavailable, or give the bare context, to those who may hear it (FAIL-01).
    """

    REMEMBERED = timedelta(minutes=5)
    MAX_REMEMBERED = 1000

    def __init__(self, memory: Database) -> None:
        self._memory = memory
        self._known: OrderedDict[bytes, tuple[Principal, datetime]] = OrderedDict()
        self._noted: dict[UUID, datetime] = {}

    async def principal(self, token: str) -> Principal | None:
        """Whom the token stands for; None when it is unknown, revoked or expired."""
        hashed, now = _hash(token), self._memory.clock()
        try:
            holder = await tokens.authenticate(self._memory.pool, hashed, now)
            if holder is not None:
                await self._note(holder.token_id, now)
        except Unavailable:
            remembered = self._known.get(hashed)
            if remembered is None or now - remembered[1] > self.REMEMBERED:
                raise
            return remembered[0]
        if holder is None:
            self._known.pop(hashed, None)
            return None
        principal = Principal(holder.tenant, f"token:{holder.name}", holder.scopes)
        self._known[hashed] = (principal, now)
        self._known.move_to_end(hashed)
        if len(self._known) > self.MAX_REMEMBERED:
            self._known.popitem(last=False)
        return principal

    async def _note(self, token_id: UUID, now: datetime) -> None:
        """Keep when a token was last used, at most once a minute."""
        last = self._noted.get(token_id)
        if last is None or now - last > timedelta(minutes=1):
            self._noted[token_id] = now
            await tokens.used(self._memory.pool, token_id, now)


def _hash(token: str) -> bytes:
    # The token has 256 random bits: a plain hash cannot be searched backwards, and needs no salt.
    # JSON can spell an unpaired surrogate; no token has one.
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
