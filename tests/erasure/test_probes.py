"""What asks for the erased finds what is there: else a certificate would say nothing."""

from dataclasses import replace
from uuid import uuid4

import pytest

from conftest import Clock
from memory_butler.domain.principals import Principal
from memory_butler.engine.curate import confirm_memory
from memory_butler.engine.entities import create_entity
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import store_episode, store_fact, store_rule
from memory_butler.erasure.probes import MAX_SEARCHED, probe
from memory_butler.erasure.scope import Target, scope_of
from memory_butler.store import erasure
from memory_butler.store.transaction import transaction

pytestmark = pytest.mark.anyio


async def test_each_probe_finds_what_is_still_there(
    memory: Memory, principal: Principal, other_tenant: Principal, clock: Clock
) -> None:
    fact, _ = await store_fact(memory, principal, "Ana", "plays", "Ana plays the theremin")
    await store_rule(memory, principal, "Ask Ana for the theremin")
    await store_episode(memory, principal, "Ana showed the theremin", "general")
    await create_entity(memory, principal, "Ana with the theremin", "person")
    clock.advance(hours=1)
    await confirm_memory(memory, principal, "fact", fact)
    async with transaction(memory.pool, principal.tenant) as tx:
        doomed = (await scope_of(tx, Target(everything=True))).doomed
        texts = await erasure.texts(tx, doomed, 10)
        assert {one.kind for one in texts} == {"episode", "fact", "rule", "entity"}
        probes = await probe(tx, texts, clock(), memory.embedding_version_id)
    assert {one.path for one in probes if one.found} == {
        "id",
        "keyword",
        "nearest vector",
        "past states",
        "export",
    }
    assert probes[0].found == len(texts)
    # Of many, some of every kind are searched for.
    many = [*texts, *(replace(texts[0], id=uuid4()) for _ in range(3 * MAX_SEARCHED))]
    async with transaction(memory.pool, principal.tenant) as tx:
        probes = await probe(tx, sorted(many, key=lambda one: one.kind), clock(), 0)
    asked = {one.path: one.asked for one in probes}
    assert (asked["id"], asked["keyword"]) == (len(many), MAX_SEARCHED)
    assert next(one for one in probes if one.path == "keyword").found >= len(texts)
    # Another tenant's way to the same is closed, and its probes say so.
    async with transaction(memory.pool, other_tenant.tenant) as tx:
        probes = await probe(tx, texts, clock(), memory.embedding_version_id)
    assert {one.found for one in probes} == {0}
