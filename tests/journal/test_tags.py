"""The tag reader: what the grammar says, and that nothing makes it fail or lose text."""

import time

import pytest
from hypothesis import given

from memory_butler.journal.calls import PlansCall, RecallCall
from memory_butler.journal.items import DISPLAY_TAGS, MEMORY_TYPES, DisplayTag, MemoryType
from memory_butler.journal.tags import MAX_CHANGES, Command, Remember, ShownPiece, Verb, read

from .values import messages


@pytest.mark.requirement("JSCH-04")
@pytest.mark.parametrize("name", DISPLAY_TAGS)
def test_a_display_tag_labels_what_is_shown(name: DisplayTag) -> None:
    reading = read(f"thinking <{name}>Hello there.</{name}>")
    assert reading.pieces == (ShownPiece("plain", "thinking"), ShownPiece(name, "Hello there."))
    assert reading.tags == (name,)
    assert reading.changes == ()


@pytest.mark.requirement("JSCH-04", "JSCH-06")
@pytest.mark.parametrize("name", MEMORY_TYPES)
def test_a_memory_tag_is_kept_and_not_shown(name: MemoryType) -> None:
    reading = read(f"<{name.upper()}> the cat\nis grey </{name}>")
    assert reading.changes == (Remember(name, "the cat\nis grey"),)
    assert reading.pieces == ()
    assert reading.tags == (name,)


def test_attributes() -> None:
    plan, desc = read(
        "<plan due=\"next friday\">paint</plan><desc subject='Ada' mood=calm>tall</desc>"
    ).changes
    assert plan == Remember("plan", "paint", due="next friday")
    assert desc == Remember("desc", "tall", subject="Ada")


@pytest.mark.requirement("JSUP-03", "JSUP-04")
@pytest.mark.parametrize(
    ("type", "words", "verb"),
    [
        ("plan", "done complete finished", "done"),
        ("plan", "cancel drop abandon", "cancel"),
        ("plan", "skip", "skip"),
        ("pin", "drop release clear remove", "drop"),
        ("secret", "reveal", "reveal"),
    ],
)
def test_commands_and_their_synonyms(type: MemoryType, words: str, verb: Verb) -> None:
    order = Command(type, verb, "exercise at home")
    for word in words.split():
        for text in (
            f"{type}>{word} exercise at home",
            f"{type}>{word}: exercise at home",
            f"{type.title()}> {word.upper()}: exercise at home",
            f"<{type}>{word} exercise at home</{type}>",
            f"<{type}>{word}: exercise at home</{type}>",
            f"<{type}>{word} exercise at home",
        ):
            assert read(text).changes == (order,), text
        for bare in (f"{type}>{word}", f"<{type}>{word}</{type}>", f"{type}>{word}:\nmore"):
            assert read(bare).changes == (Command(type, verb, ""),), bare


@pytest.mark.requirement("JSUP-03")
def test_what_is_no_command() -> None:
    for text in (
        "plan>buy milk",
        "explan>done it",
        "plan>doneness",
        "thought>done",
        "a</plan>done",
    ):
        assert read(text).changes == ()
    assert read("<plan>donate blood</plan>").changes == (Remember("plan", "donate blood"),)
    # A due date makes it a new plan, whatever its first word.
    assert read('<plan due="friday">finished draft to Ada</plan>').changes == (
        Remember("plan", "finished draft to Ada", due="friday"),
    )
    assert read("<thought>plan>done x</thought>").changes == (Remember("thought", "plan>done x"),)


def test_a_command_ends_with_its_line_and_is_not_shown() -> None:
    reading = read("<say>Well.\nplan>done the dishes\nNext.</say>")
    assert reading.changes == (Command("plan", "done", "the dishes"),)
    assert reading.pieces == (ShownPiece("say", "Well.\n\nNext."),)


def test_a_tag_within_a_line_leaves_one_space() -> None:
    reading = read("Noted! <pin>tea</pin> I will  not forget.")
    assert reading.pieces == (ShownPiece("plain", "Noted! I will  not forget."),)


@pytest.mark.requirement("JSUP-03")
def test_a_command_within_a_sentence_is_talked_about() -> None:
    for text in (
        "You close a plan with plan>done the dishes",
        "<say>Write plan>done the dishes, and it is gone.</say>",
    ):
        assert read(text).changes == ()
        assert "".join(one.text for one in read(text).pieces).count("plan>done the dishes") == 1
    for text in (
        "- plan>done the dishes",
        "Fine.\n  * plan>done the dishes",
        "<do>x</do> plan>done the dishes",
    ):
        assert read(text).changes == (Command("plan", "done", "the dishes"),)


