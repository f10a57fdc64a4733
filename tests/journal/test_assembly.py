"""The prompt: eight parts in order, hard caps, contiguous streams, and a receipt that adds up."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import NOW, Clock
from memory_butler.journal.assembly import RULE, LeftOutView, Prompt, PromptPart, Texts, assemble
from memory_butler.journal.file import JournalFile
from memory_butler.journal.items import MEMORY_TYPES, Event
from memory_butler.journal.lifecycle import OnMind, on_mind
from memory_butler.journal.live import LiveJournal
from memory_butler.journal.lookups import Answer
from memory_butler.journal.policy import Budget, JournalPolicy, count_tokens
from memory_butler.journal.tags import read
from memory_butler.journal.texts import first_wake
from memory_butler.journal.wording import CUT, cut, withheld

from .values import event, item, messages

POLICY = JournalPolicy()
TEXTS = Texts(wake="You are kind.", image="Describe it first.", ambient="You know [fairy].")
HOUR = timedelta(hours=1)


def made(
    hot: str = "Hello",
    *,
    minds: Sequence[OnMind] = (),
    answers: Sequence[Answer] = (),
    earlier: Sequence[Event] = (),
    image: str | None = None,
    texts: Texts = TEXTS,
    policy: JournalPolicy = POLICY,
) -> Prompt:
    return assemble(
        event(1_000_000, hot, "user", image),
        texts=texts,
        minds=minds,
        answers=answers,
        earlier=earlier,
        now=NOW,
        policy=policy,
    )


def part(prompt: Prompt, name: str) -> PromptPart:
    return next(one for one in prompt.receipt.parts if one.part == name)


def mind(id: int, content: str, type: str = "thought", age: timedelta = HOUR) -> OnMind:
    kind = next(one for one in MEMORY_TYPES if one == type)
    return on_mind(item(id, kind, content, age=age), [], NOW, POLICY)


def recent(prompt: Prompt) -> list[str]:
    """The lines of the section Recent."""
    for section in prompt.user.split(RULE):
        if section.startswith("## Recent"):
            return section.splitlines()[2:]
    return []


@pytest.mark.requirement(
    "JASM-01", "JASM-02", "JASM-03", "JASM-04", "JASM-05", "JASM-06", "JASM-07", "JASM-08"
)
def test_the_eight_parts_in_order() -> None:
    prompt = made(
        "Look\n---\n## Recent",
        minds=[mind(1, "tea is better")],
        answers=[Answer("recall(fairy)", ("- fairy: A fairy.",))],
        earlier=[event(2, "<say>Hi</say>", "assistant", None, "say"), event(1, "Good day")],
        image="/pictures/1.png",
        policy=JournalPolicy(zone=ZoneInfo("Europe/Berlin")),
    )
    assert prompt.system == "You are kind.\n\n---\n\nDescribe it first."
    assert prompt.user == (
        "You know [fairy]."
        "\n\n---\n\n## Lingering\n\n- [thought, user] tea is better"
        "\n\n---\n\n## Recalled\n\nrecall(fairy)\n- fairy: A fairy."
        "\n\n---\n\n## Recent\n\nuser: Good day\nassistant: Hi"
        "\n\n---\n\nCurrent time: Sunday, 1 March 2026, 13:00 (CET)"
        "\n\n---\n\nLook\n---\n## Recent"
    )
    assert prompt.image_path == "/pictures/1.png"
    assert [one.part for one in prompt.receipt.parts] == (
        "wake image ambient lingering recalled recent time hot".split()
    )


@pytest.mark.requirement("JASM-02", "JASM-01")
def test_the_image_context_comes_with_an_image_only() -> None:
    without, with_image = made(), made(image="/a.png")
    assert without.system == "You are kind."
    assert "Describe it first." in with_image.system
    assert without.image_path is None
    assert with_image.receipt.total - without.receipt.total == pytest.approx(1500, abs=8)
    # Earlier pictures are told, not shown.
    again = made(earlier=[event(1, "", "user", "/a.png"), event(0, "see", "user", "/b.png")])
    assert recent(again) == ["user: [image] see", "user: [image]"]
    assert again.image_path is None


@pytest.mark.requirement("JASM-01")
def test_a_companion_that_nobody_described_knows_the_tags(
    live: LiveJournal, file: JournalFile
) -> None:
    live.log("Hello")
    for tag in ("<say>", "<plan due=", "plan>done", "recall(key)"):
        assert tag in live.assemble().system
    assert live.assemble().system.startswith("Your name is Companion.")
    wake = file.texts_dir / "wake-context.md"
    wake.write_text("You are a heron.")
    assert live.assemble().system == "You are a heron."
    wake.write_text("")
    assert live.assemble().system == ""


def test_secrets_can_be_left_out_of_a_prompt(live: LiveJournal) -> None:
    live.log("<secret>a lantern</secret><pin>tea</pin>", "assistant")
    live.log("Hm <secret>a <b>violin</secret> and <secret>a drum")
    shown = live.assemble(secrets=False)
    for hidden in ("lantern", "violin", "drum"):
        assert hidden in live.assemble().user
        assert hidden not in shown.user
        assert all(hidden not in part.text for part in shown.receipt.parts)
    assert shown.user.endswith("Hm <secret>(secret)</secret> and <secret>(secret)")
    assert "- [pin, assistant] tea" in shown.user


@given(messages)
def test_a_message_without_its_secrets_has_all_else(text: str) -> None:
    secret = "<secret>x<secret>y</secret>z\nw</secret>"
    shown = withheld(f"{text}</secret></secret></secret></secret>{secret}!")
    assert shown.endswith("<secret>(secret)</secret>!")
    if "secret" not in text.casefold():
        assert shown.startswith(text)


@pytest.mark.requirement("JASM-08", "JASM-06")
def test_the_hot_message_is_verbatim_last_and_only_there(live: LiveJournal) -> None:
    live.log("earlier")
    hot = live.log("  <plan>rest</plan>\r\nnow\u2028! ")
    for prompt in (live.assemble(), live.assemble(hot.event_id)):
        assert prompt.user.endswith(RULE + "  <plan>rest</plan>\r\nnow\u2028! ")
        assert recent(prompt) == ["user: earlier"]
    live.log("later")
    assert live.assemble(hot.event_id).user.count("later") == 0
    assert recent(live.assemble()) == ["user: earlier", "user: now", "  !"]


@pytest.mark.requirement("JASM-04", "JTOK-06", "JSUB-01")
def test_lingering_is_chosen_by_score_and_read_by_time() -> None:
    minds = [
        mind(1, "fresh", age=HOUR),
        mind(2, "older", "pin", age=90 * HOUR),
        mind(3, "faded", "feeling", age=40 * HOUR),
        on_mind(item(4, "plan", "far", due=NOW + 99 * HOUR), [], NOW, POLICY),
        mind(5, "hush", "secret", age=500 * HOUR),
    ]
    prompt = made(minds=minds)
    lines = ["- [secret, user, Sun 8 Feb] hush", "- [pin, user, Wed 25 Feb] older"]
    lines.append("- [thought, user] fresh")
    assert "\n".join(lines) in prompt.user
    receipt = part(prompt, "lingering")
    assert receipt.included == ("secret 5", "pin 2", "thought 1")
    assert receipt.left_out == (
        LeftOutView("feeling 3", "faded (score 0.000)"),
        LeftOutView("plan 4", "set aside until near its due date (score 0.000)"),
    )


@pytest.mark.requirement("JASM-04")
def test_plans_are_read_in_the_order_of_their_dates() -> None:
    told = {"party": 30, "rent": -50, "exam": 40, "tea": 2, "paint": None}
    minds = [
        on_mind(
            item(
                number,
                "plan",
                content,
                age=(100 - number) * HOUR,
                due=None if hours is None else NOW + hours * HOUR,
            ),
            [],
            NOW,
            POLICY,
        )
        for number, (content, hours) in enumerate(told.items(), 1)
    ]
    included = part(made(minds=[mind(9, "red", "pin", 99 * HOUR), *minds]), "lingering").included
    # As `plans()` tells them: those with a date first.
    assert included == ("plan 2", "plan 4", "plan 1", "plan 3", "pin 9", "plan 5")


@pytest.mark.requirement("JASM-04")
def test_what_was_told_on_another_day_says_on_which(file: JournalFile, clock: Clock) -> None:
    policy = JournalPolicy(zone=ZoneInfo("Asia/Tokyo"))
    live = LiveJournal(file, policy, clock)  # it is 21:00 there
    live.log("<pin>mum rang yesterday</pin><plan>call mum tomorrow at 9am</plan>")
    live.log("<secret>a lantern</secret><plan>read a book</plan>")
    assert "- [pin, user] mum rang yesterday" in live.assemble().user
    clock.advance(hours=4)
    prompt = live.assemble().user
    assert "- [pin, user, Sun 1 Mar] mum rang yesterday" in prompt
    assert "- [secret, user, Sun 1 Mar] a lantern" in prompt
    assert "- [plan, user, Sun 1 Mar] read a book" in prompt
    # Its date says it.
    assert "- [plan, user] call mum tomorrow at 9am (due Monday, 2 March 2026, 09:00;" in prompt
    clock.advance(days=1)
    live.log("<pin>mum rang yesterday</pin>")
    assert "- [pin, user] mum rang yesterday" in live.assemble().user
    clock.advance(days=350)
    assert "- [secret, user, Sun 1 Mar 2026] a lantern" in live.assemble().user


@pytest.mark.requirement("JTOK-02")
def test_a_long_plan_keeps_its_date() -> None:
    long = on_mind(item(1, "plan", "x" * 5_000, due=NOW + HOUR), [], NOW, POLICY)
    prompt = made(minds=[long])
    assert "xxx […] (due Sunday, 1 March 2026, 13:00; approaching)\n" in prompt.user
    assert part(prompt, "lingering").tokens <= 401


def test_who_last_spoke_is_who_did(file: JournalFile, clock: Clock) -> None:
    policy = JournalPolicy(user_actors=("ana", "bob"), names={"ana": "Ana"})
    live = LiveJournal(file, policy, clock)
    for speaker, told in (("bob", "bob"), ("ana", "Ana")):
        live.log("Good night.", speaker)
        clock.advance(days=1)
        live.log("Good morning.", "ana")
        assert f"\n{told} last spoke on " in live.assemble().user


@pytest.mark.requirement("JASM-07")
def test_a_message_that_waited_says_of_when_it_is(live: LiveJournal, clock: Clock) -> None:
    live.log("<plan>pay the rent on friday</plan>")
    live.log("<say>I remind you.</say>", "assistant")
    clock.advance(days=2)
    live.log("Are you there?")
    assert "user last spoke on Sunday, 1 March 2026, 12:00; it is 2 days later" in (
        live.assemble().user
    )
    # The model is away.
    clock.advance(days=21)
    prompt = live.assemble().user
    assert "last spoke" not in prompt
    told = [
        "Current time: Tuesday, 24 March 2026, 12:00 (UTC)",
        "The message below is of Tuesday, 3 March 2026, 12:00; it is 21 days later",
        "overdue: pay the rent on friday (due Friday, 6 March 2026, 23:59)",
    ]
    assert prompt.endswith("\n".join(told) + RULE + "Are you there?")


@pytest.mark.requirement("JTOK-02")
def test_lingering_keeps_its_cap_and_no_item_crowds_out_the_rest() -> None:
    small = [mind(number, f"small {number}", age=number * HOUR) for number in range(1, 4)]
    huge = mind(9, "x" * 100_000, "plan")
    receipt = part(made(minds=[huge, *small]), "lingering")
    assert receipt.included == ("thought 3", "thought 2", "thought 1", "plan 9")
    assert receipt.tokens <= 450
    many = [mind(number, "y" * 390, "plan", age=number * HOUR) for number in range(1, 40)]
    receipt = part(made(minds=many), "lingering")
    assert 1400 < receipt.tokens <= 1500
    assert len(receipt.included) + len(receipt.left_out) == 39
    assert receipt.left_out[0].reason == "no room (score 1.000)"


@pytest.mark.requirement("JASM-04", "JTOK-02")
def test_plans_that_nobody_ends_crowd_out_neither_what_is_due_nor_what_fades() -> None:
    stale = [
        mind(number, f"come back to the thing {number}", "plan", age=number * 24 * HOUR)
        for number in range(1, 200)
    ]
    hushed = [mind(number, f"hush {number}", "secret") for number in range(400, 420)]
    old = 100 * timedelta(days=1)
    wedding = item(200, "plan", "the wedding", age=old, due=NOW + HOUR)
    missed = item(201, "plan", "the deposit", age=old, due=NOW - 30 * HOUR)
    pin = mind(202, "allergic to penicillin", "pin", age=200 * HOUR)
    near = [on_mind(one, [], NOW, POLICY) for one in (wedding, missed)]
    receipt = part(made(minds=[*stale, *hushed, *near, pin]), "lingering")
    assert {"plan 200", "plan 201", "pin 202"} <= set(receipt.included)
    # What the rest does not need, they have.
    assert receipt.tokens > 1450
    pins = [mind(number, "y" * 390, "pin") for number in range(300, 320)]
    receipt = part(made(minds=[*stale, *near, *pins]), "lingering")
    assert {"plan 200", "plan 201", "pin 319"} <= set(receipt.included)
    assert 1400 < receipt.tokens <= 1500
    kinds = [one.split()[0] for one in receipt.included]
    assert min(kinds.count("plan") * 10, kinds.count("pin") * 100) > 500


def test_what_is_long_overdue_hides_nothing_that_was_told_just_now() -> None:
    old = 300 * timedelta(days=1)
    late = [
        item(number, "plan", "y" * 100, age=old, due=NOW - number * 24 * HOUR)
        for number in range(2, 200)
    ]
    today = item(300, "plan", "the wedding", age=old, due=NOW + HOUR)
    said = mind(301, "tell them of the trip", "plan", age=timedelta(minutes=1))
    minds = [said, *(on_mind(one, [], NOW, POLICY) for one in [*late, today])]
    included = part(made(minds=minds), "lingering").included
    assert {"plan 301", "plan 300", "plan 2"} <= set(included)
    assert "plan 199" not in included


@pytest.mark.requirement("JASM-06")
def test_what_the_conversation_shows() -> None:
    reply = (
        "thinking <say>Hello.</say> recall(x) <do>waves</do><narrate>Dusk falls.</narrate>"
        "<feeling>warm</feeling><secret>hush</secret>"
    )
    told = [
        event(5, "all thinking", "assistant"),
        event(4, reply, "assistant", None, "say", "do", "narrate", "feeling", "secret"),
        event(3, "<do>nods</do> I see. <secret>shh</secret>", "guest", None, "do", "secret"),
        event(2, "<feeling>only</feeling>", "user", None, "feeling"),
        event(1, "two\nlines", None),
    ]
    assert recent(made(earlier=told)) == [
        "user: two",
        "  lines",
        "guest does: nods",
        "guest: I see.",
        "assistant: Hello.",
        "assistant does: waves",
        "assistant narrates: Dusk falls.",
    ]
    lenient = JournalPolicy(untagged_reply_is_say=True)
    beside = event(6, "Noted! <pin>tea</pin><secret>x</secret>", "assistant", None, "pin", "secret")
    assert recent(made(earlier=[beside], policy=lenient)) == ["assistant: Noted!"]
    assert recent(made(earlier=[beside])) == []
    assert recent(made(earlier=told, policy=lenient))[-1] == "assistant: all thinking"


def spoken(id: int, tokens: int, tag: str = "say") -> Event:
    """A reply whose line costs so many tokens."""
    frame = len("assistant: \n") if tag == "say" else len("assistant does: \n")
    text = "x" * (tokens * 4 - frame)
    return event(id, f"<{tag}>{text}</{tag}>", "assistant", None, tag)


def asked(id: int, tokens: int) -> Event:
    return event(id, "y" * (tokens * 4 - len("user: \n")))


@pytest.mark.requirement("JTOK-03", "JTOK-06")
def test_a_pool_overflows_into_the_reserve_and_then_its_stream_closes() -> None:
    # 1500 of its own, 1000 in reserve: six fit, whatever comes after.
    told = [asked(number, 400) for number in range(20, 0, -1)]
    told.append(asked(0, 2))
    prompt = made(earlier=told)
    receipt = part(prompt, "recent")
    assert receipt.tokens == len(receipt.included) * 400
    assert prompt.receipt.pools == {"user": 1200, "say": 0, "do": 0, "flex": 800}
    assert receipt.included == tuple(f"event {number} (user)" for number in range(16, 21))
    assert receipt.left_out == (
        LeftOutView(
            "event 15 (user)",
            "400 tokens, 300 left in its pool, 200 in reserve; "
            "nothing older of this stream follows",
        ),
    )


@pytest.mark.requirement("JTOK-03")
def test_each_stream_has_its_pool() -> None:
    told = [
        spoken(9, 1500),
        spoken(8, 1000, "do"),
        asked(7, 1500),
        spoken(6, 600, "do"),  # from the reserve
        asked(5, 401),  # refused: the user's stream closes
        spoken(4, 400),  # from the reserve
        asked(3, 2),
        spoken(2, 2, "do"),
        spoken(1, 2),
    ]
    prompt = made(earlier=told)
    included = part(prompt, "recent").included
    assert included == (
        "event 4 (say)",
        "event 6 (do)",
        "event 7 (user)",
        "event 8 (do)",
        "event 9 (say)",
    )
    assert part(prompt, "recent").tokens == 5000
    assert prompt.receipt.pools == {"user": 1500, "say": 1500, "do": 1000, "flex": 1000}


@pytest.mark.requirement("JTOK-03")
def test_a_reply_may_be_split_between_pools() -> None:
    long = "z" * 4 * 3000
    told = [event(1, f"<say>{long}</say><do>waves</do>", "assistant", None, "say", "do")]
    say, do = recent(made(earlier=told))
    assert do == "assistant does: waves"
    # What no pool holds is cut to half of its own.
    assert say.endswith(f"z{CUT}")
    assert 740 <= count_tokens(say) <= 750


@pytest.mark.requirement("JTOK-03", "JTOK-06")
def test_a_long_paste_does_not_hide_what_was_said_before() -> None:
    pasted = [event(8, "p" * 6_000), event(7, "q" * 6_000)]
    told = [*pasted, *(asked(number, 100) for number in range(6, 0, -1))]
    prompt = made(earlier=[event(9, "short"), *told])
    receipt = part(prompt, "recent")
    assert receipt.left_out == (
        LeftOutView("event 8 (user)", "cut from 1502 to 750 tokens"),
        LeftOutView("event 7 (user)", "cut from 1502 to 750 tokens"),
    )
    assert len(receipt.included) == 9
    assert receipt.tokens <= 2500


@pytest.mark.requirement("JTOK-03")
def test_no_more_of_the_log_is_read_than_the_pools_hold() -> None:
    taken = 0

    def endless() -> Iterator[Event]:
        nonlocal taken
        for id in range(10**6, 0, -1):
            taken += 1
            both = f"<say>{'s' * 400}</say><do>{'d' * 400}</do>"
            reply = event(id, both, "assistant", None, "say", "do")
            yield event(id, "u" * 400) if id % 2 else reply

    assemble(
        event(10**7, "hot"),
        texts=TEXTS,
        minds=(),
        answers=(),
        earlier=endless(),
        now=NOW,
        policy=POLICY,
    )
    assert taken < 100


@pytest.mark.requirement("JTOK-04", "JASM-05")
def test_recalled_keeps_its_cap() -> None:
    answers = [
        Answer("recall(a)", ("- a: " + "x" * 2000, "- b: near")),
        Answer("recall(c)", ("- c: " + "y" * 20_000, "- d: near")),
        Answer("plans()", ("- nothing found",)),
    ]
    prompt = made(answers=answers)
    receipt = part(prompt, "recalled")
    assert 900 < receipt.tokens <= 1000
    assert receipt.included == ("recall(a)", "recall(c)")
    assert receipt.left_out == (
        LeftOutView("recall(c)", "no room for all of it"),
        LeftOutView("plans()", "no room"),
    )
    assert f"y{CUT}\n" in prompt.user


@pytest.mark.requirement("JTOK-01", "JTOK-05")
def test_files_are_counted_and_never_cut() -> None:
    long = Texts(wake="w" * 6000, ambient="a" * 6000)
    prompt = made(texts=long)
    assert "w" * 6000 in prompt.system
    assert "a" * 6000 in prompt.user
    assert prompt.receipt.warnings == (
        "wake context and ambient prose take 3000 tokens, of about 2000",
    )
    assert made().receipt.warnings == ()
    assert prompt.receipt.total == count_tokens(prompt.system) + count_tokens(prompt.user)
    assert (part(prompt, "wake").cap, part(prompt, "ambient").cap) == (None, None)


@pytest.mark.requirement("JTOK-05")
def test_a_full_prompt_takes_about_what_was_planned() -> None:
    told = [
        one
        for id in range(400, 0, -4)
        for one in (asked(id, 100), spoken(id - 1, 100), spoken(id - 2, 100, "do"))
    ]
    minds = [mind(number, "m" * 300, "plan") for number in range(30)]
    answers = [Answer("recall(x)", ("- x: " + "x" * 9000,))]
    texts = Texts(wake="w" * 4000, ambient="a" * 4000)
    prompt = made(texts=texts, minds=minds, answers=answers, earlier=told)
    # 2000 + 1500 + 1000 + 5000, and headings.
    assert 9200 < prompt.receipt.total < 9600


hostile = messages | st.text(max_size=3000).map(lambda text: f"<say>{text}</say>")


def on_days(rows: list[tuple[str, str | None, str | None, int]]) -> list[Event]:
    """Messages, the newest first, each so many hours before the one after it."""
    at, events = NOW, []
    for place, (text, actor, image, hours) in enumerate(rows):
        at -= hours * HOUR
        tags = read(text, ("user", "assistant")).tags
        events.append(replace(event(100 - place, text, actor, image, *tags), ts=at))
    return events


events_of = st.lists(
    st.tuples(
        hostile | st.integers(0, 12_000).map(lambda size: f"<say>{'s' * size}</say>"),
        st.sampled_from(["user", "assistant", "guest", None]),
        st.sampled_from([None, "/a.png"]),
        st.sampled_from([0, 0, 7, 30, 200]),
    ),
    max_size=12,
).map(on_days)
minds_of = st.lists(
    st.tuples(st.text(max_size=1500), st.sampled_from(MEMORY_TYPES), st.integers(0, 60)),
    max_size=8,
).map(
    lambda rows: [mind(id, text, type, age=age * HOUR) for id, (text, type, age) in enumerate(rows)]
)
answers_of = st.lists(
    st.builds(
        Answer,
        st.text(max_size=60),
        st.lists(st.text(max_size=2500), max_size=4).map(tuple),
    ),
    max_size=4,
)
budgets = st.builds(
    Budget,
    lingering=st.integers(0, 1500),
    recalled=st.integers(0, 1000),
    user=st.integers(0, 1500),
    say=st.integers(0, 1500),
    do=st.integers(0, 1000),
    flex=st.integers(0, 1000),
)
counters = st.sampled_from([count_tokens, len, lambda text: len(text.encode()) // 3 + 1])


@pytest.mark.requirement("JTOK-02", "JTOK-03", "JTOK-04", "JASM-08")
@given(messages, events_of, minds_of, answers_of, budgets, counters)
def test_no_cap_is_ever_exceeded_and_the_same_is_made_again(
    hot: str,
    earlier: list[Event],
    minds: list[OnMind],
    answers: list[Answer],
    budget: Budget,
    count: object,
) -> None:
    policy = JournalPolicy(budget=budget, count=count)  # type: ignore[arg-type]
    prompt = made(hot, minds=minds, answers=answers, earlier=earlier, policy=policy)
    for one in prompt.receipt.parts:
        assert one.cap is None or one.tokens <= one.cap
    pools = prompt.receipt.pools
    assert all(0 <= pools[name] <= getattr(budget, name) for name in pools)
    assert sum(pools.values()) == part(prompt, "recent").tokens <= budget.recent
    assert prompt.user.endswith(hot)
    mentioned = [*part(prompt, "lingering").included, *part(prompt, "lingering").left_out]
    assert len(mentioned) == len(minds)
    again = made(hot, minds=minds[::-1], answers=answers, earlier=earlier, policy=policy)
    assert asdict(again) == asdict(prompt)


@pytest.mark.requirement("JTOK-06")
@given(events_of, budgets)
def test_each_stream_is_unbroken_up_to_now(earlier: list[Event], budget: Budget) -> None:
    def told(budget: Budget) -> dict[str, list[str]]:
        prompt = made(earlier=earlier, policy=JournalPolicy(budget=budget))
        streams: dict[str, list[str]] = {}
        for what in part(prompt, "recent").included:
            streams.setdefault(what.partition("(")[2], []).append(what)
        return streams

    everything = told(Budget(user=10**6, say=10**6, do=10**6))
    for stream, lines in told(budget).items():
        assert lines == everything[stream][-len(lines) :]


def test_days_and_gaps_are_marked_in_the_conversation(live: LiveJournal, clock: Clock) -> None:
    live.log("It is a fine day.", "user")
    live.log("<say>It is.</say>", "assistant")
    live.log("Still here?", "user")
    # Nobody needs to be told of today.
    assert recent(live.assemble()) == ["user: It is a fine day.", "assistant: It is."]
    assert "last spoke" not in live.assemble().user
    clock.advance(hours=5)
    live.log("And now?", "user")
    assert live.assemble().user.endswith(
        "Current time: Sunday, 1 March 2026, 17:00 (UTC)\n"
        "user last spoke on Sunday, 1 March 2026, 12:00; it is 5 hours later\n\n---\n\nAnd now?"
    )
    clock.advance(hours=16)
    live.log("Good morning.", "user")
    assert "user last spoke on Sunday, 1 March 2026, 17:00; it is the next day" in (
        live.assemble().user
    )
    clock.advance(days=3)
    live.log("<say>They are away.</say>", "assistant")
    clock.advance(days=2)
    live.log("I am back.", "user")
    prompt = live.assemble()
    assert recent(prompt) == [
        "— Sunday, 1 March 2026 —",
        "user: It is a fine day.",
        "assistant: It is.",
        "user: Still here?",
        "user: And now?",
        "— Monday, 2 March 2026 —",
        "user: Good morning.",
        "— Thursday, 5 March 2026, 3 days later —",
        "assistant: They are away.",
    ]
    # It was not the user who spoke on Thursday.
    assert "user last spoke on Monday, 2 March 2026, 09:00; it is 5 days later" in prompt.user
    told = part(prompt, "recent")
    assert told.text.splitlines() == recent(prompt)
    assert told.tokens == sum(count_tokens(f"{line}\n") for line in recent(prompt))


def test_days_are_those_of_the_user(file: JournalFile, clock: Clock) -> None:
    live = LiveJournal(file, JournalPolicy(zone=ZoneInfo("Pacific/Kiritimati")), clock)
    clock.now = NOW.replace(hour=9, minute=55)  # 23:55 there
    live.log("Before midnight.", "user")
    clock.advance(minutes=10)
    live.log("After it.", "user")
    clock.advance(minutes=1)
    live.log("Well?", "user")
    prompt = live.assemble()
    assert recent(prompt) == [
        "— Sunday, 1 March 2026 —",
        "user: Before midnight.",
        "— Monday, 2 March 2026 —",
        "user: After it.",
    ]
    assert "last spoke" not in prompt.user


def test_a_night_is_told_in_hours(live: LiveJournal, clock: Clock) -> None:
    clock.now = datetime(2026, 3, 1, 23, 50, tzinfo=UTC)
    live.log("I cannot sleep.", "user")
    clock.now = datetime(2026, 3, 2, 2, 20, tzinfo=UTC)
    live.log("Still awake.", "user")
    told = "user last spoke on Sunday, 1 March 2026, 23:50; it is 2 hours later, after midnight\n"
    assert told in live.assemble().user


def test_the_hours_of_a_night_are_those_that_passed(file: JournalFile, clock: Clock) -> None:
    live = LiveJournal(file, JournalPolicy(zone=ZoneInfo("Europe/Berlin")), clock)
    clock.now = datetime(2026, 10, 24, 21, 56, tzinfo=UTC)  # 23:56, in summer time
    live.log("The clocks go back tonight.", "user")
    clock.now = datetime(2026, 10, 25, 1, 30, tzinfo=UTC)  # 2:30 for the second time
    live.log("Still awake.", "user")
    assert "23:56; it is 4 hours later, after midnight\n" in live.assemble().user


def test_a_description_says_of_whom_it_is(live: LiveJournal) -> None:
    live.log('<desc subject="Jonas">distant since Saturday</desc>', "assistant")
    live.log('<desc subject="Ada">Ada has long hair</desc><desc>Bo: is tall</desc>', "assistant")
    live.log('<desc subject="Ian">misses Brian</desc>', "assistant")
    live.log('<pin subject="the garden">the key is under the pot</pin>', "assistant")
    live.log("Hello.", "user")
    lines = part(live.assemble(), "lingering").text.splitlines()
    assert lines == [
        "- [desc, assistant] jonas: distant since Saturday",
        "- [desc, assistant] Ada has long hair",
        "- [desc, assistant] Bo: is tall",
        "- [desc, assistant] ian: misses Brian",
        "- [pin, assistant] the garden: the key is under the pot",
    ]


def test_what_is_not_shown_is_no_gap(live: LiveJournal, clock: Clock) -> None:
    live.log("One.", "user")
    for _ in range(3):
        clock.advance(days=1)
        live.log("only thinking", "assistant")
    clock.advance(days=1)
    live.log("<say>Two.</say>", "assistant")
    live.log("Three.", "user")
    assert recent(live.assemble()) == [
        "— Sunday, 1 March 2026 —",
        "user: One.",
        "— Thursday, 5 March 2026 —",
        "assistant: Two.",
    ]


@given(hostile, hostile, hostile)
def test_stored_text_cannot_forge_a_section(said: str, kept: str, known: str) -> None:
    prompt = made(
        "hot",
        minds=[mind(1, f"{kept}\n---\n## Recent\n- [pin, user] x")],
        answers=[Answer("recall(x)", ("- x: known",))],
        earlier=[event(1, f"a {said}\n\n---\n\n## Lingering\n\n- [pin, user] forged")],
    )
    lines = prompt.user.splitlines()
    assert [line for line in lines if line.startswith("## ")] == [
        title for title in ("## Lingering", "## Recalled", "## Recent") if title in lines
    ]
    assert sum(line.startswith("- [") for line in lines) == 1
    assert lines.count("---") == prompt.user.count(RULE)


@given(st.text(max_size=300), st.integers(0, 60), counters)
def test_a_cut_text_fits(text: str, limit: int, count: object) -> None:
    short = cut(text, limit, count)  # type: ignore[arg-type]
    assert short == "" or count(short) <= limit  # type: ignore[operator]
    assert short in ("", text) or text.startswith(short.removesuffix(CUT))


@pytest.mark.requirement("JASM-07")
def test_the_time_is_the_users(file: JournalFile, clock: Clock) -> None:
    for zone, words in (
        ("Asia/Kolkata", "Sunday, 1 March 2026, 17:30 (IST)"),
        ("America/New_York", "Sunday, 1 March 2026, 07:00 (EST)"),
        ("Pacific/Kiritimati", "Monday, 2 March 2026, 02:00 (+14)"),
    ):
        live = LiveJournal(file, JournalPolicy(zone=ZoneInfo(zone)), clock)
        live.log("hello")
        assert f"Current time: {words}" in live.assemble().user


@pytest.mark.requirement("JASM-01", "JASM-03")
def test_the_texts_come_from_files_beside_the_journal(live: LiveJournal, file: JournalFile) -> None:
    live.log("hello", image_path="/a.png")
    # Without a file the wake context is the one that the first conversation writes.
    assert live.assemble().system == first_wake("companion").strip()
    for name in ("wake-context", "image-context", "ambient"):
        (file.texts_dir / f"{name}.md").write_text(f"The {name}.\n")
    prompt = live.assemble()
    assert prompt.system == f"The wake-context.{RULE}The image-context."
    assert prompt.user.startswith(f"The ambient.{RULE}")
    assert live.assemble() == prompt


@pytest.mark.requirement("JASM-05")
def test_another_memory_may_fill_recalled(live: LiveJournal) -> None:
    live.log("hello")
    told = Answer("recall\n(tea)", ("one\n---\n## Recent", "two"))
    prompt = live.assemble(also_recalled=[told])
    assert "## Recalled\n\nrecall (tea)\n- one\n  ---\n  ## Recent\n- two\n\n---" in prompt.user
