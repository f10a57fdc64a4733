"""What becomes of other programs' exports: the fixtures are written by hand."""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from engine.importers import exports
from memory_butler.domain.errors import InvalidInput
from memory_butler.engine.import_format import (
    BadLine,
    Candidate,
    EpisodeLine,
    FactLine,
    LeftOut,
)
from memory_butler.engine.importers.formats import FORMATS, detect, format_named, open_export
from memory_butler.engine.importers.source import MAX_FILES

MAKERS: dict[str, Callable[[Path], Path]] = {
    "claude-code": exports.claude_code,
    "chatgpt": exports.chatgpt,
    "claude": exports.claude,
    "mem0": exports.mem0,
    "basic-memory": exports.basic_memory,
}


def read(path: Path, butler: str | None = None) -> list[Candidate]:
    format = detect(path)
    assert format is not None
    return list(open_export(path, format).candidates("default", butler))


def said(found: list[Candidate]) -> list[tuple[Any, ...]]:
    return [
        (one.line.speaker, one.line.turn, one.line.content)
        for one in found
        if isinstance(one.line, EpisodeLine)
    ]


def bad(found: list[Candidate]) -> list[tuple[int, str]]:
    return [(one.line.number, one.line.reason) for one in found if isinstance(one.line, BadLine)]


def left_out(found: list[Candidate]) -> list[str]:
    return [one.line.what for one in found if isinstance(one.line, LeftOut)]


def test_every_format_has_a_fixture_and_is_named_where_people_look() -> None:
    docs = Path(__file__).parents[3] / "docs"
    (option,) = re.findall(r"`--format FORMAT` \|(.*)", (docs / "cli.md").read_text())
    page = (docs / "import.md").read_text()
    assert set(MAKERS) == {format.name for format in FORMATS}
    assert all(name in option and f"| `{name}` |" in page for name in MAKERS)


@pytest.mark.parametrize("name", MAKERS)
def test_a_format_is_found_out(name: str, tmp_path: Path) -> None:
    found = detect(MAKERS[name](tmp_path / "it" if name == "claude" else tmp_path))
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize("name", MAKERS)
def test_ids_are_the_same_in_every_reading_and_others_in_another_tenant(
    name: str, tmp_path: Path
) -> None:
    path = MAKERS[name](tmp_path / "it" if name == "claude" else tmp_path)
    export = open_export(path, format_named(name))

    def ids(tenant: str) -> list[UUID]:
        found = export.candidates(tenant)
        return [one.id for one in found if not isinstance(one.line, BadLine | LeftOut)]

    assert len(set(ids("a"))) == len(ids("a")) > 0
    assert ids("a") == ids("a")
    assert not set(ids("a")) & set(ids("b"))


@pytest.mark.parametrize("name", MAKERS)
def test_progress_ends_at_the_size_of_the_export(name: str, tmp_path: Path) -> None:
    path = MAKERS[name](tmp_path / "it" if name == "claude" else tmp_path)
    export = open_export(path, format_named(name))
    reached = [one.reached for one in export.candidates("a")]
    assert reached == sorted(reached)
    assert 0 < reached[-1] <= export.size


def test_claude_code(tmp_path: Path) -> None:
    found = read(exports.claude_code(tmp_path))
    assert said(found) == [
        ("user", 0, "Prices must be Decimal, never float."),
        ("assistant", 1, "It returns Decimal now, and the tests pass."),
        ("user", 2, "Ship it on Friday."),
    ]
    first = found[0].line
    assert isinstance(first, EpisodeLine)
    assert first.occurred_at == datetime(2026, 1, 10, 8, 30, 0, 250_000, UTC)
    assert str(first.session_id) == exports.SESSION
    assert first.butler == "claude-code"
    assert (first.metadata or {})["cwd"] == "/home/someone/shop"
    assert [number for number, _ in bad(found)] == [4, 14]
    assert all("JSON" in reason for _, reason in bad(found))


