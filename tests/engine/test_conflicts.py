"""Facts that repeat or contradict each other: found when the newer is stored, settled by choice."""

import asyncio
import time
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from conftest import NOW, Clock, Connection
from engine.consolidation.scenes import answer, consolidate, tell
from engine.store_views import event_types, row
from memory_butler.domain.errors import Conflict, IntegrityViolation, InvalidInput, NotFound
from memory_butler.domain.permanence import decay_rate_of
from memory_butler.domain.principals import Principal
from memory_butler.engine.conflicts import Choice, OpenConflict, list_conflicts, settle
from memory_butler.engine.context import build_context
from memory_butler.engine.curate import confirm_memory, restore_memory
from memory_butler.engine.edits import edit_fact, rename_facts
from memory_butler.engine.entities import create_entity
from memory_butler.engine.lifecycle import sweep
from memory_butler.engine.linking import create_link, get_links
from memory_butler.engine.memory import Memory
from memory_butler.engine.recall import recall
from memory_butler.engine.receipts import replay
from memory_butler.engine.remember import keep, store_episode, store_fact
from memory_butler.engine.writing import Written, new_fact

pytestmark = pytest.mark.anyio


async def _open(memory: Memory, principal: Principal) -> list[OpenConflict]:
    total, found = await list_conflicts(memory, principal, 50, 0)
    assert total == len(found)
    return found


async def _kept(
    memory: Memory, principal: Principal, predicate: str, content: str
) -> tuple[UUID, Written]:
    fact = new_fact(memory, "user", predicate, content)
    return fact.id, (await keep(memory, principal, fact)).written


