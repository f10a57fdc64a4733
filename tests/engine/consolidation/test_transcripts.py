"""CONP-07..09 with hand-written transcripts: what a good model answers, and what becomes of it.

No model is at work here. That one gives such answers is for `bench/consolidation.py` to show.
"""

import pytest

from conftest import Clock, Connection
from engine.store_views import event_types, row
from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import store_fact

from .scenes import consolidate, facts, links, statuses, tell, told

pytestmark = pytest.mark.anyio

GOOD_NEW_FACT = """\
The episode tells of a lasting restriction.

```json
{
  "new_facts": [
    {"subject": "user", "predicate": "dietary_restriction", "content": "Lactose intolerant",
     "permanence": "stable", "importance": 8, "tags": ["health"], "scope": "global",
     "source_episode_ids": ["E1"]}
  ],
  "updated_facts": [], "new_rules": [], "confirmations": [], "contradictions": []
}
```
"""

GOOD_UPDATE = """\
{"new_facts": [],
 "updated_facts": [
   {"target_id": "F1", "subject": "user", "predicate": "preferred_drink",
    "content": "Prefers tea over coffee", "permanence": "stable", "importance": 5,
    "source_episode_ids": ["E1"]}],
 "new_rules": [], "confirmations": []}
"""

GOOD_CONFIRMATION = """\
{"new_facts": [], "updated_facts": [], "new_rules": [], "confirmations": ["F1"]}
"""

GOOD_PERMANENCES = """\
{"new_facts": [
  {"subject": "user", "predicate": "name", "content": "John", "permanence": "permanent"},
  {"subject": "user", "predicate": "dietary_restriction", "content": "Lactose intolerant",
   "permanence": "stable"},
  {"subject": "user", "predicate": "current_interest", "content": "Currently reading Dune",
   "permanence": "standard"},
  {"subject": "user", "predicate": "recent_meal", "content": "Had ramen for dinner",
   "permanence": "ephemeral"}]}
"""


@pytest.mark.requirement("CONP-07", "LINK-10", "EXE-02", "CONS-02")
async def test_a_lactose_intolerant_user_is_a_new_stable_fact(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    (episode,) = await tell(memory, principal, "User mentioned they are lactose intolerant")
    report, asked = await consolidate(memory, principal, GOOD_NEW_FACT)
    assert "User mentioned they are lactose intolerant" in told(asked)
    (stored,) = await facts(admin)
    assert (stored["subject"], stored["predicate"]) == ("user", "dietary_restriction")
    assert (stored["content"], stored["permanence"]) == ("Lactose intolerant", "stable")
    assert (stored["decay_rate"], stored["confidence"]) == (0.002, 1.0)
    assert (stored["importance"], stored["tags"]) == (8.0, ["health"])
    assert (stored["source_butler"], stored["source_episode_id"]) == ("general", episode)
    assert await links(admin, "derived_from") == {(stored["id"], episode)}
    assert report.total("facts_created") == 1
    assert report.errors == []


@pytest.mark.requirement("CONP-08", "EXE-03")
async def test_tea_over_coffee_supersedes_the_fact_about_coffee(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    coffee, _ = await store_fact(
        memory, principal, "user", "preferred_drink", "User's preferred drink is coffee"
    )
    clock.advance(days=1)
    (episode,) = await tell(memory, principal, "User now prefers tea over coffee")
    report, asked = await consolidate(memory, principal, GOOD_UPDATE)
    assert "F1 [standard, global] user / preferred_drink: User's preferred drink" in told(asked)
    old, new = await facts(admin)
    assert (old["id"], old["validity"]) == (coffee, "superseded")
    assert (new["content"], new["validity"]) == ("Prefers tea over coffee", "active")
    assert new["supersedes_id"] == coffee
    assert await links(admin, "supersedes") == {(new["id"], coffee)}
    assert await links(admin, "derived_from") == {(new["id"], episode)}
    assert report.total("facts_updated") == 1
    assert report.errors == []


@pytest.mark.requirement("CONP-09", "EXE-06")
async def test_the_use_of_the_known_name_confirms_it(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    name, _ = await store_fact(memory, principal, "user", "name", "John", permanence="permanent")
    clock.advance(days=40)
    await tell(memory, principal, "John said good morning and asked for the weather")
    report, _ = await consolidate(memory, principal, GOOD_CONFIRMATION)
    stored = await row(admin, "facts", name)
    assert stored["last_confirmed_at"] == clock.now
    assert report.total("facts_confirmed") == 1
    assert await event_types(admin) == [
        "episode_consolidated",
        "episode_created",
        "fact_created",
        "memory_confirmed",
    ]


@pytest.mark.requirement("CONP-06", "CONP-03", "MS-03")
async def test_the_reference_classifications_are_stored_as_the_model_gives_them(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    text = "John is lactose intolerant, is currently reading Dune and had ramen for dinner"
    await tell(memory, principal, text)
    await consolidate(memory, principal, GOOD_PERMANENCES)
    assert {
        one["predicate"]: (one["permanence"], one["decay_rate"]) for one in await facts(admin)
    } == {
        "name": ("permanent", 0.0),
        "dietary_restriction": ("stable", 0.002),
        "current_interest": ("standard", 0.008),
        "recent_meal": ("ephemeral", 0.1),
    }
    assert set((await statuses(admin)).values()) == {"consolidated"}
