"""The loop around a journal, with replies written by hand."""

import pytest

from memory_butler.inference.language_models.port import ModelAnswerUnreadable, ModelOutputTooLong
from memory_butler.inference.language_models.scripted import ScriptedModel
from memory_butler.journal.conversation import Reply, reply, speaks_plainly
from memory_butler.journal.desk import MaintenanceDesk
from memory_butler.journal.file import JournalFile
from memory_butler.journal.fragments import PutFragment
from memory_butler.journal.live import LiveJournal
from memory_butler.journal.policy import JournalPolicy

pytestmark = pytest.mark.anyio

POLICY = JournalPolicy(untagged_reply_is_say=True)


async def answer(
    live: LiveJournal, *replies: str | Exception, look_ups: bool = True
) -> tuple[Reply, ScriptedModel]:
    model = ScriptedModel(replies)
    done = await reply(live, model, POLICY, max_tokens=100, look_ups=look_ups)
    return done, model


def cut_off(text: str | None) -> ModelOutputTooLong:
    error = ModelOutputTooLong("cut off")
    error.text = text
    return error


@pytest.mark.requirement("JASM-05", "JLOOK-01")
async def test_a_look_up_is_answered_before_anything_is_said(
    live: LiveJournal, desk: MaintenanceDesk
) -> None:
    desk.apply("manual", [PutFragment("well", "A well.", "It is deep.")])
    live.log("How deep is the well?")
    done, model = await answer(live, "Let me see. recall(well)", "<say>Very deep.</say>")
    assert done.looked_up == ("recall(well)",)
    assert "## Recalled\n\nrecall(well)\n- well: It is deep." in model.calls[1].prompt
    # The question stands last as before, and the draft is nowhere.
    assert model.calls[1].prompt.endswith("How deep is the well?")
    assert [one.content for one in live.events()] == [
        "How deep is the well?",
        "<say>Very deep.</say>",
    ]
    assert done.tokens > done.completion.tokens_in + done.completion.tokens_out


async def test_the_model_is_asked_once_more_and_no_oftener(live: LiveJournal) -> None:
    live.log("Well?")
    done, model = await answer(live, "recall(a)", "recall(b) <say>Hm.</say>")
    assert len(model.calls) == 2
    # What the second asks for waits for the next prompt, as ever.
    assert [one.call for one in live.recalled()] == ["recall(b)"]
    live.log("And now?")
    # What the prompt has anyway is not asked for again.
    done, model = await answer(live, "recall(b) <say>Nothing.</say>")
    assert (len(model.calls), done.looked_up) == (1, ())
    live.log("And?")
    done, model = await answer(live, "recall(c) <say>Later.</say>", look_ups=False)
    assert (len(model.calls), done.looked_up) == (1, ())


async def test_a_reply_that_meets_its_bound_is_kept_and_marked(live: LiveJournal) -> None:
    live.log("Tell me everything.")
    done, _ = await answer(live, cut_off("<say>It all began when the"))
    assert done.cut
    assert live.events()[-1].content == "<say>It all began when the […]"
    live.log("Go on")
    assert "assistant: It all began when the […]" in live.assemble().user
    for nothing in (None, " "):
        with pytest.raises(ModelOutputTooLong):
            await answer(live, cut_off(nothing))


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Hi \ud83d there", "Hi \ufffd there"),
        ("Hi \ud83d\ude00 there", "Hi 😀 there"),  # in two parts of a stream
        ('{"say": "Hi \\ud83d', "<say>Hi \ufffd […]"),
    ],
)
async def test_half_an_emoji_does_not_cost_the_reply(
    live: LiveJournal, said: str, kept: str
) -> None:
    live.log("Hello.", "user")
    told: list[str] = []
    model = ScriptedModel([cut_off(said) if said.startswith("{") else said])
    done = await reply(
        live, model, POLICY, max_tokens=100, heard=lambda shown: told.extend(map(str, shown))
    )
    event = live.event(done.logged.event_id)
    assert event is not None
    assert event.content == kept
    assert "\\ud83d" not in "".join(told)


async def test_thinking_that_a_bound_cut_off_is_not_said(live: LiveJournal) -> None:
    live.log("Hello.")
    await answer(live, "They are friendly. <say>Hi.</say>")
    live.log("Can I trust Tom?")
    with pytest.raises(ModelOutputTooLong):
        await answer(live, cut_off("Tom has lied to them before, and they must not hear of"))
    assert live.events()[-1].content == "Can I trust Tom?"
    done, _ = await answer(live, cut_off("Tom has lied. <say>I would ask"))
    assert done.cut
    live.log("Hm.")
    assert "assistant: I would ask […]" in live.assemble().user
    assert "lied" not in live.assemble().user


@pytest.mark.parametrize(
    "text",
    [
        "<think>They lie.</think>\n\nHello.",
        "They lie.\nSo be careful.\n</think>\n\nHello.",
        "<thinking>\nThey lie.\n</thinking>\nHello.",
    ],
)
async def test_what_a_model_marks_as_thinking_is_not_said(live: LiveJournal, text: str) -> None:
    live.log("Hi.")
    done, _ = await answer(live, text)
    assert done.text == live.events()[-1].content == "Hello."
    for unfinished in ("<think>They lie.", "<think>They lie.</think>\n"):
        with pytest.raises(ModelAnswerUnreadable):
            await answer(live, unfinished)
        with pytest.raises(ModelOutputTooLong):
            await answer(live, cut_off(unfinished))
    # One that is talked about is text.
    said = "<say>A line that ends with </think> is hidden; `<think>` begins it.</say>"
    done, _ = await answer(live, said)
    assert done.text == said


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("Luna: Good morning.", "Good morning."),
        ("\n**Luna:** Good morning.", "Good morning."),
        ("<say>Luna: Good morning.</say>", "<say>Good morning.</say>"),
        ("assistant: Good morning.", "Good morning."),
        ("Luna: it means the moon.", "it means the moon."),
        (
            "They asked Luna: why? <say>Luna: why?</say>",
            "They asked Luna: why? <say>Luna: why?</say>",
        ),
        ("Lunatic: a word.", "Lunatic: a word."),
        ("Luna:", "Luna:"),
    ],
)
async def test_a_reply_does_not_begin_with_ones_own_name(
    file: JournalFile, given: str, kept: str
) -> None:
    """The conversation tells it, and what stands there twice stands there three times soon."""
    policy = JournalPolicy(names={"assistant": "Luna"}, untagged_reply_is_say=True)
    live = LiveJournal(file, policy)
    live.log("Good morning!")
    await reply(live, ScriptedModel([given]), policy, max_tokens=100)
    assert live.events()[-1].content == kept


async def test_only_who_never_used_a_tag_is_shown_outside_of_tags(live: LiveJournal) -> None:
    """One that thinks outside of its tags may leave these out for a while."""
    assert not speaks_plainly(live, POLICY)
    live.log("Hello.")
    live.log("Hi there.", "assistant")
    assert speaks_plainly(live, POLICY)
    live.log("They are friendly. <say>Hi.</say>", "assistant")
    for _ in range(5):
        live.log("Let me think of it.", "assistant")
    assert not speaks_plainly(live, POLICY)