def test_the_butler_can_be_named(tmp_path: Path) -> None:
    lines = [one.line for one in read(exports.claude_code(tmp_path), "shop")]
    assert {line.butler for line in lines if isinstance(line, EpisodeLine)} == {"shop"}


def test_chatgpt_keeps_the_branch_that_the_person_kept(tmp_path: Path) -> None:
    found = read(exports.chatgpt(tmp_path))
    assert said(found) == [
        ("user", None, "About me: Preferred name: Robin\n\nHow to answer me: Be brief."),
        ("user", 0, "Which tea has no caffeine?"),
        ("assistant", 1, "Rooibos has none."),
        ("user", 2, "And this one?"),
        ("user", 3, "How long should it draw?"),  # spoken
    ]
    assert left_out(found) == ["attachment"]
    line = found[1].line
    assert isinstance(line, EpisodeLine)
    assert line.occurred_at == datetime(2026, 1, 9, 9, 13, 20, 500_000, UTC)
    assert (line.metadata or {})["title"] == "Tea"
    assert [number for number, _ in bad(found)] == [2]


def test_claude(tmp_path: Path) -> None:
    found = read(exports.claude(tmp_path / "it"))
    assert said(found) == [
        ("user", 0, "My sister moved to Porto."),
        ("assistant", 1, "Noted."),
        ("assistant", None, "Personal context\n\nHas a sister in Porto."),
        ("assistant", None, "Personal context\n\nPlays chess."),
        ("assistant", None, "The garden faces north."),
        ("user", None, "Project Garden: Plan the beds\n\nInstructions: Answer in German."),
    ]
    assert left_out(found) == ["attachment", "attachment", "project document"]
    assert bad(found) == []
    line = next(one.line for one in found if isinstance(one.line, EpisodeLine))
    assert (line.metadata or {})["attachments"] == ["map.txt", "house.png"]
    assert line.occurred_at == datetime(2026, 2, 1, 10, 0, 0, 123_456, UTC)


@pytest.mark.parametrize("name", ["chatgpt", "claude"])
def test_a_message_without_a_time_is_of_its_conversation(name: str, tmp_path: Path) -> None:
    if name == "chatgpt":
        nodes = {
            id: exports._node(id, parent, "user", id, create_time=at)
            for id, parent, at in [
                ("a", None, None), ("b", "a", 1767950000.5), ("c", "b", None), ("d", "c", 1.7e12)
            ]
        }  # fmt: skip
        one = {"id": "x", "create_time": 1767940000, "current_node": "d", "mapping": nodes}
        none = {"id": "y", "create_time": 1767940000, "current_node": "a", "mapping": nodes}
        began = datetime(2026, 1, 9, 6, 26, 40, tzinfo=UTC)
        first = datetime(2026, 1, 9, 9, 13, 20, 500_000, UTC)
    else:
        first, began = datetime(2026, 2, 1, 10, tzinfo=UTC), datetime(2026, 2, 1, 9, tzinfo=UTC)
        message: dict[str, Any] = {"sender": "human", "text": "x"}
        at = {"b": first.isoformat(), "d": "some day"}
        said_ones = [message | {"uuid": id, "created_at": at.get(id)} for id in "abcd"]
        one = {"uuid": "x", "created_at": began.isoformat(), "chat_messages": said_ones}
        none = one | {"uuid": "y", "chat_messages": said_ones[:1]}
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([one, none]))
    lines = [found.line for found in read(path) if isinstance(found.line, EpisodeLine)]
    assert [line.occurred_at for line in lines] == [first, first, first, first, began]


