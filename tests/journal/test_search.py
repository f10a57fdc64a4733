"""The whole log can be searched: by words, with dates and what stood beside."""

import json
import sqlite3
from contextlib import closing
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
from memory_butler.journal.policy import JournalPolicy
from memory_butler.journal.search import INDEX, _matches, caught_up, ranked
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


def test_words_without_spaces_between_them_are_found(live: LiveJournal) -> None:
    live.log("妹の結婚式は六月二十日です。", "user")
    live.log("<say>おめでとう。</say>", "assistant")
    live.log("我对青霉素过敏，很严重。", "user")
    live.log("A wedding in June, at the 東京タワー.", "user")
    assert found(live, "結婚式はいつ？") == ["妹の結婚式は六月二十日です。"]
    assert found(live, "过敏") == ["我对青霉素过敏，很严重。"]
    assert found(live, "東京") == ["A wedding in June, at the 東京タワー."]
    assert found(live, "京東") == []
    # One sign is a word, too.
    assert found(live, "妹") == ["妹の結婚式は六月二十日です。"]


def test_an_index_of_a_former_version_is_made_anew(live: LiveJournal, file: JournalFile) -> None:
    live.log("妹の結婚式は六月です。", "user")
    with closing(sqlite3.connect(file.texts_dir / INDEX)) as index:
        index.execute("CREATE VIRTUAL TABLE words USING fts5(text, content='')")
        index.execute("INSERT INTO words (rowid, text) VALUES (1, '妹の結婚式は六月です。')")
        index.execute("CREATE TABLE indexed (until INTEGER NOT NULL)")
        index.execute("INSERT INTO indexed VALUES (1)")
        index.commit()
    assert found(live, "結婚式") == ["妹の結婚式は六月です。"]
    with closing(sqlite3.connect(file.texts_dir / INDEX)) as index:
        assert index.execute("SELECT 1 FROM sqlite_schema WHERE name = 'words'").fetchall() == []


def test_five_hits_are_five_places(live: LiveJournal, clock: Clock) -> None:
    talk(live, clock)
    for _ in range(4):
        live.log("The roses are in bloom", "user")
        live.log("<say>Lovely.</say>", "assistant")
        live.log("And the rose by the gate, too", "user")
    # What says the same, or stands beside a better hit, comes last.
    first = found(live, "roses")
    assert set(first[:4]) == {
        "The roses are in bloom",
        "And the rose by the gate, too",
        "We planted roses behind the shed",
        "A rose needs pruning",
    }
    assert len(first) == 5


def test_what_has_little_of_the_question_gives_way_to_its_meaning() -> None:
    near = {10: 0.62, 20: 0.35}
    # One message has all the words, though it is not alike; then none has more than a small part.
    assert ranked({1: 1.0, 20: 0.4}, near)[0] == 1
    assert ranked({1: 0.2, 20: 0.1}, near)[0] == 10
    # Where nothing else tells two apart, what stands beside them does.
    assert ranked({1: 1.0, 6: 1.0, 7: 0.5}, {}) == [6, 7, 1]
    # Of equal ones the newest comes first.
    assert ranked({1: 1.0, 6: 1.0}, {}) == [6, 1]


def test_the_words_of_a_question_weigh_by_how_rare_they_are(
    live: LiveJournal, clock: Clock
) -> None:
    for _ in range(30):
        live.log("Work was long", "user")
        live.log("<say>Rest.</say>", "assistant")
    live.log("The archive has a new head", "user")
    with live._file.reading() as db, caught_up(db, live._index, JournalPolicy()) as index:
        common = _matches(index, ["promotion", "work"], 100, 1_000)
        rare = _matches(index, ["archive", "work"], 100, 1_000)
    assert max(common.values()) < 0.5
    assert max(rare.values()) > 0.8


def test_neither_thinking_nor_secrets_are_found(live: LiveJournal, clock: Clock) -> None:
    talk(live, clock)
    assert found(live, "lanterns") == found(live, "gift") == []