async def test_a_contradiction_is_linked_and_shown_with_both_sources(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    said = await store_episode(memory, principal, "I write with my left hand", "general")
    left, _ = await store_fact(
        memory, principal, "user", "hand", "is left-handed", source_episode_id=said
    )
    clock.advance(days=1)
    right, written = await _kept(memory, principal, "handedness", "is right-handed")
    (like,) = written.alike
    assert (like.id, like.kind, like.content) == (left, "contradiction", "is left-handed")
    assert 0.55 <= like.nearness < 1
    (link,) = await get_links(memory, principal, "fact", str(left), "incoming")
    assert (link["source_id"], link["relation"]) == (right, "contradicts")
    (one,) = await _open(memory, principal)
    assert (one.earlier["id"], one.later["id"], one.kind) == (left, right, "contradiction")
    assert (one.earlier_source, one.later_source) == ("I write with my left hand", None)


async def test_of_each_kind_the_newest_are_found_however_many_there_are_of_another(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    for predicate, content in (
        ("hand", "left-handed"),
        ("handedness", "right-handed"),
        ("pet", "Has a grey cat called Mimi"),
        ("animal", "Has a grey cat called Mimi"),
        ("car", "Drives a red Volvo estate"),
        ("vehicle", "Drives a red Volvo estate"),
    ):
        clock.advance(minutes=1)
        await store_fact(memory, principal, "Berengar", predicate, content)
    total, found = await list_conflicts(memory, principal, 2, 0, of_each=1)
    shown = [(one.kind, one.later["predicate"]) for one in found]
    assert (total, shown) == (3, [("duplicate", "vehicle"), ("contradiction", "handedness")])


async def test_a_repetition_is_kept_and_marked(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    known, _ = await store_fact(memory, principal, "user", "height", "1.83 m tall")
    again, written = await _kept(memory, principal, "body_height", "is 183 cm tall")
    assert [(one.id, one.kind) for one in written.alike] == [(known, "duplicate")]
    stored = await row(admin, "facts", again)
    assert (stored["validity"], stored["metadata"]["resembles"]) == (
        "active",
        {str(known): "duplicate"},
    )
    (one,) = await _open(memory, principal)
    assert one.kind == "duplicate"
    # An edit that makes another statement of it resembles nothing.
    await edit_fact(memory, principal, str(again), {"content": "sings in a choir on Sundays"})
    assert await _open(memory, principal) == []


async def test_what_differs_is_nobodys_conflict(memory: Memory, principal: Principal) -> None:
    await store_fact(memory, principal, "user", "hand", "is left-handed")
    _, same_key = await _kept(memory, principal, "hand", "is right-handed")
    assert same_key.supersedes_id is not None  # C-21, and nothing to ask
    other = replace(principal, tenant="other")
    _, elsewhere = await _kept(memory, other, "handedness", "is left-handed")
    _, apart = await _kept(memory, principal, "hobby", "plays the cello")
    assert (same_key.alike, elsewhere.alike, apart.alike) == ((), (), ())
    assert await _open(memory, principal) == []
    _, here = await _kept(memory, principal, "handedness", "is left-handed")
    assert len(here.alike) == 1


async def test_what_is_known_of_the_same_under_another_key_is_told(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    known, _ = await store_fact(memory, principal, "user", "bike", "Rides a green Batavus")
    await store_fact(memory, principal, "Ida", "bike", "Rides a green Batavus")
    for day in ("Mon", "Tue", "Wed", "Thu"):
        await store_fact(memory, principal, "user", f"lunch_{day}", f"On {day} lunch is at noon")
    new, written = await _kept(memory, principal, "cycle", "Rides a blue Koga, the Batavus is sold")
    # Only what is about the user, and neither a conflict nor kept with the fact.
    assert ([one.id for one in written.related], written.alike) == ([known], ())
    assert "resembles" not in (await row(admin, "facts", new))["metadata"]
    # Whoever reuses a key knows it, and three are enough.
    _, again = await _kept(memory, principal, "cycle", "Rides a blue Koga with a basket")
    assert (again.supersedes_id, again.related) == (new, ())
    _, another = await _kept(memory, principal, "lunch_Fri", "On Fri lunch is at noon")
    assert len((*another.related, *another.alike)) == 3


async def test_a_first_name_that_two_people_have_contradicts_neither(
    memory: Memory, principal: Principal, other_tenant: Principal, clock: Clock
) -> None:
    """Of one person alone it does; of two nobody knows which one is meant."""
    weber, _ = await store_fact(
        memory, principal, "Anna Weber", "birthday", "Anna Weber was born on 14 July 2011"
    )

    async def said(content: str, subject: str = "Anna", predicate: str = "birthday") -> Written:
        clock.advance(minutes=1)
        fact = new_fact(memory, subject, predicate, content)
        return (await keep(memory, principal, fact)).written

    # Another tenant's Anna is nobody here.
    await create_entity(memory, other_tenant, "Anna Kowalska", "person")
    (like,) = (await said("Anna was born on 1 May 1990")).alike
    assert (like.id, like.kind) == (weber, "contradiction")
    # One who is registered, and one of whom the same is known.
    await create_entity(memory, principal, "Anna Kowalska", "person")
    written = await said("Anna was born on 2 May 1990")
    assert (written.alike, [one.id for one in written.related]) == ((), [])
    for name, day in (("Sam Ortiz", 3), ("Sam Keller", 4)):
        content = f"{name} was born on {day} June 1980"
        await store_fact(memory, principal, name, "birthday", content)
    assert (await said("Sam was born on 9 June 1985", "Sam")).alike == ()
    # The other way round, and where an entity says who it is.
    written = await said("Sam Keller was born on 5 June 1980", "Sam Keller", "birth_day")
    assert [one.subject for one in written.alike] == ["Sam Keller"]
    made = await create_entity(memory, principal, "Sam Ortiz", "person")
    fact = new_fact(memory, "Sam", "birthday", "Sam was born on 8 June 1980", entity_id=made["id"])
    found = (await keep(memory, principal, fact)).written.alike
    assert {one.subject for one in found} == {"Sam"}


async def test_what_belongs_to_somebody_is_not_another_of_that_name(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    """Nor is "Anna's dog" a second Anna."""
    weber, _ = await store_fact(
        memory, principal, "Anna Weber", "birthday", "Anna Weber was born on 14 July 2011"
    )
    dog = "Anna's dog was born on 3 May 2020"
    await store_fact(memory, principal, "Anna's dog", "birthday", dog)
    await create_entity(memory, principal, "Anna's dog", "other")
    clock.advance(minutes=1)
    fact = new_fact(memory, "Anna", "birthday", "Anna was born on 1 May 1990")
    found = (await keep(memory, principal, fact)).written.alike
    assert [(one.id, one.kind) for one in found] == [(weber, "contradiction")]


async def test_two_entities_of_one_name_do_not_contradict(
    memory: Memory, principal: Principal
) -> None:
    facts = []
    for kind, age in (("person", "is 34 years old"), ("other", "is 7 years old")):
        entity = await create_entity(memory, principal, "Remy", kind)
        facts.append(new_fact(memory, "Remy", "age", age, entity_id=entity["id"]))
    written = [(await keep(memory, principal, fact)).written for fact in facts]
    assert [one.alike for one in written] == [(), ()]


@pytest.mark.parametrize(
    ("choice", "states", "told"),
    [
        ("keep_earlier", ("active", "retracted"), ["memory_confirmed", "fact_retracted"]),
        ("keep_later", ("superseded", "active"), ["fact_superseded"]),
        ("keep_both", ("active", "active"), []),
    ],
)
@pytest.mark.parametrize("kind", ["contradiction", "duplicate"])
async def test_a_conflict_is_settled_by_one_choice(
    memory: Memory,
    principal: Principal,
    admin: Connection,
    clock: Clock,
    kind: str,
    choice: Choice,
    states: tuple[str, str],
    told: list[str],
) -> None:
    later_says = "is right-handed" if kind == "contradiction" else "he is left-handed"
    earlier, _ = await store_fact(memory, principal, "user", "hand", "is left-handed")
    clock.advance(days=1)
    later, written = await _kept(memory, principal, "handedness", later_says)
    assert [one.kind for one in written.alike] == [kind]
    clock.advance(days=1)
    before = Counter(await event_types(admin))
    await settle(memory, principal, str(earlier), str(later), choice)
    assert Counter(await event_types(admin)) - before == Counter(["conflict_settled", *told])
    found = [await row(admin, "facts", id) for id in (earlier, later)]
    assert tuple(one["validity"] for one in found) == states
    assert all("resembles" not in one["metadata"] for one in found)
    assert (found[0]["last_confirmed_at"] == clock.now) == (choice == "keep_earlier")
    assert found[1]["supersedes_id"] == (earlier if choice == "keep_later" else None)
    assert await _open(memory, principal) == []
    if choice == "keep_earlier":
        await restore_memory(memory, principal, "fact", str(later))
        assert (await row(admin, "facts", later))["validity"] == "active"
    links = [one["relation"] for one in await get_links(memory, principal, "fact", str(later))]
    superseded = ["supersedes"] if choice == "keep_later" else []
    assert links == (["contradicts"] if kind == "contradiction" else superseded)


async def test_a_contradiction_that_an_agent_linked_is_settled_alike(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    one, _ = await store_fact(memory, principal, "user", "diet", "strictly vegan")
    clock.advance(days=1)
    other, _ = await store_fact(memory, principal, "user", "breakfast", "bacon most mornings")
    await create_link(memory, principal, "fact", one, "fact", other, "contradicts")
    (found,) = await _open(memory, principal)
    assert (found.earlier["id"], found.later["id"]) == (one, other)
    await settle(memory, principal, str(one), str(other), "keep_later")
    assert await _open(memory, principal) == []


async def test_what_cannot_be_settled_says_why(memory: Memory, principal: Principal) -> None:
    one, _ = await store_fact(memory, principal, "user", "hand", "is left-handed")
    gone, _ = await store_fact(memory, principal, "user", "home", "lives in Porto")
    await store_fact(memory, principal, "user", "home", "lives in Oslo")
    with pytest.raises(InvalidInput, match="two facts"):
        await settle(memory, principal, str(one), str(one), "keep_both")
    with pytest.raises(Conflict, match="superseded"):
        await settle(memory, principal, str(one), str(gone), "keep_both")
    with pytest.raises(NotFound):
        await settle(memory, replace(principal, tenant="other"), str(one), str(gone), "keep_both")


async def test_long_texts_hold_nobody_up(memory: Memory, principal: Principal) -> None:
    """What is compared on the event loop is bounded: twice the digits, not four times the time."""

    async def seconds(digits: int) -> float:
        began = time.thread_time()
        for number in range(2):
            content = str(number) + "7" * digits
            await store_fact(memory, principal, "user", f"number {digits} {number}", content)
        return time.thread_time() - began

    await seconds(1_000)
    shorter = await seconds(30_000)
    assert await seconds(60_000) < 4 * shorter


async def _beside(memory: Memory, principal: Principal, clock: Clock) -> tuple[UUID, UUID]:
    """What the user said, and what a tool says of the same, which waits."""
    held, _ = await store_fact(
        memory, principal, "user", "city", "lives in Porto", trust="user_said"
    )
    clock.advance(days=1)
    says = ("user", "city", "lives in Oslo")
    waits, _ = await store_fact(
        memory, principal, *says, permanence="volatile", trust="tool_output"
    )
    return held, waits


async def test_what_waited_and_is_kept_is_as_good_as_accepted(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    held, waits = await _beside(memory, principal, clock)
    clock.advance(days=150)
    await settle(memory, principal, held, waits, "keep_later")
    kept = await row(admin, "facts", waits)
    assert (kept["validity"], kept["supersedes_id"]) == ("active", held)
    assert (kept["confidence"], kept["last_confirmed_at"]) == (1.0, clock.now)
    (hit,) = await recall(memory, principal, "Where does the user live?")
    assert hit.row["id"] == waits
    clock.advance(days=1)
    await sweep.run(memory, principal)
    assert (await row(admin, "facts", waits))["validity"] == "active"


async def test_what_waited_takes_the_place_of_what_holds_its_key_too(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    """A model may put a statement in place of one fact, under the key of another."""
    named, _ = await store_fact(memory, principal, "user", "home", "lives in Porto")
    clock.advance(days=1)
    rival, _ = await store_fact(memory, principal, "user", "city", "works in Lisbon")
    clock.advance(days=1)
    await tell(memory, principal, "Bananas and oranges")
    said = {"target_id": "F2", "subject": "user", "predicate": "city", "content": "lives in Oslo"}
    await consolidate(memory, principal, answer(updated_facts=[said]))
    (pair,) = [one for one in await _open(memory, principal) if one.later["validity"] == "waiting"]
    assert pair.earlier["id"] == named
    clock.advance(days=1)
    await settle(memory, principal, named, pair.later["id"], "keep_later")
    found = {one["id"]: one["validity"] for one in await admin.fetch("SELECT * FROM facts")}
    assert found == {named: "superseded", rival: "superseded", pair.later["id"]: "active"}


async def test_settling_and_storing_at_once_leave_one_active_fact(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    for place in range(5):
        who = replace(principal, tenant=f"tenant{place}")
        held, waits = await _beside(memory, who, clock)
        clock.advance(days=1)
        ended = await asyncio.gather(
            settle(memory, who, held, waits, "keep_later"),
            *(store_fact(memory, who, "user", "city", f"lives in Bern {n}") for n in range(3)),
            return_exceptions=True,
        )
        assert not [one for one in ended if isinstance(one, IntegrityViolation)]
        active = "SELECT count(*) FROM facts WHERE validity = 'active' AND tenant_id = $1"
        assert await admin.fetchval(active, who.tenant) == 1


async def test_nobody_is_asked_about_what_is_over(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    tomorrow = clock.now + timedelta(days=1)
    await store_fact(memory, principal, "user", "hand", "is left-handed", valid_until=tomorrow)
    clock.advance(hours=1)
    await store_fact(memory, principal, "user", "handedness", "is right-handed")
    assert len(await _open(memory, principal)) == 1
    clock.advance(days=1)
    assert await _open(memory, principal) == []


@pytest.mark.parametrize("trust", ["tool_output", "user_said"])
async def test_a_correction_stands_before_what_it_corrects(
    memory: Memory, principal: Principal, clock: Clock, trust: str
) -> None:
    wrong, right = "Heating stays on at night", "At night the heating does not stay on, it is off"
    known, _ = await store_fact(
        memory, principal, "flat", "heating_at_night", wrong, trust=trust, importance=9
    )
    clock.advance(days=1)
    corrected, _ = await store_fact(
        memory, principal, "flat", "radiators", right, trust="user_said", importance=2
    )

    async def found(topic: str) -> list[str]:
        hits = await recall(memory, principal, topic)
        assert [one.place for one in hits] == sorted((one.place for one in hits), reverse=True)
        return [one.row["content"] for one in hits]

    topic = "does the heating stay on at night"
    assert await found(topic) == [right, wrong]
    built = await build_context(memory, principal, topic, "general")
    first, second = (line for line in built.text.splitlines() if line.startswith("- "))
    assert (right in first, "outdated" in first) == (True, False)
    assert (wrong in second, second.endswith(", perhaps outdated)")) == (True, True)
    assert (await replay(memory, principal, str(built.receipt_id))).identical
    # What is trusted more stays first, whichever came later; and what is settled stays as it is.
    later = "The heating stays on at night, in all rooms"
    await store_fact(memory, principal, "flat", "heaters", later, trust="untrusted_web")
    assert (await found(topic)).index(right) < (await found(topic)).index(later)
    await settle(memory, principal, known, corrected, "keep_both")
    if trust == "user_said":
        assert (await found(topic)).index(wrong) < (await found(topic)).index(right)


async def test_what_matters_is_not_shown_without_its_correction(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    wrong, right = "Tom is allergic to penicillin", "Tom is not allergic to penicillin"
    told: dict[str, Any] = {"trust": "tool_output", "importance": 9, "permanence": "permanent"}
    await store_fact(memory, principal, "Tom", "drug_allergy", wrong, **told)
    clock.advance(days=1)
    await store_fact(memory, principal, "Tom", "penicillin", right, trust="user_said", importance=2)
    for number in ("muesli", "toast", "figs"):
        await store_fact(memory, principal, "Tom", number, f"Tom has {number} for breakfast")
    hits = await recall(
        memory,
        principal,
        "What does Tom have for breakfast?",
        limit=1,
        min_relevance=0.0,
        weighty=True,
    )
    assert [one.row["content"] for one in hits][1:] == [right, wrong]


@pytest.mark.parametrize(
    ("permanence", "more", "lasts"),
    [
        ("standard", {}, "permanent"),
        ("stable", {}, "permanent"),
        ("volatile", {}, "volatile"),
        ("standard", {"valid_until": NOW + timedelta(days=9)}, "standard"),
        ("standard", {"trust": "untrusted_web"}, "standard"),
    ],
)
async def test_a_correction_lasts_as_long_as_what_it_corrects(
    memory: Memory, principal: Principal, permanence: str, more: dict[str, Any], lasts: str
) -> None:
    await store_fact(
        memory,
        principal,
        "Leo",
        "hand",
        "is left-handed",
        trust="tool_output",
        permanence="permanent",
    )
    given = {"trust": "user_said", **more}
    fact = new_fact(memory, "Leo", "handedness", "is right-handed", permanence=permanence, **given)
    await keep(memory, principal, fact)
    (stored,) = await _found(memory, principal, fact.id)
    assert stored == (lasts, decay_rate_of(lasts))


async def _found(memory: Memory, principal: Principal, id: UUID) -> list[tuple[str, float]]:
    hits = await recall(memory, principal, "handedness of Leo", min_relevance=0.0)
    return [(one.row["permanence"], one.row["decay_rate"]) for one in hits if one.row["id"] == id]


async def test_what_waits_already_waits_once_however_often_a_tool_repeats_it(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    await store_fact(memory, principal, "user", "shoe_size", "43", trust="user_said")
    for content in ("Wears 44", "Wears 44", "wears 44.", "Wears 45"):
        clock.advance(days=1)
        await store_fact(memory, principal, "user", "shoe_size", content, trust="tool_output")
    assert [one.later["content"] for one in await _open(memory, principal)] == [
        "Wears 45",
        "Wears 44",
    ]


LEFT, RIGHT = ("Leo", "hand", "is left-handed"), ("Leo", "handedness", "is right-handed")


async def _left_and_right(
    memory: Memory, principal: Principal, clock: Clock, **first: Any
) -> tuple[UUID, UUID]:
    """Two facts that contradict each other, a day apart, the user's own."""
    left, _ = await store_fact(memory, principal, *LEFT, trust="user_said", **first)
    clock.advance(days=1)
    right, _ = await store_fact(memory, principal, *RIGHT, trust="user_said")
    clock.advance(days=1)
    return left, right


async def test_what_is_confirmed_stands_before_what_contradicted_it(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    left, right = await _left_and_right(memory, principal, clock)
    await confirm_memory(memory, principal, "fact", left)
    hits = await recall(memory, principal, "Leo's hand")
    assert [(one.row["id"], one.outdated) for one in hits] == [(left, False), (right, True)]


async def test_another_name_makes_no_fact_the_later_word(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    left, right = await _left_and_right(memory, principal, clock)
    await rename_facts(memory, principal, {right: "Leonard", left: "Leonard"})
    hits = await recall(memory, principal, "Leonard's hand")
    said = [(one.row["content"], one.outdated) for one in hits]
    assert said == [(RIGHT[-1], False), (LEFT[-1], True)]


async def test_a_page_does_not_lift_what_the_user_corrected_above_its_correction(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    left, right = await _left_and_right(memory, principal, clock)
    stuffed = "which hand does Leo write with: is right-handed"
    await store_fact(
        memory, principal, "Leo", "writing", stuffed, trust="untrusted_web", importance=10
    )
    hits = await recall(memory, principal, "which hand does Leo write with")
    assert [one.row["id"] for one in hits][:2] == [right, left]


async def test_whoever_edits_a_correction_says_how_long_it_lasts(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    _, right = await _left_and_right(memory, principal, clock, permanence="permanent")
    edited = await edit_fact(memory, principal, right, {"permanence": "standard"})
    assert edited["permanence"] == "standard"
