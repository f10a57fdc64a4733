"""Predicates on the tenant that nothing else stands behind, each with its owner's view.

Functions that run as the owner see the rows of all tenants, and so does a login that row-level
security does not hold. So each is asked by both tenants: what one must not see, the other must.
"""

from uuid import UUID

import asyncpg
import pytest

from conftest import Connection
from memory_butler.domain.errors import NotFound
from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import store_fact
from memory_butler.engine.tokens import Authenticator, create_token, list_tokens, revoke_token
from memory_butler.store.transaction import transaction

pytestmark = pytest.mark.anyio


@pytest.fixture
async def facts(
    memory: Memory, principal: Principal, other_tenant: Principal
) -> dict[Principal, UUID]:
    """One fact of each tenant, alike in everything."""
    found = {}
    for one in (principal, other_tenant):
        id, _ = await store_fact(memory, one, "user", "likes", "green tea", tags=["drink"])
        found[one] = id
    return found


async def test_only_the_tenants_own_step_is_taken_back(
    pool: asyncpg.Pool, facts: dict[Principal, UUID], admin: Connection
) -> None:
    ours, theirs = facts
    step = await admin.fetchval(
        "SELECT step FROM memory_events WHERE tenant_id = $1 AND event_type = 'fact_created'",
        theirs.tenant,
    )

    async def left() -> set[UUID]:
        return {row["id"] for row in await admin.fetch("SELECT id FROM facts")}

    async with transaction(pool, ours.tenant) as tx:
        await tx.connection.execute("SELECT remove_made($1, $2)", ours.tenant, step)
        await tx.connection.execute("SELECT remove_made($1, $2)", theirs.tenant, step)
    assert await left() == set(facts.values())
    async with transaction(pool, theirs.tenant) as tx:
        await tx.connection.execute("SELECT remove_made($1, $2)", theirs.tenant, step)
    assert await left() == {facts[ours]}


async def test_a_token_is_revoked_by_its_own_tenant_alone(memory: Memory) -> None:
    made = await create_token(memory, "acme", "laptop", ["read"])
    authenticator = Authenticator(memory)
    with pytest.raises(NotFound):
        await revoke_token(memory, made.id, "zoo")
    assert await authenticator.principal(made.token) is not None
    assert [row["id"] for row in await list_tokens(memory, "acme")] == [made.id]
    await revoke_token(memory, made.id, "acme")
    assert await authenticator.principal(made.token) is None
