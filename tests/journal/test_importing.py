"""Import of JSON Lines: resumable after any break, and nothing twice."""

import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from conftest import NOW, Clock
from memory_butler.domain.errors import Conflict, InvalidInput
from memory_butler.journal import importing, state
from memory_butler.journal.desk import MaintenanceDesk
from memory_butler.journal.file import JournalFile
from memory_butler.journal.importing import Imported, export_lines, import_lines
from memory_butler.journal.live import LiveJournal


def line(number: int, **more: object) -> dict[str, object]:
    actor = "assistant" if number % 2 else "user"
    hour, minute = divmod(number, 60)
    ts = f"2025-12-24T{hour:02}:{minute:02}:00+01:00"
    return {"actor": actor, "content": f"<say>message {number}</say>", "ts": ts, **more}


def write(path: Path, lines: Iterable[object]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    return path


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write(tmp_path / "talk.jsonl", (line(number) for number in range(1_200)))


def contents(live: LiveJournal) -> list[str]:
    pages = [live.events(limit=1_000)]
    while len(pages[-1]) == 1_000:
        pages.append(live.events(pages[-1][-1].id, limit=1_000))
    return [event.content for page in pages for event in page]


def test_a_conversation_becomes_history(
    live: LiveJournal, file: JournalFile, clock: Clock, tmp_path: Path
) -> None:
    live.log("I am here now")
    source = write(
        tmp_path / "talk.jsonl",
        [
            line(1, image_path="/a.png", content="<say>Hi</say><feeling>warm</feeling>"),
            line(2),
            {"actor": "user", "content": "without a time"},
        ],
    )
    assert import_lines(file, source, clock) == Imported(lines=3, resumed=0, added=3, known=0)
    events = live.events()
    assert [event.content for event in events] == [
        "<say>Hi</say><feeling>warm</feeling>",
        "<say>message 2</say>",
        "I am here now",
        "without a time",
    ]
    assert events[0].ts == datetime(2025, 12, 23, 23, 1, tzinfo=UTC)
    assert events[0].image_path == "/a.png"
    assert set(events[0].tags) == {"say", "feeling"}
    assert events[3].ts > events[2].ts
    assert live.mind() == ()  # history is on nobody's mind


def test_the_same_file_again_adds_nothing(
    live: LiveJournal, file: JournalFile, clock: Clock, source: Path, tmp_path: Path
) -> None:
    assert import_lines(file, source, clock).added == 1_200
    assert import_lines(file, source, clock) == Imported(1_200, resumed=1_200, added=0, known=0)
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(source.read_bytes().replace(b"\n", b"\r\n").rstrip())
    assert import_lines(file, copy, clock).resumed == 1_200
    # Grown, and edited at its beginning: what is known by its time is not added again.
    write(source, (line(number) for number in range(1_203)))
    assert import_lines(file, source, clock) == Imported(1_203, resumed=1_200, added=3, known=0)
    write(source, [{"actor": "user", "content": "new"}, *(line(number) for number in range(10))])
    assert import_lines(file, source, clock) == Imported(11, resumed=0, added=1, known=10)
    assert len(contents(live)) == 1_204


def test_messages_without_a_time_are_not_imported_twice_either(
    live: LiveJournal, file: JournalFile, clock: Clock, tmp_path: Path
) -> None:
    lines: list[object] = [{"actor": "user", "content": "yes"}] * 3
    source = write(tmp_path / "talk.jsonl", lines)
    assert import_lines(file, source, clock).added == 3
    assert import_lines(file, source, clock).added == 0
    write(source, lines * 2)
    assert import_lines(file, source, clock).added == 3
    assert contents(live) == ["yes"] * 6


def test_a_broken_import_is_resumed(
    live: LiveJournal,
    file: JournalFile,
    clock: Clock,
    source: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    put = state.put
    calls = 0

    def fail_on_the_second(*arguments: object) -> None:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise KeyboardInterrupt
        put(*arguments)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(state, "put", fail_on_the_second)
        with pytest.raises(KeyboardInterrupt):
            import_lines(file, source, clock)
    assert len(contents(live)) == importing.BATCH_LINES
    assert import_lines(file, source, clock) == Imported(1_200, resumed=500, added=700, known=0)
    assert contents(live) == [f"<say>message {number}</say>" for number in range(1_200)]


def test_two_imports_of_one_file_at_once(
    file: JournalFile, clock: Clock, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put = state.put
    nested = False

    def overtaken(*arguments: object) -> None:
        nonlocal nested
        put(*arguments)  # type: ignore[arg-type]
        if not nested:
            nested = True
            # As if another process had begun between our look and our write.
            put(arguments[0], arguments[1], "500 other", NOW)  # type: ignore[arg-type]

    monkeypatch.setattr(state, "put", overtaken)
    with pytest.raises(Conflict, match="being imported already"):
        import_lines(file, source, clock)


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ("no json", "line 2: this is not JSON"),
        ("\udce9", "line 2: this is not UTF-8; save the file as UTF-8"),
        ("[" * 100_000, "line 2: this is not JSON"),
        ("[1]", "line 2: an object"),
        ('{"actor": "user"}', "line 2: an object"),
        ('{"actor": "user", "content": "x", "mood": "y"}', "line 2: an object"),
        ('{"actor": "user", "content": 7}', "line 2: actor, content"),
        ('{"actor": null, "content": "x"}', "line 2: actor, content"),
        ('{"actor": "user", "content": "\\ud800"}', "line 2: .*surrogate"),
        ('{"actor": "user", "content": "x", "ts": "soon"}', "line 2: ts 'soon' is no"),
        ('{"actor": "user", "content": "x", "ts": "2025-01-01"}', "line 2: ts has no time zone"),
        ('{"actor": "user", "content": "x", "ts": "2999-01-01T00:00Z"}', "line 2: .*the future"),
        ('{"actor": "user", "content": "x", "ts": "0001-01-01T00:00+14:00"}', "line 2: ts"),
        ('{"actor": "user", "content": "x", "ts": "0001-01-01T00:00Z"}', "line 2: ts"),
    ],
)
def test_a_bad_line_is_named_and_can_be_mended(
    live: LiveJournal, file: JournalFile, clock: Clock, tmp_path: Path, bad: str, why: str
) -> None:
    source = tmp_path / "talk.jsonl"
    good = [json.dumps(line(number)) for number in (1, 2)]
    source.write_text(f"{good[0]}\n{bad}\n", errors="surrogateescape")
    with pytest.raises(InvalidInput, match=why):
        import_lines(file, source, clock)
    source.write_text(f"{good[0]}\n\n{good[1]}")
    assert import_lines(file, source, clock).added == 2
    assert len(contents(live)) == 2


def test_the_desk_reads_what_was_imported_later(
    live: LiveJournal, file: JournalFile, desk: MaintenanceDesk, clock: Clock, tmp_path: Path
) -> None:
    live.log("now")
    desk.apply("weekly", [])
    import_lines(file, write(tmp_path / "a.jsonl", [line(1)]), clock)
    assert [event.content for event in desk.unread_events()] == ["<say>message 1</say>"]


def _export(file: JournalFile) -> bytes:
    return "\n".join(export_lines(file)).encode()


def test_an_export_of_a_journal_brings_back_what_it_keeps(
    live: LiveJournal, file: JournalFile, clock: Clock, tmp_path: Path
) -> None:
    live.log("<plan>water the roses every Friday at 18:00</plan>")
    live.keep("plan", "call Ana on 4 March 2031")
    live.keep("pin", "nuts are dangerous for Ida")
    live.log('<desc subject="Ida">tall</desc><secret>the ring</secret>', "assistant")
    live.log("<plan>buy milk</plan>")
    live.log("plan>done buy milk")
    clock.advance(timedelta(days=2))
    live.log("<pin>nuts are dangerous for Ida</pin>")  # refreshes it
    kept = [replace(one, id=0, event_id=None) for one in live.history()]
    assert {one.status for one in kept} == {"active", "resolved"}

    exported = _export(file)
    with JournalFile(tmp_path / "other.sqlite") as other:
        there = LiveJournal(other, now=clock)
        done = import_lines(other, exported, clock)
        assert (done.added, done.on_mind) == (7, 5)
        assert [replace(one, id=0, event_id=None) for one in there.history()] == kept
        assert [one.score for one in there.mind()] == [one.score for one in live.mind()]
        assert import_lines(other, exported, clock).added == 0
        assert _export(other) == exported
        # They are as alive as those that were told here.
        there.log("plan>done roses")
        (again,) = [one.item for one in there.plans("roses")]
        assert again.repeats is not None
        there.log("pin>drop nuts")
        assert "pin" not in {one.item.type for one in there.mind()}
        assert [hit.event.content for hit in there.search("Ana")] == [
            "<plan>call Ana on 4 March 2031</plan>"
        ]
    assert import_lines(file, exported, clock).added == 0  # its own: what it keeps stays as it is
    assert [replace(one, id=0, event_id=None) for one in live.history()] == kept


def test_a_plan_that_came_round_for_a_year_is_imported(
    live: LiveJournal, file: JournalFile, clock: Clock, tmp_path: Path
) -> None:
    """Each of its rounds is kept of the one message that told of it."""
    live.log("<plan>water the roses every day at 18:00</plan>")
    for _ in range(250):
        clock.advance(days=1)
        live.log("plan>done roses")
    with JournalFile(tmp_path / "other.sqlite") as other:
        assert import_lines(other, _export(file), clock).on_mind == 1
        assert _export(other) == _export(file)


def test_what_is_on_its_mind_already_does_not_come_twice(
    live: LiveJournal, file: JournalFile, clock: Clock, tmp_path: Path
) -> None:
    live.keep("pin", "nuts are dangerous for Ida")
    clock.advance(timedelta(hours=1))
    with JournalFile(tmp_path / "other.sqlite") as other:
        there = LiveJournal(other, now=clock)
        there.keep("pin", "nuts are dangerous for Ida")
        assert import_lines(other, _export(file), clock).on_mind == 0
        assert len(there.mind()) == 1


_PIN = {
    "type": "pin",
    "content": "nuts",
    "status": "active",
    "created_at": "2025-12-24T00:01:00+01:00",
    "refreshed_at": "2025-12-24T00:01:00+01:00",
}


@pytest.mark.parametrize(
    ("kept", "said"),
    [
        ({}, "kept must be a list"),
        ([{}], "has type, content, status, created_at, refreshed_at"),
        ([_PIN | {"id": "1"}], "has type, content, status"),
        ([_PIN | {"content": 5}], "strings only"),
        ([_PIN | {"type": "wish"}], "unknown type 'wish'"),
        ([_PIN | {"status": "gone"}], "unknown status"),
        ([_PIN | {"status": "resolved"}], "resolved_at unless it is active"),
        ([_PIN | {"resolved_at": _PIN["created_at"]}], "resolved_at unless it is active"),
        ([_PIN | {"due": _PIN["created_at"]}], "only a plan has due"),
        ([_PIN | {"created_at": "yesterday"}], "created_at 'yesterday' is no ISO 8601 time"),
        ([_PIN | {"refreshed_at": "2999-01-01T00:00:00Z"}], "lies in the future"),
        ([_PIN | {"type": "plan", "repeats": "FREQ=DAILY"}], "repeats must be a rule"),
        *(
            (
                [_PIN | {"type": "plan", "due": _PIN["created_at"], "repeats": repeats}],
                "repeats must be a rule",
            )
            for repeats in (
                "FREQ=SECONDLY",
                # Of what breaks every prompt, or never ends.
                "FREQ=DAILY;X",
                "FREQ=DAILY;INTERVAL=0",
                "FREQ=DAILY;BYHOUR=99",
                "FREQ=WEEKLY;BYDAY=XX",
                "FREQ=MINUTELY;INTERVAL=5;BYHOUR=1",
            )
        ),
        ([_PIN | {"type": "plan", "due": "0001-01-01T00:00:00Z"}], "the end of the calendar"),
        ([_PIN | {"type": "plan", "due": "9999-12-31T23:59:59Z"}], "the end of the calendar"),
        ([_PIN | {"content": "x" * 1_000_001}], "a message may have"),
    ],
)
def test_what_is_nothing_that_a_journal_keeps_is_refused(
    live: LiveJournal, file: JournalFile, clock: Clock, kept: object, said: str
) -> None:
    text = json.dumps(line(1, kept=kept)).encode()
    with pytest.raises(InvalidInput, match=f"line 1: .*{said}"):
        import_lines(file, text, clock)
    assert live.events() == ()