@pytest.mark.requirement("JSUP-03")
def test_a_command_may_be_a_sentence_by_itself() -> None:
    """Who tells what was done goes on in the same line; before, nothing was ended, or said so."""
    reading = read("Back from the dentist, no holes!  plan>done dentist\nTired.")
    assert reading.changes == (Command("plan", "done", "dentist"),)
    assert reading.pieces == (ShownPiece("plain", "Back from the dentist, no holes!  \nTired."),)
    for text in (
        "Both. plan>done gym. plan>cancel the dentist",
        "Both. plan>done gym. Plan>cancel the dentist",
    ):
        assert read(text).changes == (
            Command("plan", "done", "gym"),
            Command("plan", "cancel", "the dentist"),
        )
        assert [one.text for one in read(text).pieces] == ["Both."]
    for text in (
        "It is done. plan>done",  # it would be about the newest
        "Type this: plan>done gym",
        "Type this. `plan>done gym`",
        "About e.g.plan>done gym",
        "I mean (plan>done gym)",
    ):
        assert read(text).changes == (), text


@pytest.mark.requirement("JSUP-03")
def test_what_follows_a_command_in_a_tag_says_which_is_meant() -> None:
    for text in ("<plan>done</plan> the dishes", "<plan>done:</plan> the dishes\nNext."):
        assert read(text).changes == (Command("plan", "done", "the dishes"),)
    for text in ("<plan>done</plan>\nthe dishes", "<plan>done</plan><say>the dishes</say>"):
        assert read(text).changes == (Command("plan", "done", ""),)


@pytest.mark.requirement("JSUP-03")
def test_a_command_may_be_dressed_as_markdown() -> None:
    for text in (
        "`plan>done the dishes`",
        "- `plan>done the dishes`",
        "**plan>done** the dishes",
        "**plan>done the dishes**",
        "* **plan>done:** the dishes",
        "Fine.\n`plan>done` the dishes",
    ):
        assert read(text).changes == (Command("plan", "done", "the dishes"),), text
    # Named only, in an answer on how it works: without words it would end the newest plan.
    for text in ("`plan>done`", "- **plan>done**", "- `plan>done the dishes` ends that plan"):
        assert read(text).changes == (), text
    assert read("* plan>done").changes == (Command("plan", "done", ""),)


@pytest.mark.requirement("JLOOK-03")
def test_keys_parse_with_quotes_and_without() -> None:
    for text in ("recall(fairy)", 'recall("fairy")', "recall('fairy')", "so recall( fairy )?"):
        assert read(text).lookups == (RecallCall("fairy"),)
    for text in (
        "recall(fairy, deep=True)",
        'recall("fairy", deep=True)',
        "recall('fairy',deep = true)",
        "recall(fairy, True)",
    ):
        assert read(text).lookups == (RecallCall("fairy", deep=True),)
    assert read("recall(fairy, deep=False)").lookups == (RecallCall("fairy"),)
    for text in ("recall(“fairy”)", "recall([fairy])", "recall(‘fairy’)", 'recall("[fairy]")'):
        assert read(text).lookups == (RecallCall("fairy"),), text
    assert read("recall(fairy, moon, deep=True)").lookups == (
        RecallCall("fairy", deep=True),
        RecallCall("moon", deep=True),
    )
    assert read("recall('a', “b”, [c])").lookups == (
        RecallCall("a"),
        RecallCall("b"),
        RecallCall("c"),
    )
    assert read("recall(body-training)").lookups == (RecallCall("body-training"),)
    assert read("recall(fairy's song)").lookups == (RecallCall("fairy's song"),)


@pytest.mark.requirement("JLOOK-04", "JLOOK-05", "JLOOK-06")
def test_plans_calls() -> None:
    assert read("plans()").lookups == (PlansCall(),)
    for text in ('plans("garden")', "plans(garden)", 'plans(topic="garden")'):
        assert read(text).lookups == (PlansCall(topic="garden"),)
    for text in ('plans(when="next tuesday")', "plans(when=next tuesday)"):
        assert read(text).lookups == (PlansCall(when="next tuesday"),)
    both = read('plans(topic="garden", when="next week")').lookups
    assert both == (PlansCall("garden", "next week"),)


def test_what_is_no_call() -> None:
    for text in ("recall()", "recall(", "recall (x)", "recalls(x)", "recall((x))"):
        assert read(text).lookups == ()
    assert read(f"recall({'x' * 300})").lookups == ()
    assert read("<thought>recall(fairy)</thought>").lookups == ()


