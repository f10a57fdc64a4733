"""Deep search: what the arms find, and what sessions, names and times add to it."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest

from conftest import NOW, Clock
from memory_butler.domain.principals import Principal
from memory_butler.engine.curate import forget_memory
from memory_butler.engine.entities import create_entity
from memory_butler.engine.memory import Memory
from memory_butler.engine.recall import Hit, recall, search
from memory_butler.engine.remember import store_episode, store_fact, store_rule

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("SRCH-01")]


async def _talk(
    memory: Memory,
    principal: Principal,
    *turns: str,
    session: UUID | None = None,
    numbered: bool = True,
    at: datetime | None = None,
) -> list[UUID]:
    session = session or uuid4()
    return [
        await store_episode(
            memory,
            principal,
            text,
            "general",
            session_id=session,
            speaker=("Ann", "Bob")[place % 2],
            turn=place if numbered else None,
            occurred_at=at or NOW - timedelta(hours=5) + timedelta(minutes=place),
        )
        for place, text in enumerate(turns)
    ]


async def _noise(memory: Memory, principal: Principal) -> None:
    for topic in ("rain", "trains", "shoes", "lamps", "cheese", "chess", "stairs", "paint"):
        await _talk(memory, principal, f"let us speak of {topic}", f"{topic} again, why not")


def _by_id(hits: list[Hit]) -> dict[UUID, Hit]:
    return {hit.row["id"]: hit for hit in hits}


@pytest.mark.parametrize("numbered", [True, False])
async def test_an_answer_is_found_by_the_turn_before_it(
    memory: Memory, principal: Principal, numbered: bool
) -> None:
    await _noise(memory, principal)
    question, answer, after, _ = await _talk(
        memory,
        principal,
        "which instrument did you learn as a child?",
        "the cello, for six years",
        "oh, nice",
        "see you tomorrow",
        numbered=numbered,
    )
    asked = "which instrument did Bob learn as a child?"
    hits = await search(memory, principal, asked, types=["episode"], mode="deep", limit=4)
    assert [hit.row["id"] for hit in hits[:2]] == [question, answer]
    found = _by_id(hits)
    parts = found[answer].explain()
    assert parts["neighbours"]
    assert after in found
    plain = await search(memory, principal, asked, types=["episode"], mode="hybrid", limit=2)
    assert answer not in _by_id(plain)


async def test_every_part_of_a_score_is_shown_and_sums_to_it(
    memory: Memory, principal: Principal
) -> None:
    await _noise(memory, principal)
    await store_fact(memory, principal, "Ann", "hobby", "plays the cello")
    await store_rule(memory, principal, "praise the cello")
    hits = await search(memory, principal, "who plays the cello today?", mode="deep", limit=30)
    parts = [
        "meaning",
        "words",
        "neighbours",
        "session",
        "coverage",
        "length",
        "speaker",
        "reply",
        "first_person",
        "beside",
        "named",
        "period",
    ]
    for hit in hits:
        explained = hit.explain()
        assert hit.place == explained["deep_score"] == sum(explained[part] or 0.0 for part in parts)
    assert [hit.place for hit in hits] == sorted((hit.place for hit in hits), reverse=True)
    assert {hit.memory_type for hit in hits} == {"episode", "fact", "rule"}
    assert hits[0].memory_type != "episode"


async def test_a_turn_tells_of_its_speaker_by_the_words_for_oneself(
    memory: Memory, principal: Principal
) -> None:
    ids = await _talk(
        memory,
        principal,
        "My cello is from Cremona",
        "Unser Cello ist alt",
        "A cello costs a fortune",
        "Iris plays the cello, so does Noam",
    )
    hits = await search(memory, principal, "cello", types=["episode"], mode="deep")
    found = _by_id(hits)
    assert [bool(found[id].explain()["first_person"]) for id in ids] == [True, True, False, False]


async def test_a_session_is_no_way_to_what_is_expired_or_of_another_butler_or_tenant(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    session = uuid4()
    stranger = Principal("elsewhere", "tester")
    clock.advance(days=-8)
    await store_episode(memory, principal, "old secret", "general", session_id=session, turn=0)
    clock.advance(days=8)
    hit = await store_episode(
        memory, principal, "the cello lesson", "general", session_id=session, turn=1
    )
    await store_episode(memory, principal, "my secret", "finance", session_id=session, turn=2)
    await store_episode(memory, stranger, "their secret", "general", session_id=session, turn=2)
    for n in range(3):
        await store_episode(memory, principal, f"unlike {n}", "general")
    hits = await search(memory, principal, "cello", mode="deep", scope="general", limit=50)
    assert hits[0].row["id"] == hit
    assert not [one for one in hits if "secret" in one.row["content"]]
    await store_episode(memory, principal, "no secret", "general", session_id=session, turn=2)
    hits = await search(memory, principal, "cello", mode="deep", scope="general", limit=50)
    assert [one.row["content"] for one in hits if "secret" in one.row["content"]] == ["no secret"]


async def test_a_period_in_the_question_finds_what_happened_then(
    memory: Memory, principal: Principal
) -> None:
    await _noise(memory, principal)
    (then,) = await _talk(memory, principal, "the boiler broke", at=NOW - timedelta(days=300))
    month = f"{NOW - timedelta(days=300):%B %Y}"
    hits = await search(memory, principal, f"anything bad in {month}?", mode="deep", limit=3)
    assert hits[0].row["id"] == then
    assert hits[0].explain()["period"] == 0.5
    assert [hit.explain()["period"] for hit in hits[1:]] == [0.0, 0.0]


@pytest.mark.parametrize("said", ["{0:%d.%m.%Y}", "{0:%d/%m/%Y}"])
async def test_a_day_in_figures_is_a_time_and_no_words(
    memory: Memory, principal: Principal, said: str
) -> None:
    at = NOW - timedelta(days=300)
    (then,) = await _talk(memory, principal, "the boiler broke", at=at)
    elsewhere = f"{at.day} bad invoices, all of {at:%B}"
    (other,) = await _talk(memory, principal, elsewhere, at=NOW - timedelta(days=200))
    question = f"what broke on {said.format(at)}?"
    hits = await search(memory, principal, question, mode="deep", limit=3)
    assert [hit.row["id"] for hit in hits] == [then, other]
    assert hits[1].explain()["coverage"] == 0.0


@pytest.mark.parametrize("named", ["Robert Miller", "bobby", "Bobby"])
async def test_a_fact_is_found_by_any_name_of_its_entity(
    memory: Memory, principal: Principal, named: str
) -> None:
    entity = await create_entity(
        memory, principal, "Robert Miller", "person", aliases=["Bobby", "Rob"]
    )
    about, _ = await store_fact(
        memory, principal, "he", "allergy", "cannot eat nuts", entity_id=entity["id"]
    )
    for n in range(30):
        await store_fact(memory, principal, "someone", f"note{n}", f"eats what {n} others eat")
    hits = await search(memory, principal, f"What may {named} eat?", types=["fact"], mode="deep")
    found = _by_id(hits)[about]
    assert found.explain()["named"] == 0.5
    others = [hit for hit in hits if hit.row["id"] != about]
    assert all(hit.explain()["named"] == 0.0 for hit in others)


async def test_the_default_mode_is_configurable(memory: Memory, principal: Principal) -> None:
    await _talk(memory, principal, "tea?")
    (hit,) = await search(memory, principal, "tea", mode="deep")
    assert hit.match.deep is not None
    (hit,) = await search(memory, principal, "tea")
    assert hit.match.deep is None


@pytest.mark.parametrize(
    ("subject", "predicate", "content"),
    [
        ("user", "sister", "The user's sister is called Ida"),
        ("Ida", "relation", "Ida is the user's sister"),
    ],
)
async def test_who_is_meant_by_what_they_are_is_found_by_name(
    memory: Memory, principal: Principal, subject: str, predicate: str, content: str
) -> None:
    await store_fact(memory, principal, subject, predicate, content)
    flower, _ = await store_fact(memory, principal, "Ida", "liking", "Has a weakness for peonies")
    for name in ("Ana", "Ben", "Eva", "Leo", "Mia", "Noa", "Tim", "Zoe"):
        await store_fact(memory, principal, name, "liking", "Loves roses and lilies")
        await store_fact(memory, principal, "user", f"bouquet_{name}", f"Bought {name} a bouquet")
    asked = "Which bouquet for my sister?"
    told = [hit.row["id"] for hit in await recall(memory, principal, asked, limit=10)]
    assert flower in told[:3]
    assert len(set(told)) == len(told)
    deep = await search(memory, principal, asked, mode="deep", limit=3)
    assert flower in {hit.row["id"] for hit in deep}
    # RRF promises the ranks of the question's own words.
    hybrid = await search(memory, principal, asked, mode="hybrid", limit=3)
    assert flower not in {hit.row["id"] for hit in hybrid}


async def test_who_is_called_by_another_name_is_asked_for_by_the_full_one(
    memory: Memory, principal: Principal, other_tenant: Principal
) -> None:
    """What has the other name in its words is no better for that."""
    people = ("Tom Reilly", "Tom Brandt", "Ada Sorel", "Eva Lange", "Leo Hall", "Mia Costa")
    numbers: dict[str, UUID] = {}
    jobs: dict[str, UUID] = {}
    for place, name in enumerate(people):
        aliases = ["the lodger"] if name == "Tom Reilly" else []
        made = await create_entity(memory, principal, name, "person", aliases=aliases)
        for predicate, content, into in (
            ("phone_number", f"{name} has the number 0170 555 110{place}", numbers),
            ("occupation", f"{name} is a {('nurse', 'baker')[place % 2]}", jobs),
        ):
            into[name], _ = await store_fact(
                memory, principal, name, predicate, content, entity_id=made["id"]
            )
    for subject, content in (
        ("Pepper", "Pepper is the lodger's terrier"),
        ("hall", "The lodger hangs his coat in the hall"),
    ):
        await store_fact(memory, principal, subject, "note", content)
    await create_entity(memory, other_tenant, "Zoe Elsewhere", "person", aliases=["the lodger"])
    told = await recall(memory, principal, "What is the lodger's number?")
    assert told[0].row["id"] == numbers["Tom Reilly"]
    told = await recall(memory, principal, "What is the lodger's job?")
    assert told[0].row["id"] == jobs["Tom Reilly"]
    # His dog is another: that is asked as it stands.
    (dog, *_) = await recall(memory, principal, "Is the lodger's dog a terrier?")
    assert dog.row["subject"] == "Pepper"


async def test_my_mum_is_not_the_one_whom_all_others_call_mum(
    memory: Memory, principal: Principal
) -> None:
    """By a fact in the scope of who asks; the word need not be that of the fact."""
    numbers = {}
    for place, (name, aliases) in enumerate(
        (("Helena Brandt", ["Mum"]), ("Ingrid Brandt", ["Oma"]), ("Ada Sorel", []))
    ):
        made = await create_entity(memory, principal, name, "person", aliases=aliases)
        content = f"{name} has the number 0170 555 110{place}"
        numbers[name], _ = await store_fact(
            memory, principal, name, "phone_number", content, entity_id=made["id"]
        )
    await store_fact(memory, principal, "Mum", "wish", "Mum wants the phone off at ten")
    for scope, mother in (("office", "Ingrid Brandt"), ("family", "Ada Sorel")):
        said = f"The user's mother is {mother}"
        await store_fact(memory, principal, "user", "mother", said, scope=scope)
    asked = "What is my mum's number?"
    for scope, name in (("office", "Ingrid Brandt"), ("family", "Ada Sorel")):
        told = [hit.row["id"] for hit in await recall(memory, principal, asked, scope=scope)]
        assert told.index(numbers[name]) < 2
        others = set(numbers.values()) - {numbers[name]}
        assert all(told.index(numbers[name]) < told.index(one) for one in others & {*told})
        # "Mum" alone may be either: both are told.
        bare = await recall(memory, principal, "What is Mum's number?", scope=scope)
        told = [hit.row["id"] for hit in bare]
        assert {numbers[name], numbers["Helena Brandt"]} <= {*told[:4]}
    told = [hit.row["id"] for hit in await recall(memory, principal, asked, scope="kitchen")]
    assert numbers["Helena Brandt"] in told[:2]


async def test_what_is_planned_is_found_by_its_day(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    clock.now = datetime(2026, 11, 25, 9, tzinfo=UTC)  # a Wednesday
    planned = {
        (await store_fact(memory, principal, subject, "plan", content))[0]
        for subject, content in (
            ("user", "Dentist on 3 December at 10:00"),
            ("tax", "The return is due on 2026-12-04"),
            ("Ida", "Ida's birthday is December 2nd, 1988"),
        )
    }
    others = [
        (await store_fact(memory, principal, subject, "note", content))[0]
        for subject, content in (
            ("boiler", "Serviced on 3 December 2025"),
            ("car", "The inspection is due on 15 January 2027"),
            ("piano", "Lessons on Thursdays at four"),
            ("user", "Away from 18 December to 6 January"),
        )
    ]
    await store_fact(memory, principal, "dog", "vet", "Vet on 3 December", scope="kennel")
    asked = "What do we have on next week?"
    told = await recall(memory, principal, asked, scope="home")
    # Behind what has its day comes what is done every week.
    assert {hit.row["id"] for hit in told[:3]} == planned
    assert [hit.row["id"] for hit in told[3:]] == [others[2]]
    assert all(hit.explain()["period"] for hit in told)
    deep = await search(memory, principal, asked, mode="deep", types=["fact"], limit=4)
    assert planned <= {hit.row["id"] for hit in deep}
    # On the day itself what is done every week counts, too.
    thursday = await recall(memory, principal, "What's on tomorrow?", scope="home")
    assert [hit.row["id"] for hit in thursday] == [others[2]]
    away = await recall(memory, principal, "Are we at home on 27 December?", scope="home")
    assert away[0].row["id"] == others[3]
    for idle in ("See you next week!", "Translate this letter until next week"):
        assert await recall(memory, principal, idle, scope="home") == []


async def test_what_is_done_each_month_and_rules_of_the_day_are_on(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    clock.now = datetime(2026, 11, 30, 9, tzinfo=UTC)  # a Monday
    rent, _ = await store_fact(memory, principal, "flat", "rent", "Rent: on the first of the month")
    await store_fact(memory, principal, "cleaner", "pay", "Paid on the 15th of each month")
    meters, friday, *_ = [
        await store_rule(memory, principal, content, scope="home")
        for content in (
            "On the first of every month remind Ida to photograph the meters",
            "Before the Friday market remind everybody to bring cash",
            "Keep presents for children under twelve pounds",
            "Answer in short sentences",
        )
    ]

    async def told(asked: str, scope: str = "home") -> set[UUID]:
        return {hit.row["id"] for hit in await recall(memory, principal, asked, scope=scope)}

    for asked in ("What do we have on tomorrow?", "What do we have on on 1 February?"):
        assert await told(asked) == {rent, meters}
    assert await told("What do we have on tomorrow?", scope="office") == {rent}
    assert friday in await told("What do we have on on Friday?")
    # Of a whole week what is done each month says something, and the rule of a day nothing.
    assert await told("What do we have on this week?") == {rent}
    await forget_memory(memory, principal, "rule", meters)
    assert await told("What do we have on tomorrow?") == {rent}


async def test_a_day_is_found_in_another_language(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    clock.now = datetime(2026, 11, 25, 9, tzinfo=UTC)
    french, _ = await store_fact(
        memory, principal, "user", "dentiste", "Rendez-vous chez le dentiste le 12 mars à 10h"
    )
    english, _ = await store_fact(memory, principal, "car", "service", "Service on 12 March")
    spanish, _ = await store_fact(
        memory, principal, "Ana", "boda", "La boda de Ana es el 12/03/2027 en Lugo"
    )
    await store_fact(memory, principal, "user", "snack", "Ida eats 12 mars bars on a hike")
    for asked in (
        "What's on 12 March?",
        "Qu'est-ce qu'on a le 12 mars ?",
        "¿Qué tenemos el 12 de marzo?",
        "Was ist am 12. März los?",
    ):
        told = {hit.row["id"] for hit in await recall(memory, principal, asked)}
        assert told >= {french, english, spanish}, asked


@pytest.mark.parametrize(
    ("says", "asked"),
    [
        (("user", "wife", "Married to Carla"), "Wann hat meine Frau Geburtstag?"),
        (("user", "frau", "Meine Frau heißt Carla"), "When is my wife's birthday?"),
        (("user", "esposa", "Mi esposa se llama Carla"), "Quel jour est née ma femme ?"),
        (("Carla", "relación", "Carla es la esposa del usuario"), "¿Cuándo nació mi mujer?"),
    ],
)
async def test_a_role_is_known_in_another_language(
    memory: Memory, principal: Principal, says: tuple[str, str, str], asked: str
) -> None:
    born, _ = await store_fact(memory, principal, "Carla", "birthday", "3 June 1990 in Porto")
    for n in range(4):
        await store_fact(memory, principal, f"bird {n}", "nest", f"The bird {n} nests in oak {n}")
    await store_fact(memory, principal, *says)
    assert born in {hit.row["id"] for hit in await recall(memory, principal, asked)}


async def test_what_is_planned_no_longer_is_not_told(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    clock.now = datetime(2026, 11, 25, 9, tzinfo=UTC)
    await store_fact(memory, principal, "user", "dentist", "Dentist on 3 December at 10:00")
    moved, _ = await store_fact(memory, principal, "user", "dentist", "Dentist on 12 December")
    assert await recall(memory, principal, "What do we have on next week?") == []
    later = await recall(memory, principal, "What's on in two weeks?")
    assert [hit.row["id"] for hit in later] == [moved]


@pytest.fixture
def in_sydney(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Australia/Sydney")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("in_sydney")
async def test_days_are_those_of_the_machine(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    clock.now = datetime(2026, 11, 25, 20, tzinfo=UTC)  # seven in the morning of the 26th there
    dentist, _ = await store_fact(memory, principal, "user", "dentist", "Dentist on 27 November")
    told = await recall(memory, principal, "What's on tomorrow?")
    assert [hit.row["id"] for hit in told] == [dentist]


@pytest.mark.parametrize(
    ("question", "plan"),
    [
        ("Was steht nächste Woche an?", "Der Zahnarzt ist am 3. Dezember um zehn"),
        ("Qu'avons-nous la semaine prochaine ?", "Le dentiste est le 3 décembre à dix heures"),
        ("¿Qué tenemos la próxima semana?", "El dentista es el 3 de diciembre a las diez"),
    ],
)
async def test_what_is_planned_is_found_in_other_languages(
    memory: Memory, principal: Principal, clock: Clock, question: str, plan: str
) -> None:
    clock.now = datetime(2026, 11, 25, 9, tzinfo=UTC)
    planned, _ = await store_fact(memory, principal, "user", "dentist", plan)
    await store_fact(memory, principal, "user", "visit", plan.replace("3", "13"))
    found = await recall(memory, principal, question)
    assert [hit.row["id"] for hit in found if hit.explain()["period"]] == [planned]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Was ist am 9. Dezember los?", "Zahnarzt am 9. Dez. um zehn"),
        ("Wer hat am 24. Dezember Geburtstag?", "Oma Hilde, geb. 24.12.1961"),
        ("Sind wir am 27. Dezember da?", "Werkstatt vom 18. bis 31.12. geschlossen"),
        ("Are we away on 27 December?", "Urlaub 18.12. bis 6.1."),
    ],
)
async def test_dates_with_dots_and_short_months_are_found(
    memory: Memory, principal: Principal, clock: Clock, question: str, said: str
) -> None:
    clock.now = datetime(2026, 11, 25, 9, tzinfo=UTC)
    id, _ = await store_fact(memory, principal, "user", "note", said)
    await store_fact(memory, principal, "user", "other", "Auto am 3. Mai in der Werkstatt")
    found = await recall(memory, principal, question)
    assert [hit.row["id"] for hit in found if hit.explain()["period"]] == [id]


async def test_how_many_hours_a_week_has_is_about_no_week(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    clock.now = datetime(2026, 11, 25, 9, tzinfo=UTC)
    await store_fact(memory, principal, "user", "dentist", "Dentist on 3 December at 10:00")
    assert await recall(memory, principal, "How many hours are in a week?") == []


async def test_a_small_word_is_no_day(memory: Memory, principal: Principal, clock: Clock) -> None:
    clock.now = datetime(2026, 11, 25, 9, tzinfo=UTC)
    await store_fact(memory, principal, "user", "termin", "Zahnarzt am 1. Dezember 2026")  # Tuesday
    for question in ("Was ist die Wurzel aus 144?", "wie hoch ist die zugspitze"):
        assert await recall(memory, principal, question) == []


async def test_all_of_who_asks_is_told(memory: Memory, principal: Principal) -> None:
    own = {
        (await store_fact(memory, principal, subject, predicate, content, importance=weight))[0]
        for subject, predicate, content, weight in (
            ("user", "allergy", "Cannot have kiwis", 9.0),
            ("User", "home", "Lives by the harbour", 6.0),
            ("family", "car", "Drives an old estate", 4.0),
        )
    }
    await store_fact(memory, principal, "Ida", "home", "Lives in the mountains", importance=9.0)
    told = await recall(memory, principal, "What do you know about me?")
    assert {hit.row["id"] for hit in told} == own


async def test_what_happened_is_found_by_its_day(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    clock.now = datetime(2026, 11, 25, 9, tzinfo=UTC)
    down, _ = await store_fact(
        memory, principal, "api", "outage", "In March 2026 a missing index took it down"
    )
    visit, _ = await store_fact(memory, principal, "user", "trip", "Went to Porto on 21 November")
    await store_fact(memory, principal, "user", "dentist", "Dentist on 3 December at 10:00")
    for question, told in (
        ("What happened in March?", down),
        ("What did we do last weekend?", visit),
    ):
        assert [hit.row["id"] for hit in await recall(memory, principal, question)] == [told]
    log = "What does this log say? " + 20 * "2026-11-21T10:00 ERROR "
    assert not any(hit.explain()["period"] for hit in await recall(memory, principal, log))


async def test_a_group_is_found_by_its_members(memory: Memory, principal: Principal) -> None:
    for name, kind in (("Mia", "daughter"), ("Leo", "son")):
        await store_fact(memory, principal, name, "relation", f"{name} is the user's {kind}")
    choir, _ = await store_fact(memory, principal, "Mia", "choir", "Mia sings every Wednesday")
    for name in ("Ana", "Ben", "Eva", "Tim", "Zoe"):
        await store_fact(memory, principal, name, "role", f"{name} works in the bakery")
    told = await recall(memory, principal, "Are the kids free on Wednesday?", limit=3)
    assert choir in {hit.row["id"] for hit in told}
    known = {hit.row["subject"] for hit in await recall(memory, principal, "How many kids have I?")}
    assert known == {"Mia", "Leo"}


async def test_what_a_question_asks_for_comes_before_what_else_is_known_of_whom_it_names(
    memory: Memory, principal: Principal
) -> None:
    await create_entity(memory, principal, "Greta Huber", "person", aliases=["Mum"])
    for n, what in enumerate(("a chair in Graz", "an old phone", "the number plate", "tickets")):
        for m, did in enumerate(("Bought", "Saw", "Sold", "Lost", "Found", "Fixed")):
            await store_fact(memory, principal, "user", f"note {n} {m}", f"{did} {what}")
    number, _ = await store_fact(memory, principal, "user", "mum_phone", "0664 9999 since May")
    await store_fact(memory, principal, "Greta Huber", "birthday", "4 May 1950")
    await store_fact(memory, principal, "Greta Huber", "hobby", "Plays the cello")
    (first, *_) = await recall(memory, principal, "What is Mum's phone number?")
    assert first.row["id"] == number


async def test_another_name_that_is_the_first_name_of_somebody_else_is_not_put_in_full(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    """ "Bill" is Marcus Hale, until there is a Bill Turner: then it may be either."""
    await create_entity(memory, principal, "Marcus Hale", "person", aliases=["Bill", "the adviser"])
    # The best of each wording has one share; the one that bears on it more comes before the newer.
    for name in ("Marcus Hale", "Ada Sorel", "Ida Brandt"):
        clock.advance(seconds=1)
        await store_fact(memory, principal, name, "phone", f"{name} has the number 5551{len(name)}")
    (first, *_) = await recall(memory, principal, "What is Bill's number?")
    assert first.row["subject"] == "Marcus Hale"
    await create_entity(memory, principal, "Bill Turner", "person")
    await store_fact(memory, principal, "Bill Turner", "phone", "Bill Turner has the number 55599")
    (first, second, *_) = await recall(memory, principal, "What is Bill's number?")
    assert (first.row["subject"], second.row["subject"]) == ("Bill Turner", "Marcus Hale")
    (first, *_) = await recall(memory, principal, "What is the adviser's number?")
    assert first.row["subject"] == "Marcus Hale"
