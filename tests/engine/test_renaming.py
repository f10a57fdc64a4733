"""Several facts get other subjects as one change."""

from dataclasses import replace
from uuid import UUID, uuid4

import pytest

from memory_butler.domain.errors import Conflict, InvalidInput, NotFound
from memory_butler.domain.principals import Principal
from memory_butler.engine.browse.looks import look_at_fact
from memory_butler.engine.edits import rename_facts
from memory_butler.engine.memory import Memory
from memory_butler.engine.recall import recall
from memory_butler.engine.remember import store_fact

pytestmark = pytest.mark.anyio


async def _subject(memory: Memory, principal: Principal, id: UUID) -> tuple[str, str]:
    row = (await look_at_fact(memory, principal, id)).row
    return row["subject"], row["validity"]


async def test_facts_are_renamed_together(memory: Memory, principal: Principal) -> None:
    one, _ = await store_fact(memory, principal, "a", "file", "green tea")
    two, _ = await store_fact(memory, principal, "b", "file", "word " * 13_000)
    renamed = await rename_facts(memory, principal, {one: "c", two: "a"})
    assert list(renamed) == [one, two]
    assert await _subject(memory, principal, one) == ("a", "superseded")
    assert await _subject(memory, principal, renamed[one]) == ("c", "active")
    assert await _subject(memory, principal, renamed[two]) == ("a", "active")
    assert [hit.row["id"] for hit in await recall(memory, principal, "green tea", limit=1)] == [
        renamed[one]
    ]


async def test_one_that_cannot_be_renamed_stops_all(memory: Memory, principal: Principal) -> None:
    other = replace(principal, tenant="somebody-else")
    theirs, _ = await store_fact(memory, other, "z", "file", "theirs")
    one, _ = await store_fact(memory, principal, "a", "file", "one")
    two, _ = await store_fact(memory, principal, "b", "file", "two")
    await store_fact(memory, principal, "taken", "file", "three")
    for last, error in (
        ({two: "taken"}, Conflict),
        ({two: " "}, InvalidInput),
        ({theirs: "mine"}, NotFound),
        ({uuid4(): "nobody's"}, NotFound),
    ):
        with pytest.raises(error):
            await rename_facts(memory, principal, {one: "c", **last})
        assert await _subject(memory, principal, one) == ("a", "active")
        assert await _subject(memory, principal, two) == ("b", "active")
    assert await _subject(memory, other, theirs) == ("z", "active")