def test_a_leading_identity_tag_names_the_speaker() -> None:
    names = ("assistant", "user")
    for text in ("<assistant><say>Hi</say>", " <Assistant>\n<say>Hi</say></Assistant>\n"):
        reading = read(text, names)
        assert reading.identity == "assistant"
        assert [piece.text for piece in reading.pieces] == ["Hi"]
    for text in ("Hi <assistant>", "<stranger>Hi", "<b>Hi</b>"):
        reading = read(text, names)
        assert reading.identity is None
        assert reading.pieces == (ShownPiece("plain", text),)


def test_nested_tags() -> None:
    reading = read("<say>Hello <do>waves</do> friend<feeling>warm</feeling>, you</say>")
    assert reading.pieces == (
        ShownPiece("say", "Hello"),
        ShownPiece("do", "waves"),
        ShownPiece("say", "friend, you"),
    )
    assert reading.changes == (Remember("feeling", "warm"),)
    outer, inner = read("<plan>buy <pin>oat milk</pin> today</plan>").changes
    assert (outer, inner) == (Remember("plan", "buy oat milk today"), Remember("pin", "oat milk"))


def test_a_secret_keeps_its_text_to_itself() -> None:
    reading = read(
        "<thought>a gift <secret>a violin <say>for Ada</say></secret> soon</thought>"
        "<say>Hm <secret>shh</secret></say>"
    )
    assert reading.pieces == (ShownPiece("say", "Hm"),)
    assert reading.changes == (
        Remember("thought", "a gift  soon"),
        Remember("secret", "a violin for Ada"),
        Remember("secret", "shh"),
    )


def test_letters_that_patterns_take_for_others_are_these() -> None:
    """A Turkish keyboard writes "PİN"; reading it must neither fail nor show it."""
    assert read("<PİN>4711</PİN>").changes == (Remember("pin", "4711"),)
    assert read("<ſecret>a lantern</ſecret>").pieces == ()
    assert read("pın>drop 4711").changes == (Command("pin", "drop", "4711"),)


def test_an_unclosed_tag_keeps_little_and_shows_little() -> None:
    memory = read("<feeling>warm\nThe rest is thinking. <say>Hi</say>")
    assert memory.changes == (Remember("feeling", "warm"),)
    assert memory.pieces == (ShownPiece("plain", "The rest is thinking."), ShownPiece("say", "Hi"))
    display = read("<say>Hi\nthere <do>waves</do> thinking again")
    assert display.pieces == (
        ShownPiece("say", "Hi\nthere"),
        ShownPiece("do", "waves"),
        ShownPiece("plain", "thinking again"),
    )
    crossed = read("<say>a <do>b</say> c</do>")
    assert [piece.kind for piece in crossed.pieces] == ["say", "do", "plain"]


@pytest.mark.requirement("JSCH-02")
@given(messages)
def test_no_text_is_lost_and_nothing_fails(text: str) -> None:
    reading = read(text, ("assistant", "user"))
    assert "".join(text[one.start : one.end] for one in reading.segments) == text
    assert all(one.start < one.end for one in reading.segments)
    # What is shown or kept was written; what is neither is markup, or text inside memory tags.
    for piece in reading.pieces:
        assert piece.text
    said = "".join(text.split())
    plain = "".join(text[one.start : one.end] for one in reading.segments if one.kind == "text")
    assert len("".join(plain.split())) <= len(said)
    for word in "".join(piece.text for piece in reading.pieces).split():
        assert all(character in plain for character in word)
    assert set(reading.tags) <= {*DISPLAY_TAGS, *MEMORY_TYPES}


@given(messages)
def test_text_without_a_known_tag_is_shown_whole(text: str) -> None:
    reading = read(text)
    if all(one.kind == "text" for one in reading.segments):
        assert "".join(piece.text for piece in reading.pieces) == text.strip()


@pytest.mark.parametrize(
    "hostile",
    [
        "<say>" * 40_000,
        "<plan>a" * 20_000 + "</plan>" * 20_000,
        "<secret><say>" * 20_000,
        '<plan due="' * 20_000,
        "<plan " + "a=a " * 40_000,
        "<plan" + " " * 200_000,
        "recall(" * 30_000,
        'recall("' + "a," * 90_000,
        "plan>done" * 20_000,
        "plan>" + " " * 200_000 + "x",
        "<plan>done" + " " * 200_000,
        "<" * 200_000,
    ],
    ids=range(12),
)
def test_hostile_text_is_read_in_linear_time(hostile: str) -> None:
    began = time.process_time()
    read(hostile, ("assistant",))
    # Some tenths of a second on a slow machine; what is quadratic takes minutes.
    assert time.process_time() - began < 5


def test_of_very_many_tags_the_first_are_remembered_and_none_is_shown() -> None:
    found = read("<pin>a secret thought</pin>" * (MAX_CHANGES + 50))
    assert len(found.changes) == MAX_CHANGES
    assert found.pieces == ()
