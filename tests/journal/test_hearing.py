"""What may be shown of a reply while it is written: never what its end would have hidden."""

import asyncio
import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_butler.inference.language_models.port import Completion, ModelUnreachable, Request
from memory_butler.inference.language_models.scripted import ScriptedModel
from memory_butler.journal import hearing as hearing_module
from memory_butler.journal.conversation import Stopped, reply
from memory_butler.journal.hearing import Hearing
from memory_butler.journal.live import LiveJournal
from memory_butler.journal.policy import JournalPolicy
from memory_butler.journal.tags import ShownPiece, read
from memory_butler.journal.wording import shown_pieces

pytestmark = pytest.mark.anyio

POLICY = JournalPolicy(untagged_reply_is_say=True)
REPLY = (
    "They are friendly. <say>Good morning, <secret>a LANTERN\nfor HER</secret>Ana!\n"
    "plan>done LANTERNS</say> FINE <do>waves</do><feeling>CALM</feeling>"
)
SHOWN = [ShownPiece("say", "Good morning, Ana!"), ShownPiece("do", "waves")]


def heard(text: str, *, plainly: bool = False, look_ups: bool = True) -> list[list[ShownPiece]]:
    """What is shown after each character."""
    told: list[list[ShownPiece]] = []
    hearing = Hearing(
        POLICY, lambda shown: told.append(list(shown)), plainly=plainly, look_ups=look_ups
    )
    for one in text:
        hearing.hear(one)
    return told


def test_a_reply_is_shown_as_it_is_written() -> None:
    told = heard(REPLY)
    assert told[0] == [ShownPiece("say", "G")]
    assert told[-1] == SHOWN
    # Each time more of it, and never what is private.
    for before, now in pairwise(told):
        assert now[: len(before) - 1] == before[:-1]
        assert now[len(before) - 1].text.startswith(before[-1].text)


_PARTS = (
    *("<say>", "</say>", "<do>", "</do>", " hello ", "a < b", "\n", "<thought>HIDDEN"),
    *("<secret>HIDDEN\nHIDDEN</secret>", "<plan due='friday'>HIDDEN</plan>"),
    "<PİN>HIDDEN</PİN>",
    *("<pin>HIDDEN <do>told</do></pin>", "\npin>drop HIDDEN\n", "<feeling >HIDDEN</feeling>"),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(_PARTS), max_size=10).map("".join), st.booleans())
def test_nothing_private_is_shown_at_any_moment(text: str, plainly: bool) -> None:
    reading = read(text)
    said = "".join(
        one.text for one in shown_pieces("assistant", reading.pieces, reading.tags, POLICY)
    )
    for told in heard(text, plainly=plainly):
        now = "".join(one.text for one in told)
        assert now.count("HIDDEN") <= said.count("HIDDEN")


_WORDS = (
    *_PARTS,
    "p",
    "plan",
    "pin>",
    "\n- ",
    "drop TEA\n",
    "recall(",
    "tea",
    ")",
    "  ",
    "<",
    "s",
    ">",
)


@settings(max_examples=500, deadline=None)
@given(st.lists(st.sampled_from(_WORDS), max_size=14), st.booleans())
def test_what_is_shown_is_what_reading_all_of_it_again_would_show(
    parts: list[str], plainly: bool
) -> None:
    hearing = Hearing(POLICY, lambda _: None, plainly=plainly, look_ups=False)
    for number, part in enumerate(parts, 1):
        hearing.hear(part)
        at_once = Hearing(POLICY, lambda _: None, plainly=plainly, look_ups=False)
        at_once.hear("".join(parts[:number]))
        assert hearing.shown == at_once.shown