def test_a_role_that_nobody_knows_is_told(tmp_path: Path) -> None:
    nodes = [
        exports._node("a", None, "user", "Hello"),
        exports._node("b", "a", "critic", "Hm"),
        exports._node("c", "b", "tool", "42"),
    ]
    chatgpt = {"id": "x", "current_node": "c", "mapping": {one["id"]: one for one in nodes}}
    messages = [{"uuid": who, "sender": who, "text": "Hello"} for who in ("human", "robot")]
    claude = {"uuid": "x", "chat_messages": messages}
    for export in (chatgpt, claude):
        path = tmp_path / "conversations.json"
        path.write_text(json.dumps([export]))
        found = read(path)
        assert said(found) == [("user", 0, "Hello")]
        assert left_out(found) == ["unknown speaker's message"]


def test_conversations_of_claude_are_read_under_any_name(tmp_path: Path) -> None:
    path = exports.claude(tmp_path / "it") / "conversations.json"
    kept = path.rename(tmp_path / "chats-of-2026.json")
    found = list(open_export(kept, format_named("claude")).candidates("default"))
    assert [text for _, _, text in said(found)] == ["My sister moved to Porto.", "Noted."]
    assert bad(found) == []


def test_a_note_that_is_not_utf8_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes("- [place] Caf\u00e9\n".encode("latin-1"))
    (tmp_path / "b.md").write_text("- [place] Caf\u00e9\n")
    found = read(tmp_path)
    assert [reason for _, reason in bad(found)] == [
        "the note is not UTF-8: save it as UTF-8 and import it again"
    ]
    assert [one.line.content for one in found if isinstance(one.line, FactLine)] == ["Caf\u00e9"]


def test_mem0(tmp_path: Path) -> None:
    found = read(exports.mem0(tmp_path))
    facts = [one.line for one in found if isinstance(one.line, FactLine)]
    assert [(fact.subject, fact.content, fact.tags) for fact in facts] == [
        ("guest-4", "Allergic to nuts", ["health"]),
        ("guest-4", "Likes chess", None),
    ]
    assert facts[0].predicate != facts[1].predicate  # neither supersedes the other
    assert facts[0].valid_from == datetime(2025, 11, 1, 15, 0, tzinfo=UTC)
    assert [number for number, _ in bad(found)] == [2]


def test_an_updated_memory_of_mem0_supersedes_its_former_text(tmp_path: Path) -> None:
    export = exports.mem0(tmp_path)
    before = read(export)[0]
    found = json.loads(export.read_text())
    found["results"][0] |= {
        "memory": "Allergic to nuts and to sesame",
        "updated_at": "2026-01-02T08:00:00-07:00",
        "expiration_date": "2027-01-01",
    }
    export.write_text(json.dumps(found))
    after, *_, other = read(export)
    assert isinstance(before.line, FactLine)
    assert isinstance(after.line, FactLine)
    assert before.id != after.id
    key = (before.line.subject, before.line.predicate)
    assert (after.line.subject, after.line.predicate) == key
    assert after.line.valid_from == datetime(2026, 1, 2, 15, 0, tzinfo=UTC)
    assert after.line.valid_until == datetime(2027, 1, 2, tzinfo=UTC)  # all that day
    assert other.id == read(export)[-1].id


def test_notes_of_one_title_are_kept_apart(tmp_path: Path) -> None:
    for folder in ("alpha", "beta"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "status.md").write_text(f"- [phase] in {folder}\n")
    facts = [one.line for one in read(tmp_path) if isinstance(one.line, FactLine)]
    assert [(one.subject, one.predicate, one.content) for one in facts] == [
        ("alpha/status", "phase", "in alpha"),
        ("beta/status", "phase", "in beta"),
    ]


def test_a_note_that_moved_is_known_by_its_permalink(tmp_path: Path) -> None:
    folder = exports.basic_memory(tmp_path)
    before = {one.id for one in read(folder)}
    (folder / "kitchen" / "coffee.md").rename(folder / "drinks.md")
    assert {one.id for one in read(folder)} == before


