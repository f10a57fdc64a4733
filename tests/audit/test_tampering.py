"""Sixty seeded tamperings with a small log, of every kind: each is found where it was done."""

import random
from collections import Counter

import pytest
from bench.tampering import KINDS, audited, filled, scene_of, try_one

from conftest import Connection
from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory

pytestmark = pytest.mark.anyio


async def test_sixty_tamperings_are_found_and_located(
    sealed: Memory, principal: Principal, admin: Connection
) -> None:
    rng = random.Random(7)  # noqa: S311
    old = await filled(sealed, principal, 60, rng)
    scene = await scene_of(admin, sealed, principal.tenant, old, rng)
    async with admin.transaction():
        untouched = await audited(scene)
    assert untouched.breaks == []
    assert untouched.sealed >= 60
    assert untouched.erased > 0
    tried = [await try_one(scene, KINDS[number % len(KINDS)]) for number in range(60)]
    assert Counter(one.kind for one in tried) == dict.fromkeys(
        ("changed", "dropped", "inserted", "reordered", "truncated", "clock"), 10
    )
    assert [one for one in tried if not one.located] == []