@pytest.mark.parametrize(
    "reply",
    [
        "<say>" + "a word and\nanother " * 1_000 + "</say>",
        "plainly " * 4_000,
        "<say>Hm.</say><thought>" + "a word and another " * 1_000 + "</thought>",
        '{"say": "' + "a word and another " * 1_000 + '"}',
        "<say>" + "(a) `b` [c] " * 2_000 + "</say>",
    ],
    ids=["said", "plain", "thought", "json", "signs"],
)
def test_a_long_reply_takes_time_by_its_length(reply: str, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = 0

    def counted(text: str) -> tuple[int, int, bool]:
        nonlocal taken
        taken += len(text)
        return settled_of(text)

    settled_of = hearing_module._settled
    monkeypatch.setattr(hearing_module, "_settled", counted)
    hearing = Hearing(POLICY, lambda _: None, plainly=True, look_ups=True)
    for part in re.findall(r"\S+\s*", reply):
        hearing.hear(part)
    assert hearing.text == reply.rstrip(" ") or hearing.text == reply
    # All of it again for each word would be 2,000 times and more.
    assert taken < (300 if "(a)" in reply else 10) * len(reply)


@pytest.mark.parametrize(
    "given",
    [
        '```json\n{"pin": "HIDDEN", "say": "HIDDEN"}\n```',
        '<tool_call>\n{"name": "pin", "arguments": {"text": "HIDDEN"}}\n</tool_call>',
        '[TOOL_CALLS] [{"name": "pin", "arguments": {"text": "HIDDEN"}}]',
        '<|tool_call|>[{"name": "pin", "arguments": {"text": "HIDDEN"}}]',
    ],
)
def test_what_may_become_tags_waits_for_the_end(given: str) -> None:
    told = heard(f"Of course.\n{given}", plainly=True)
    assert not re.search("HIDDEN|tool_call", str(told), re.IGNORECASE)
    assert told[-1] == [ShownPiece("say", "Of course.")]


def test_brackets_of_other_kinds_are_shown_as_they_come() -> None:
    told = heard("[1] See [there] {braces} and\n[2] here.", plainly=True)
    assert told[-1] == [ShownPiece("say", "[1] See [there] {braces} and\n[2] here.")]


def test_text_without_tags_is_shown_of_a_companion_that_uses_none() -> None:
    assert heard("Good morning.") == []
    told = heard("Good morning. <pin>TEA</pin> Yes?", plainly=True)
    assert told[0] == [ShownPiece("say", "G")]
    assert told[-1] == [ShownPiece("say", "Good morning. Yes?")]


def test_a_draft_that_looks_something_up_is_taken_back() -> None:
    told = heard("<say>Let me see.</say> recall(garden) <say>It has roses.</say>")
    assert told[-2:] == [[ShownPiece("say", "Let me see.")], []]
    told = heard("<say>Let me see.</say> recall(garden) <say>Ah.</say>", look_ups=False)
    assert told[-1][-1] == ShownPiece("say", "Ah.")


async def test_both_requests_of_a_turn_are_heard(live: LiveJournal) -> None:
    live.log("How deep is the well?")
    told: list[list[ShownPiece]] = []
    model = ScriptedModel(["<say>Hm.</say> recall(well)", "<say>Very deep.</say>"])
    done = await reply(
        live, model, POLICY, max_tokens=100, heard=lambda shown: told.append(list(shown))
    )
    assert [] in told
    assert told[-1] == [ShownPiece("say", "Very deep.")]
    assert done.looked_up == ("recall(well)",)


class Slow:
    """Says `text`, then nothing more until it is cancelled."""

    name = "slow"

    def __init__(self, text: str) -> None:
        self.text = text
        self.cancelled = False

    async def complete(self, request: Request) -> Completion:
        assert request.heard is not None
        request.heard(self.text)
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        raise ModelUnreachable("nobody stopped it")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("<say>It all began <feeling>mov", "<say>It all began […]"),
        ("They ask for a story. <sa", None),
    ],
)
async def test_what_was_shown_of_a_stopped_reply_is_kept(
    live: LiveJournal, text: str, kept: str | None
) -> None:
    live.log("Tell me everything.")
    model, stop = Slow(text), asyncio.Event()
    asking = asyncio.create_task(
        reply(live, model, POLICY, max_tokens=100, heard=lambda _: None, stop=stop)
    )
    await asyncio.sleep(0.05)
    stop.set()
    if kept is None:
        with pytest.raises(Stopped):
            await asking
        assert len(live.events()) == 1
    else:
        done = await asking
        assert done.cut
        assert live.events()[-1].content == kept
    assert model.cancelled


async def test_a_model_that_uses_no_tags_is_known_by_its_replies(live: LiveJournal) -> None:
    told: list[list[ShownPiece]] = []

    async def one(text: str) -> bool:
        told.clear()
        live.log("And?")
        model = ScriptedModel([text])
        await reply(live, model, POLICY, max_tokens=9, heard=lambda new: told.append(list(new)))
        return bool(told)

    assert not await one("First.")
    assert await one("Second.")
    assert await one("<say>Third.</say>")
    assert not await one("Fourth.")