def test_what_was_kept_is_found_after_it_has_faded(live: LiveJournal, clock: Clock) -> None:
    live.log("It is 10 mg on Saturdays now.", "user")
    live.log(
        "<say>Noted.</say><pin>Methotrexate: 10 mg <secret>a gift</secret> on Saturdays</pin>"
        "<feeling>worried about methotrexate</feeling>",
        "assistant",
    )
    live.log('<plan due="20 May">renew the passport</plan>', "user")
    clock.advance(days=200)
    live.log("<say>Hm.</say> search(methotrexate)", "assistant")
    (answer,) = live.recalled()
    assert answer.lines == (
        "- Sunday, 1 March 2026, 12:00: assistant: Noted. (pin: Methotrexate: 10 mg on Saturdays)",
        "  before: user: It is 10 mg on Saturdays now.",
        "  after: (plan: renew the passport (due: 20 May))",
    )
    assert found(live, "passport") == ['<plan due="20 May">renew the passport</plan>']
    assert found(live, "worried") == found(live, "gift") == []


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


@pytest.mark.requirement("JASM-05")
def test_a_search_of_a_reply_tells_more_where_there_is_room(
    live: LiveJournal, clock: Clock
) -> None:
    for number in range(12):
        for said in (f"roses of bed {number}", "yes", f"tulips {number} {'in a row ' * 40}", "no"):
            live.log(said, "user")
            clock.advance(hours=1)

    def hits(*lines: str) -> int:
        return sum(line.startswith("- ") for line in lines)

    (short,) = live.log('search("roses")', "assistant").answers
    assert hits(*short.lines) == 10
    # Long ones fill the room, and at least five are told; two searches share it.
    (long,) = live.log('search("tulips")', "assistant").answers
    assert 5 <= hits(*long.lines) < 10
    both = live.log('search("roses") search("tulips")', "assistant").answers
    assert [hits(*one.lines) for one in both] == [10, 5]
    live.log("Well?")
    assert live.assemble().receipt.parts[4].tokens <= 1_000


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


def test_the_past_finds_what_had_been_said(
    live: LiveJournal, file: JournalFile, clock: Clock
) -> None:
    talk(live, clock)
    then = live.at(NOW + timedelta(days=1))
    # Before any search of today, as after an update that began a new index; and it keeps nothing.
    assert found(then, "roses") == ["We planted roses behind the shed"]
    with closing(sqlite3.connect(file.texts_dir / INDEX)) as index:
        assert index.execute("SELECT count(*) FROM indexed_folded").fetchone() == (0,)
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


@pytest.mark.parametrize("start", [0, 4096])
def test_a_damaged_index_is_made_again(live: LiveJournal, file: JournalFile, start: int) -> None:
    """It is made of the log alone; a reply that searches must not be lost by it."""
    live.log("We planted roses", "user")
    for search in ("live", "reply"):
        assert found(live, "roses")[0] == "We planted roses"
        with (file.texts_dir / INDEX).open("r+b") as index:
            index.seek(start)
            index.write(b"x" * 12_288)
        if search == "reply":
            assert "roses" in live.log('search("roses")', "assistant").answers[0].lines[0]


def test_letters_of_several_spellings_are_found(live: LiveJournal) -> None:
    for said in (
        "Wir wohnen in der Langen Straße",
        "The Mu\u0308ller family",
        "A trip to İstanbul",
    ):
        live.log(said, "user")
    for asked, said in (
        ("straße", "Wir wohnen in der Langen Straße"),
        ("STRASSE", "Wir wohnen in der Langen Straße"),
        ("Müller", "The Mu\u0308ller family"),
        ("MÜLLER", "The Mu\u0308ller family"),
        ("Mu\u0308ller", "The Mu\u0308ller family"),
        ("İstanbul", "A trip to İstanbul"),
        ("istanbul", "A trip to İstanbul"),
    ):
        assert found(live, asked) == [said], asked
