"""A prompt that asks for several things, or for one beside something else, gets each of them."""

from uuid import UUID

import pytest

from memory_butler.domain.principals import Principal
from memory_butler.engine.context import build_context
from memory_butler.engine.memory import Memory
from memory_butler.engine.recall import recall, search
from memory_butler.engine.remember import store_fact, store_rule

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("SRCH-01")]

HOUSE = (
    ("plumber", "number", "Our plumber is Vera Quill, 0151 496 0321"),
    ("school", "play", "The school play is on 12 June at six"),
    ("Ben", "allergy", "Ben is allergic to walnuts"),
    ("car", "insurance", "The car is insured with Northern Mutual, policy NM 4471"),
    ("cellar", "light", "The light switch of the cellar is behind the coats"),
    ("bins", "day", "The paper bin is collected on Thursdays"),
    ("Ida", "school", "Ida goes to Elm Road School, class 4b"),
    ("cat", "vet", "The cat's vet is Dr Marsh on Mill Lane"),
)


@pytest.fixture
async def house(memory: Memory, principal: Principal) -> dict[str, UUID]:
    """The facts, by their subject; and a rule."""
    ids = {one[0]: (await store_fact(memory, principal, *one))[0] for one in HOUSE}
    ids["rule"] = await store_rule(memory, principal, "Get three quotes for any repair above £300")
    return ids


@pytest.mark.parametrize(
    ("prompt", "needed"),
    [
        ("Who is our plumber, and when is the school play?", {"plumber", "school"}),
        ("Which policy number has the car? Also, what can't Ben eat?", {"car", "Ben"}),
        ("What is the capital of Paraguay? Who is our plumber?", {"plumber"}),
        ("What is the longest river in Asia? When is the school play?", {"school"}),
        ("what is the longest river in Asia\nwhen is the school play", {"school"}),
        ("Book the repair of the garage door, they say £450. Who is the vet?", {"rule", "cat"}),
        ("What causes hiccups? Somebody scratched the car in the car park.", {"car"}),
        (
            "Good morning! The bus was late again and I am soaked. Where is the light switch of "
            "the cellar? Please keep the answer short, I am on my phone.",
            {"cellar"},
        ),
    ],
)
async def test_each_thing_is_found(
    memory: Memory, principal: Principal, house: dict[str, UUID], prompt: str, needed: set[str]
) -> None:
    block = await build_context(memory, principal, prompt, "house")
    assert {house[one] for one in needed} <= set(block.included)
    hits = await recall(memory, principal, prompt)
    found = [hit.row["id"] for hit in hits]
    assert {house[one] for one in needed} <= set(found[: 2 * len(needed)])
    assert len(set(found)) == len(found)


@pytest.mark.usefixtures("house")
async def test_two_things_that_memory_knows_nothing_about_get_nothing(
    memory: Memory, principal: Principal
) -> None:
    for prompt in (
        "What are the rules of curling? Define opportunity cost.",
        "How many bytes are in a kibibyte? Write a limerick on a pirate.",
        "How many bytes are in a kibibyte? Thank you so much!",
        "Thank you so much! How does a lock gate work?",
        "1. What is photosynthesis?\n2. Name three noble gases\n3. Who discovered penicillin?",
        "thanks. now translate to French: who is your plumber? when is the play?",
    ):
        assert await recall(memory, principal, prompt) == [], prompt


async def test_a_search_weighs_no_part_that_bears_on_nothing(
    memory: Memory, principal: Principal, house: dict[str, UUID]
) -> None:
    asked = "What is Ben allergic to? Answer in exactly two sentences."
    first, *_ = await search(memory, principal, asked, mode="deep")
    assert first.row["id"] == house["Ben"]
    assert len(await search(memory, principal, "Blue moons sing. Seven ate nine.")) > 0


async def test_each_thing_is_found_as_it_was_known_before(
    memory: Memory, principal: Principal, house: dict[str, UUID]
) -> None:
    then = memory.at(memory.clock())
    hits = await recall(then, principal, "Who is our plumber?\nWhat is a fugue?\nWho is the vet?")
    assert {house["plumber"], house["cat"]} <= {hit.row["id"] for hit in hits[:4]}
    assert all(hit.explain()["relevance_probability"] == hit.relevance for hit in hits)
