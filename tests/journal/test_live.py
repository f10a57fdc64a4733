"""The live side: what a message does to the log and to the mind, through the file."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import NOW, Clock
from memory_butler.domain.errors import InvalidInput, NotFound
from memory_butler.journal.calls import RecallCall, SearchCall
from memory_butler.journal.desk import MaintenanceDesk
from memory_butler.journal.file import JournalFile
from memory_butler.journal.fragments import PutEdge, PutFragment
from memory_butler.journal.items import MEMORY_TYPES, Status
from memory_butler.journal.lifecycle import ComeDue
from memory_butler.journal.live import Greeting, LiveJournal
from memory_butler.journal.policy import JournalPolicy
from memory_butler.journal.wording import MAX_TOLD_PLANS, come_due_words

from .values import messages

REUSED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def contents(live: LiveJournal) -> list[str]:
    return [one.item.content for one in live.mind()]


def statuses(live: LiveJournal) -> dict[str, Status]:
    return {item.content: item.status for item in live.history()}


@pytest.mark.requirement("JSCH-01", "JSCH-02")
@REUSED
@given(text=messages | st.text(), actor=st.sampled_from(["user", "assistant", "guest", None]))
def test_content_comes_back_as_it_was_sent(live: LiveJournal, text: str, actor: str) -> None:
    logged = live.log(text, actor, image_path="/pictures/a b.png")
    event = live.event(logged.event_id)
    assert event is not None
    assert event.content == text
    assert event.content.encode() == text.encode()
    assert (event.actor, event.ts) == (logged.actor, logged.ts)
    assert event.image_path == "/pictures/a b.png"
    assert set(event.tags) == set(logged.reading.tags)


@pytest.mark.requirement("JSCH-04")
def test_tags_are_kept_as_inert_data(live: LiveJournal) -> None:
    logged = live.log("<say>Hi</say><do>waves</do><plan>rest</plan> plan>done rest", "assistant")
    event = live.event(logged.event_id)
    assert event is not None
    assert set(event.tags) == {"say", "do", "plan"}


@pytest.mark.parametrize(
    ("text", "actor", "image", "why"),
    [
        ("x" * 1_000_001, "user", None, "1000000 characters"),
        ("half \ud800", "user", None, "surrogate"),
        ("x", "", None, "an actor is a name"),
        ("x", "two\nlines", None, "an actor is a name"),
        ("x", "u" * 65, None, "an actor is a name"),
        ("x", "user", "", "an image path"),
    ],
)
def test_what_cannot_be_kept_is_refused(
    live: LiveJournal, text: str, actor: str, image: str | None, why: str
) -> None:
    with pytest.raises(InvalidInput, match=why):
        live.log(text, actor, image)
    assert live.events() == ()


def test_who_speaks(file: JournalFile, clock: Clock) -> None:
    policy = JournalPolicy(assistant_actors=("assistant", "muse"), user_actors=("user", "guest"))
    live = LiveJournal(file, policy, clock)
    for text, actor, speaker in (
        ("Hi", None, "user"),
        ("<guest>Hi", None, "guest"),
        ("<muse><say>Hi</say></muse>", None, "muse"),
        ("<muse><say>Hi</say>", "assistant", "muse"),
        ("<guest>Hi", "user", "guest"),
        # A user's text never speaks as the assistant.
        ("<assistant><say>Hi</say>", "user", "user"),
        ("<user>Hi", "assistant", "assistant"),
        ("Hi", "stranger", "stranger"),
    ):
        assert live.log(text, actor).actor == speaker


@pytest.mark.requirement("JSCH-01")
def test_times_are_utc_and_never_run_backwards(live: LiveJournal, clock: Clock) -> None:
    clock.now = NOW.astimezone(ZoneInfo("Asia/Tokyo"))
    first = live.log("one").ts
    second = live.log("two").ts
    clock.advance(hours=-5)
    third = live.log("three").ts
    clock.advance(hours=6)
    fourth = live.log("four").ts
    assert first == NOW
    assert first.tzinfo == UTC
    assert first < second < third < NOW + timedelta(seconds=1)
    assert fourth == NOW + timedelta(hours=1)
    assert [event.content for event in live.events()] == ["one", "two", "three", "four"]


def test_a_clock_without_a_zone_is_refused(file: JournalFile) -> None:
    with pytest.raises(InvalidInput, match="no time zone"):
        LiveJournal(file, now=lambda: NOW.replace(tzinfo=None)).log("x")


@pytest.mark.requirement("JSUP-01")
def test_one_feeling_at_a_time(live: LiveJournal) -> None:
    live.log("<feeling>calm</feeling>", "assistant")
    live.log("<feeling>excited</feeling>", "user")
    assert contents(live) == ["excited"]
    assert statuses(live) == {"calm": "superseded", "excited": "active"}
    old = next(item for item in live.history() if item.content == "calm")
    assert old.resolved_at is not None


@pytest.mark.requirement("JSUP-02", "JDEC-04", "JSCH-07")
def test_a_desc_gives_way_to_a_new_one_of_its_subject(live: LiveJournal) -> None:
    live.log("<desc>Ada: has short hair</desc><desc>Bo: is tall</desc><desc>it rains</desc>")
    live.log("<desc>ada: has long hair</desc><desc>it snows</desc>", "assistant")
    assert statuses(live) == {
        "Ada: has short hair": "superseded",
        "Bo: is tall": "active",
        "it rains": "active",
        "ada: has long hair": "active",
        "it snows": "active",
    }
    made = {item.content: (item.subject, item.actor) for item in live.history()}
    assert made["ada: has long hair"] == ("ada", "assistant")
    assert made["it rains"] == (None, "user")


@pytest.mark.requirement("JSUP-03", "JSUP-04", "JDEC-06", "JDEC-07")
def test_commands_end_what_they_mean(live: LiveJournal) -> None:
    live.log(
        "<plan>organize the desk</plan><plan>call mum</plan><plan>learn to juggle</plan>"
        "<pin>the spare key is under the pot</pin><secret>the gift is a violin</secret>"
    )
    logged = live.log(
        "plan>done organize desk\n<plan>cancel: juggle</plan>\npin>drop spare key\n"
        "secret>reveal the violin\nplan>done mow the neighbour's lawn before the party begins"
    )
    assert [(one.event, one.status) for one in logged.changes] == [
        ("done", "resolved"),
        ("cancel", "dropped"),
        ("drop", "dropped"),
        ("reveal", "resolved"),
    ]
    assert [one.command.text[:8] for one in logged.unmatched] == ["mow the "]
    assert statuses(live) == {
        "organize the desk": "resolved",
        "call mum": "active",
        "learn to juggle": "dropped",
        "the spare key is under the pot": "dropped",
        "the gift is a violin": "resolved",
    }
    assert all((item.resolved_at is None) == (item.status == "active") for item in live.history())
    live.log("plan>done")
    assert contents(live) == []


@pytest.mark.requirement("JSUP-03", "JASM-05")
def test_what_a_command_missed_is_told_to_the_model(live: LiveJournal) -> None:
    live.log("<plan>call mum</plan><plan>call Bo</plan>")
    logged = live.log(
        "plan>done sweep the yard\n<say>Well done.</say>\nplan>done call", "assistant"
    )
    assert [
        (one.command.text, [near.content for near in one.near]) for one in logged.unmatched
    ] == [
        ("sweep the yard", []),
        ("call", ["call mum", "call Bo"]),
    ]
    live.log("And now?")
    prompt = live.assemble().user
    assert "plan>done sweep the yard\n- no active plan is like this; nothing was changed" in prompt
    assert "plan>done call\n- several are like this, nothing was changed; say which: " in prompt
    assert 'say which: "call mum"; "call Bo"' in prompt
    # A user's own miss is told with the message that it stands in, and not again.
    live.log("<say>Right.</say>", "assistant")
    live.log("plan>done the laundry")
    assert "plan>done the laundry\n- no active plan" in live.assemble().user
    live.log("<say>Hm.</say>", "assistant")
    live.log("So?")
    assert "laundry" not in live.assemble().user.partition("## Recent")[0]


def test_secrets_are_not_named_to_tell_them_apart(live: LiveJournal) -> None:
    live.log(
        "<secret>the gift is a violin</secret><secret>the gift is a drum</secret>", "assistant"
    )
    (missed,) = live.log("secret>reveal the gift", "assistant").unmatched
    assert missed.why() == "2 secrets are like this; nothing was changed, say more of it"


def test_a_plan_that_begins_like_a_command_is_a_plan_where_it_fits_nothing(
    live: LiveJournal,
) -> None:
    (made,) = live.log("<plan>cancel the lease by 2026-03-20</plan>").changes
    assert (made.event, made.content) == ("tag", "cancel the lease by 2026-03-20")
    assert made.due is not None
    assert live.log("<plan>finished with the attic</plan>").changes == ()
    # Of several that it may mean none is touched, and nothing new is made.
    live.log("<plan>rent a drill</plan><plan>rent a van</plan>")
    assert live.log("<plan>skip rent</plan>").changes == ()


@pytest.mark.requirement("JSUP-05", "JDEC-01", "JDEC-08", "JSCH-10")
def test_a_retag_refreshes_hours_and_turns(live: LiveJournal, clock: Clock) -> None:
    first = live.log("<feeling>warm</feeling>", "assistant")
    clock.advance(hours=2)
    for _ in range(3):
        live.log("hm")
        live.log("<say>Hm.</say>", "assistant")  # a reply is no turn
    (faded,) = live.mind()
    assert faded.turns == 3
    assert faded.score == pytest.approx(0.25, rel=1e-6)
    again = live.log("<feeling>Warm</feeling>", "assistant")
    assert [(one.item_id, one.event) for one in again.changes] == [(1, "retag")]
    (fresh,) = live.mind()
    assert (fresh.turns, fresh.score) == (0, 1)
    assert (fresh.item.created_at, fresh.item.refreshed_at) == (first.ts, again.ts)
    assert (fresh.item.event_id, fresh.item.content) == (first.event_id, "warm")


@pytest.mark.requirement("JDEC-09")
def test_what_has_decayed_is_swept(live: LiveJournal, clock: Clock) -> None:
    for name in MEMORY_TYPES:
        live.log(f"<{name}>a {name}</{name}>", "assistant")
    clock.advance(hours=14)
    feeling = next(one for one in live.mind() if one.item.type == "feeling")
    assert feeling.hidden  # out of the prompt, and still to be seen
    assert live.sweep() == ()
    clock.advance(hours=2)
    assert [one.item.type for one in live.sweep(dry_run=True)] == ["feeling"]
    assert len(live.mind()) == 7
    decayed = live.log("Good evening").decayed
    assert [item.type for item in decayed] == ["feeling"]
    gone = next(item for item in live.history() if item.type == "feeling")
    assert (gone.status, gone.resolved_at) == ("decayed", clock.now)
    clock.advance(days=4_000)
    live.sweep()
    assert {one.item.type for one in live.mind()} == {"plan", "secret"}


@pytest.mark.requirement("JDEC-02", "JDEC-03")
def test_what_is_promoted_outlives_what_is_not(live: LiveJournal, clock: Clock) -> None:
    live.log("<thought>the tap drips</thought><thought>a comet</thought>", "assistant")
    live.log("<pattern>rain on mondays</pattern><pattern>tea at five</pattern>", "assistant")
    live.log("<plan>the tap drips</plan><pin>rain on mondays</pin>", "assistant")
    clock.advance(days=60)
    live.log("hm")
    kept = {(one.item.type, one.item.content) for one in live.mind()}
    assert kept == {("plan", "the tap drips"), ("pin", "rain on mondays")}


@pytest.mark.requirement("JSCH-09", "JSUB-01", "JSUB-02")
def test_a_timed_plan_submerges_and_resurfaces(file: JournalFile, clock: Clock) -> None:
    live = LiveJournal(file, JournalPolicy(zone=ZoneInfo("Europe/Berlin")), clock)
    live.log('<plan due="2026-03-20T18:00">dinner</plan><plan>learn to juggle</plan>')

    def shown() -> set[str]:
        return {one.item.content for one in live.mind() if not one.hidden}

    due = next(one.item.due for one in live.mind() if one.item.due)
    assert due.isoformat() == "2026-03-20T17:00:00+00:00"
    assert shown() == {"learn to juggle"}
    assert {one.item.content for one in live.plans()} == {"dinner", "learn to juggle"}
    clock.now = due - timedelta(hours=48)
    assert shown() == {"dinner", "learn to juggle"}
    clock.now = due + timedelta(days=30)
    assert shown() == {"dinner", "learn to juggle"}
    assert all(item.status == "active" for item in live.history())


def test_a_retag_may_bring_a_new_due_date(live: LiveJournal) -> None:
    live.log("<plan>see the doctor</plan>")
    live.log('<plan due="2026-04-01">see the doctor</plan>')
    live.log("<plan>see the doctor</plan>")
    (one,) = live.mind()
    assert one.item.due is not None
    assert one.item.due.date().isoformat() == "2026-04-01"


@pytest.mark.requirement("JSUP-05")
def test_a_plan_that_both_tell_of_is_one(live: LiveJournal, clock: Clock) -> None:
    live.log("<plan>dentist on 24 March at 8:30</plan>", "user")
    again = live.log('<plan due="24 March at 8:30">the dentist</plan>', "assistant")
    assert [one.event for one in again.changes] == ["retag"]
    # Of another day, or of anything else, it is another plan.
    live.log("<plan>dentist on 25 March at 8:30</plan><plan>vet on 24 March at 8:30</plan>")
    live.log("<plan>dentist</plan><plan>call the dentist on 24 March at 8:30</plan>")
    assert len(live.plans()) == 5
    clock.advance(days=30)
    ended = live.log("plan>done dentist on 24 March at 8:30").changes
    assert [one.content for one in ended] == ["dentist on 24 March at 8:30"]


def test_pages_of_the_log(live: LiveJournal) -> None:
    ids = [live.log(f"message {number}").event_id for number in range(5)]
    assert [event.id for event in live.events(limit=2)] == ids[:2]
    assert [event.id for event in live.events(ids[1], limit=2)] == ids[2:4]
    with pytest.raises(NotFound):
        live.events(99)
    with pytest.raises(InvalidInput, match="from 1 to 1000"):
        live.events(limit=0)
    assert live.event(99) is None


def test_without_a_message_there_is_no_prompt(live: LiveJournal) -> None:
    for id in (None, 3):
        with pytest.raises(NotFound, match="log it first"):
            live.assemble(id)


def test_late_and_resurfaced_plans_open_the_conversation(live: LiveJournal, clock: Clock) -> None:
    assert live.greeting() == Greeting(None, (), ComeDue())
    live.log(
        "<plan>pay the rent tomorrow at 9am</plan><plan>see Ada on 20 March</plan>"
        "<plan>see Bo on 9 April</plan><plan>read a book</plan><pin>tea</pin>"
    )
    spoken = clock.now
    live.log("<say>Noted.</say>", "assistant")
    # Nothing is late, and nothing came near since.
    assert live.greeting().plans == ComeDue()
    clock.now = datetime(2026, 3, 19, 8, 0, tzinfo=UTC)
    live.log("They are away. <say>I saw a heron.</say>", "assistant")
    greeting = live.greeting()
    assert greeting.spoken == spoken
    # What it said by itself waits for whoever comes back, after its answer.
    assert [one.content[-20:] for one in greeting.left] == [
        "<say>Noted.</say>",
        "ay>I saw a heron.</say>"[-20:],
    ]
    told = [
        "overdue: pay the rent tomorrow at 9am (due Monday, 2 March 2026, 09:00)",
        "soon: see Ada on 20 March (due Friday, 20 March 2026, 23:59)",
    ]
    assert come_due_words(greeting.plans, JournalPolicy()) == told
    # And the companion is told with the first message after a while.
    live.log("Good morning.")
    assert "\n".join(["it is 18 days later", *told, "", "---"]) in live.assemble().user
    live.log("<say>Good morning.</say>", "assistant")
    live.log("What is new?")
    assert "overdue: " not in live.assemble().user
    assert come_due_words(live.greeting().plans, JournalPolicy()) == told[:1]
    live.log("plan>done paid the rent")
    assert live.greeting().plans == ComeDue()


def test_no_more_plans_open_the_conversation_than_can_be_read(
    live: LiveJournal, clock: Clock
) -> None:
    live.log("".join(f"<plan>errand {one} tomorrow</plan>" for one in range(MAX_TOLD_PLANS + 3)))
    clock.advance(days=3)
    live.log("<plan>take the pill tomorrow</plan>")
    clock.advance(days=2)
    told = come_due_words(live.greeting().plans, JournalPolicy())
    assert len(told) == MAX_TOLD_PLANS + 1
    # What is late since yesterday, before what has been for long.
    assert told[-2].startswith("overdue: take the pill tomorrow (due ")
    assert told[-1] == "overdue: and 4 more"


@pytest.mark.requirement("JASM-05")
def test_answers_that_waited_are_those_of_now(
    live: LiveJournal, desk: MaintenanceDesk, clock: Clock
) -> None:
    desk.apply("manual", [PutFragment("mum", "Ana's mother.", "She lives in Porto.")])
    live.log("<plan>call mum on wednesday at 5pm</plan><plan>read</plan>")
    live.log("<say>Let me look.</say> plans() recall(mum) search(mum)", "assistant")
    live.log("Well?")
    assert "## Recalled\n\nplans()\n- [plan, user] call mum" in live.assemble().user
    live.log("I did.\nplan>done call mum")
    # It would contradict what is on its mind.
    assert "call mum on wednesday" not in live.assemble().user.partition("search(")[0]
    clock.advance(days=30)
    desk.apply("manual", [PutFragment("mum", None, "She lives in Faro.")])
    live.log("I am back. How is mum?")
    prompt = live.assemble()
    assert "\n\nplans()\n- [plan, user, Sun 1 Mar] read\n" in prompt.user
    assert prompt.user.count("recall(mum)\n- mum: She lives in Faro.\n") == 1
    assert "Porto" not in prompt.user
    # What was said stays so; more may have been said since.
    assert 'search("mum") (as of Sunday, 1 March 2026, 12:00)\n- ' in prompt.user
    assert live.at(clock.now).assemble().user == prompt.user
    live.log("<say>Welcome!</say>", "assistant")
    live.log("Thanks.")
    assert "## Recalled" not in live.assemble().user


@pytest.mark.requirement("JASM-05")
def test_a_fragment_is_recalled_once_whatever_it_is_called(
    live: LiveJournal, desk: MaintenanceDesk
) -> None:
    desk.apply(
        "manual",
        [
            PutFragment("garden", "The garden.", "Dug in spring."),
            PutFragment("allotment", recognition="Another name of [garden]."),
            PutEdge("allotment", "garden", "another name of"),
        ],
    )
    live.log("How is the allotment, our garden?")
    assert live.assemble().user.count("Dug in spring.") == 1
    live.log("recall(Garden) recall(allotment) recall(garden)", "assistant")
    assert [one.call for one in live.recalled()] == ["recall(Garden)"]
    live.log("So how is the allotment?")
    assert live.assemble().user.count("Dug in spring.") == 1
    draft = live.look_up([RecallCall("allotment")])
    assert live.assemble(looked_up=draft).user.count("Dug in spring.") == 1


@pytest.mark.requirement("JASM-05")
def test_a_search_that_is_asked_twice_costs_no_answer_that_waits(live: LiveJournal) -> None:
    live.log("My mum called.<plan>read</plan>")
    live.log("<say>Let me look.</say> plans()", "assistant")
    live.log("Well?")
    draft = live.look_up([SearchCall("my mum"), SearchCall("my  mum")])
    prompt = live.assemble(looked_up=draft).user
    assert prompt.count('search("my mum")\n- ') == 1
    assert "plans()\n- [plan, user] read" in prompt
