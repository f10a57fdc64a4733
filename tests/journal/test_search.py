"""The whole log can be searched: by words, with dates and what stood beside."""

import json
from datetime import timedelta
from pathlib import Path

import pytest

from conftest import NOW, Clock
from memory_butler.journal.calls import SearchCall
from memory_butler.journal.desk import MaintenanceDesk
from memory_butler.journal.erasing import erase_messages
from memory_butler.journal.file import JournalFile
from memory_butler.journal.fragments import PutFragment
from memory_butler.journal.importing import import_lines
from memory_butler.journal.live import LiveJournal
from memory_butler.journal.search import INDEX
from memory_butler.journal.snapshots import copy_all
from memory_butler.journal.tags import read


def found(live: LiveJournal, question: str) -> list[str]:
    return [hit.event.content for hit in live.search(question)]


def talk(live: LiveJournal, clock: Clock) -> None:
    for user, reply in (
        ("We planted roses behind the shed", "<say>How lovely.</say>"),
        ("The train to Lisbon leaves at six", "<say>Pack the blue suitcase.</say>"),
        (
            "A rose needs pruning",
            "thinking of lanterns <say>In March.</say><secret>a gift</secret>",
        ),
    ):
        live.log(user, "user")
        live.log(reply, "assistant")
        clock.advance(days=30)


@pytest.mark.parametrize(
    "call", ['search("old roses")', "search(old roses)", "search(“old roses”)"]
)
def test_search_calls(call: str) -> None:
    assert read(call).lookups == (SearchCall("old roses"),)
    assert read("search() and research(x) and obj.search(x)").lookups == ()


def test_words_are_found_by_their_stems_those_with_all_first(
    live: LiveJournal, clock: Clock
) -> None:
    talk(live, clock)
    assert found(live, "pruned roses") == [
        "A rose needs pruning",
        "We planted roses behind the shed",
    ]
    assert found(live, "the suitcases") == ["<say>Pack the blue suitcase.</say>"]
    assert found(live, "submarine") == found(live, "") == found(live, '" OR *') == []
    (hit,) = live.search("Lisbon")
    assert hit.before is not None
    assert hit.after is not None
    assert (hit.before.content, hit.after.content) == (
        "<say>How lovely.</say>",
        "<say>Pack the blue suitcase.</say>",
    )
    # What is said later is found the next time.
    live.log("A submarine!", "user")
    assert found(live, "submarine") == ["A submarine!"]


def test_neither_thinking_nor_secrets_are_found(live: LiveJournal, clock: Clock) -> None:
    talk(live, clock)
    assert found(live, "lanterns") == found(live, "gift") == []


@pytest.mark.requirement("JASM-05")
def test_a_reply_may_search_the_log(live: LiveJournal, clock: Clock) -> None:
    talk(live, clock)
    logged = live.log('search("roses planted") <say>Let me think.</say>', "assistant")
    (answer,) = logged.answers
    assert answer.call == 'search("roses planted")'
    assert answer.lines[:2] == (
        "- Sunday, 1 March 2026, 12:00: user: We planted roses behind the shed",
        "  after: assistant: How lovely.",
    )
    live.log("Well?")
    prompt = live.assemble().user
    assert answer.lines[0] in prompt
    # The answer of then, seen from then.
    assert live.at(clock() + timedelta(seconds=1)).assemble().user == prompt


@pytest.mark.requirement("JASM-05", "JLOOK-01")
def test_what_a_message_mentions_comes_by_itself(live: LiveJournal, desk: MaintenanceDesk) -> None:
    desk.apply(
        "bootstrap",
        [
            PutFragment("garden", "The garden.", "It was dug in March."),
            PutFragment("well", "A well.", "It is deep."),
            PutFragment("cat", "A cat.", "It sleeps."),
        ],
    )
    live.log("How is the Garden, and the well?")
    prompt = live.assemble()
    recalled = next(one for one in prompt.receipt.parts if one.part == "recalled")
    assert recalled.included == ("recall(garden)", "recall(well)")
    assert "- garden: It was dug in March." in prompt.user
    assert "It sleeps" not in prompt.user
    # Looked up it is told once; and a message that mentions nothing brings nothing.
    live.log("recall(well) <say>Hm.</say>", "assistant")
    live.log("And the well?")
    assert live.assemble().user.count("It is deep.") == 1
    live.log("<say>Deep.</say>", "assistant")
    live.log("Thanks.")
    assert "## Recalled" not in live.assemble().user


def test_the_past_finds_what_had_been_said(live: LiveJournal, clock: Clock) -> None:
    talk(live, clock)
    then = live.at(NOW + timedelta(days=1))
    assert found(then, "roses") == []  # nothing is indexed by a look at the past
    assert len(found(live, "roses")) == 2
    assert found(then, "roses") == ["We planted roses behind the shed"]


def test_what_is_erased_imported_or_restored_is_searched_as_it_is(
    live: LiveJournal, file: JournalFile, clock: Clock, tmp_path: Path
) -> None:
    talk(live, clock)
    assert len(found(live, "roses")) == 2
    source = tmp_path / "old.jsonl"
    line = {"actor": "user", "content": "Roses of old", "ts": "2020-01-01T00:00:00+00:00"}
    source.write_text(json.dumps(line))
    import_lines(file, source, clock)
    assert len(found(live, "roses")) == 3
    index = file.texts_dir / INDEX
    assert index.stat().st_mode & 0o777 == 0o600
    erase_messages(file, 1, 1)
    assert not index.exists()
    assert len(found(live, "roses")) == 2
    assert b"shed" not in index.read_bytes()
    # A copy has no index, and needs none.
    assert not [name for name in copy_all(tmp_path, tmp_path / "copy") if INDEX in name]
    erase_messages(file, 5, 9)
    assert found(live, "roses") == []
    live.log("Roses again", "user")
    assert found(live, "roses") == ["Roses again"]
