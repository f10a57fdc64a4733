"""What a year of use taught, for whatever happens in between.

A seed makes one history. A few run with the suite, more with HYPOTHESIS_PROFILE=nightly.
"""

import os
import random
from dataclasses import replace
from uuid import uuid4

import pytest

from conftest import Clock, Connection
from memory_butler.config import MemoryModuleConfig
from memory_butler.domain.principals import Principal
from memory_butler.engine.consolidation.run import run_consolidation
from memory_butler.engine.context import build_context
from memory_butler.engine.curate import forget_memory, get_memory
from memory_butler.engine.memory import Memory
from memory_butler.engine.recall import recall, search
from memory_butler.engine.remember import store_episode, store_fact, store_rule
from memory_butler.inference.language_models.scripted import ScriptedModel
from memory_butler.retrieval_config import RetrievalConfig

from .consolidation.scenes import answer, facts

pytestmark = pytest.mark.anyio

SEEDS = range(40 if os.environ.get("HYPOTHESIS_PROFILE") == "nightly" else 2)
BUTLERS = ("pantry", "diary")
THINGS = ("locker", "garage", "bicycle", "cellar", "mailbox", "studio", "boathouse", "allotment")
WAYS = (
    "User: the {thing} code is {code}\nAssistant: Noted.",
    "User: what is the {thing} code?\nAssistant: I do not know.\n"
    "User: it is {code}, the {thing} code",
    "The user said that the {thing} code is {code}",
    "User: hello there\nAssistant: Hi!\n"
    "User: by the way, {thing} code is {code} now\nAssistant: {fact}.",
)


def _noted(thing: str, code: int, source: str) -> dict[str, object]:
    return {
        "subject": thing,
        "predicate": "code",
        "content": f"The {thing} code is {code}",
        "permanence": "stable",
        "source_episode_ids": [source],
    }


async def _read(memory: Memory, principal: Principal, rng: random.Random) -> None:
    """Look something up, in one of the ways in which an agent does."""
    question = f"{rng.choice(THINGS)} code"
    butler, session = rng.choice(BUTLERS), rng.choice((None, uuid4()))
    match rng.randrange(4):
        case 0:
            await search(memory, principal, question, scope=butler, session_id=session)
        case 1:
            await recall(memory, principal, question, scope=butler, session_id=session)
        case 2:
            await build_context(memory, principal, question, butler, session_id=session)
        case _:
            for hit in await search(memory, principal, question, limit=1):
                await get_memory(memory, principal, hit.memory_type, hit.row["id"])


@pytest.mark.parametrize("seed", SEEDS)
async def test_whatever_the_user_says_is_known_after_the_next_run(
    memory: Memory, principal: Principal, clock: Clock, admin: Connection, seed: int
) -> None:
    rng = random.Random(seed)  # noqa: S311 -- no secret
    for _ in range(6):
        waiting: dict[str, list[dict[str, object]]] = {butler: [] for butler in BUTLERS}
        for _ in range(rng.randint(1, 4)):
            thing, code = rng.choice(THINGS), rng.randint(1000, 9999)
            butler = rng.choice(BUTLERS)
            fact = f"The {thing} code is {code}"
            text = rng.choice(WAYS).format(thing=thing, code=code, fact=fact)
            await store_episode(memory, principal, text, butler)
            waiting[butler].append(_noted(thing, code, f"E{len(waiting[butler]) + 1}"))
            for _ in range(rng.randint(0, 3)):
                clock.advance(minutes=rng.randint(1, 50))
                await _read(memory, principal, rng)
            clock.advance(minutes=1)
        # One butler after the other, as a run takes them; what was said last is said again.
        replies = [answer(new_facts=noted) for _, noted in sorted(waiting.items()) if noted]
        await run_consolidation(memory, principal, ScriptedModel(replies))
        known = {row["content"]: row["validity"] for row in await facts(admin)}
        said = [str(one["content"]) for noted in waiting.values() for one in noted]
        assert {known.get(one) for one in said} <= {"active", "superseded"}
        if rng.random() < 0.3:
            row = rng.choice([one for one in await facts(admin) if one["validity"] == "active"])
            await forget_memory(memory, principal, "fact", row["id"])
        clock.advance(hours=rng.randint(1, 60))


@pytest.mark.parametrize("seed", SEEDS)
async def test_the_rule_that_fits_best_is_shown_whatever_else_memory_holds(
    memory: Memory, principal: Principal, clock: Clock, seed: int
) -> None:
    rng = random.Random(seed)  # noqa: S311 -- no secret
    rules = {
        thing: await store_rule(memory, principal, f"Ask before opening the {thing} for a guest")
        for thing in rng.sample(THINGS, 4)
    }
    clock.advance(days=rng.randint(0, 60))
    for thing in THINGS:
        for n in range(rng.randint(2, 6)):
            await store_fact(
                memory,
                principal,
                thing,
                f"note_{n}",
                f"A guest opened the {thing} on day {n} of the month",
                importance=rng.randint(1, 10),
            )
    for thing, id in rules.items():
        question = f"A guest wants me to open the {thing}"
        found = await recall(memory, principal, question, limit=rng.choice((5, 10, 20)))
        assert id in [hit.row["id"] for hit in found]
        assert id in (await build_context(memory, principal, question, "pantry")).included


@pytest.mark.parametrize("seed", SEEDS)
async def test_no_reading_changes_what_comes_first(
    memory: Memory, principal: Principal, clock: Clock, seed: int
) -> None:
    rng = random.Random(seed)  # noqa: S311 -- no secret
    for thing in THINGS:
        await store_fact(
            memory, principal, thing, "code", f"The {thing} code is {rng.randint(1000, 9999)}"
        )
    clock.advance(days=rng.randint(1, 30))
    questions = [f"{thing} code" for thing in THINGS]

    async def firsts() -> list[object]:
        return [
            (await recall(memory, principal, one, limit=1, quiet=True))[0].row["id"]
            for one in questions
        ]

    before = await firsts()
    for _ in range(15):
        await _read(memory, principal, rng)
        clock.advance(minutes=rng.randint(1, 600))
    assert await firsts() == before


@pytest.mark.parametrize("seed", SEEDS)
async def test_a_context_with_room_leaves_out_nothing_that_bears_on_the_prompt(
    memory: Memory, principal: Principal, seed: int
) -> None:
    rng = random.Random(seed)  # noqa: S311 -- no secret
    config = MemoryModuleConfig(retrieval=RetrievalConfig(default_limit=rng.randint(1, 6)))
    memory = replace(memory, config=config)
    for thing in THINGS:
        code = rng.randint(1000, 9999)
        await store_fact(memory, principal, thing, "code", f"The {thing} code is {code}")
    prompt = "List the code of every place: " + ", ".join(THINGS)
    passed = {hit.row["id"] for hit in await recall(memory, principal, prompt, limit=50)}
    block = await build_context(memory, principal, prompt, "pantry", token_budget=20_000)
    assert len(passed) >= len(THINGS) - 2
    assert set(block.included) == passed