def test_fenced_code_makes_no_statement(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text(
        "- [tool] ripgrep\n\n```yaml\n- [example] not said\n- uses [[Nothing]]\n```\n"
    )
    facts = [one.line.content for one in read(tmp_path) if isinstance(one.line, FactLine)]
    assert facts == ["ripgrep"]


def test_basic_memory(tmp_path: Path) -> None:
    found = read(exports.basic_memory(tmp_path))
    facts = [one.line for one in found if isinstance(one.line, FactLine)]
    assert [(fact.subject, fact.content, fact.tags) for fact in facts] == [
        ("Coffee at home", "Pour over gives the clearest cup #brewing (at home)", ["brewing"]),
        ("Coffee at home", "The press is for guests", None),
        ("Coffee at home", "96 degrees", None),
        ("Coffee at home", "Coffee at home pairs with Cake recipes", None),
    ]
    predicates = [fact.predicate for fact in facts]
    assert predicates[2:] == ["water", "pairs_with"]
    assert predicates[0] != predicates[1]
    prose = [one.line for one in found if isinstance(one.line, EpisodeLine)]
    assert "The grinder was a present." in prose[0].content
    assert "buy filters" in prose[0].content
    assert prose[0].occurred_at == datetime(2025, 12, 24, 18, 0, tzinfo=UTC)
    assert prose[1].content.endswith("Only prose stands here.")


def test_a_folder_of_something_else_is_of_no_format(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# A project\n\n- [link](x.md)\n")
    (tmp_path / "data.json").write_text("{")
    (tmp_path / "more.jsonl").write_text("{}\n")
    assert detect(tmp_path) is None


def test_a_broken_document_is_told(tmp_path: Path) -> None:
    (tmp_path / "conversations.json").write_text('[{"mapping": ')
    export = open_export(tmp_path / "conversations.json", format_named("chatgpt"))
    ((_, reason),) = bad(list(export.candidates("a")))
    assert "is not JSON" in reason


@pytest.mark.parametrize("name", MAKERS)
def test_who_names_another_format_is_told_which_one_it_is(name: str, tmp_path: Path) -> None:
    path = MAKERS[name](tmp_path / "it" if name == "claude" else tmp_path)
    for other in MAKERS.keys() - {name}:
        with pytest.raises(InvalidInput, match=f"format {other}: .* It holds {name}: leave"):
            open_export(path, format_named(other))


def test_a_file_that_has_nothing_of_the_format_that_was_named_is_refused(tmp_path: Path) -> None:
    ours, foreign = tmp_path / "ours.json", tmp_path / "foreign.json"
    ours.write_text('{"kind": "rule", "content": "Ask first"}\n')
    foreign.write_text('[{"id": 1, "type": "click"}]\n')
    for name in MAKERS:
        for path, told in ((ours, r"It holds jsonl: leave --format out"), (foreign, r"[^.]+$")):
            with pytest.raises(InvalidInput, match=f"nothing of the format {name}: .*{told}"):
                open_export(path, format_named(name))


def test_who_names_the_format_may_call_a_file_anything(tmp_path: Path) -> None:
    # What tells the format may come late, too, and there may be nothing in a list yet.
    late = '{"type": "summary"}\n' * 30 + '{"type": "system", "sessionId": "s"}\n'
    for name, text in (
        ("claude-code", late),
        ("chatgpt", '[{"title": "damaged"}, {"mapping": {}}]'),
        ("mem0", '{"results": []}'),
        ("claude", "[]"),
    ):
        path = tmp_path / "any.txt"
        path.write_text(text)
        assert open_export(path, format_named(name)).documents


def test_nothing_there_says_what_the_format_is(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="projects"):
        open_export(tmp_path, format_named("claude-code"))
    with pytest.raises(InvalidInput, match="claude-code, chatgpt"):
        format_named("word")


def test_a_whole_disk_is_refused() -> None:
    with pytest.raises(InvalidInput, match=f"more than {MAX_FILES:,} files"):
        list(open_export(Path("/"), format_named("claude-code")).documents)
