"""Former conversations and characters of other programs: written by hand, nobody in them exists."""

import base64
import json
import struct
import zlib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from engine.importers import exports
from memory_butler.companions.former import Card, Former, Roles, former_conversation, read_card
from memory_butler.domain.errors import InvalidInput
from memory_butler.journal.file import JournalFile
from memory_butler.journal.importing import export_lines, import_lines

ROLES = Roles("user", "assistant")
LISBON = ZoneInfo("Europe/Lisbon")
NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
CARD = {
    "name": "Luna",
    "description": "{{char}} keeps a lighthouse.",
    "personality": "Calm.",
    "scenario": "",
    "first_mes": "Good evening, {{user}}.",
    "mes_example": "",
}


def former(path: Path) -> Former:
    found = former_conversation(path, ROLES, LISBON, NOW)
    assert found is not None
    return found


def said(path: Path) -> list[tuple[str, str, str]]:
    read = [json.loads(line) for line in former(path).lines.splitlines()]
    return [(one["ts"], one["actor"], one["content"]) for one in read]


def chat(path: Path, *entries: dict[str, Any]) -> Path:
    header = {"user_name": "Robin", "character_name": "Luna", "create_date": "2024-1-5"}
    path.write_text("\n".join(map(json.dumps, [header, *entries])) + "\n")
    return path


def test_conversations_come_in_the_order_of_their_moments(tmp_path: Path) -> None:
    path = exports.claude(tmp_path / "it") / "conversations.json"
    later = json.loads(path.read_text())
    earlier = json.loads(path.read_text().replace("2026-02-01", "2026-01-01"))
    path.write_text(json.dumps([*later, *earlier]))
    assert [(ts[:10], actor, text) for ts, actor, text in said(path)] == [
        ("2026-01-01", "user", "My sister moved to Porto."),
        ("2026-01-01", "assistant", "Noted."),
        ("2026-02-01", "user", "My sister moved to Porto."),
        ("2026-02-01", "assistant", "Noted."),
    ]


def test_custom_instructions_are_no_part_of_a_conversation(tmp_path: Path) -> None:
    assert [text for _, _, text in said(exports.chatgpt(tmp_path))] == [
        "Which tea has no caffeine?",
        "Rooibos has none.",
        "And this one?",
        "How long should it draw?",
    ]


def test_a_chat_of_sillytavern(tmp_path: Path) -> None:
    path = chat(
        tmp_path / "chat.jsonl",
        {"name": "Luna", "is_user": False, "mes": "Welcome.", "send_date": ""},
        {"name": "Robin", "is_user": True, "mes": "Hello.", "send_date": "July 5, 2024 3:04pm"},
        {"name": "System", "is_system": True, "mes": "hidden", "send_date": 1720188300000},
        {"name": "Luna", "mes": "So late?", "send_date": "2024-7-5 @16h 5m 30s 123ms"},
        {"name": "Robin", "is_user": True, "mes": "Yes.", "send_date": 1720199730000},
        {"name": "Luna", "mes": "Sit down.", "send_date": "2024-07-05T17:20:00Z"},
    )
    assert said(path) == [
        ("2024-07-05T14:04:00+00:00", "assistant", "Welcome."),
        ("2024-07-05T14:04:00+00:00", "user", "Hello."),
        ("2024-07-05T15:05:30+00:00", "assistant", "So late?"),
        ("2024-07-05T17:15:30+00:00", "user", "Yes."),
        ("2024-07-05T17:20:00+00:00", "assistant", "Sit down."),
    ]
    with pytest.raises(InvalidInput, match="has a time"):
        said(chat(tmp_path / "b.jsonl", {"name": "Luna", "mes": "When?", "send_date": "??"}))


def test_other_files_are_none(tmp_path: Path) -> None:
    lines = tmp_path / "lines.jsonl"
    lines.write_text('{"actor": "user", "content": "hi"}\n')
    assert former_conversation(lines, ROLES, LISBON, NOW) is None
    assert former_conversation(exports.mem0(tmp_path), ROLES, LISBON, NOW) is None
    assert read_card(lines) is None
    assert read_card(exports.mem0(tmp_path)) is None


def test_an_import_that_is_run_again_adds_nothing(tmp_path: Path) -> None:
    lines = former(exports.claude(tmp_path / "it")).lines
    with JournalFile(tmp_path / "a.sqlite") as file:
        assert import_lines(file, lines).added == 2
        assert import_lines(file, lines).added == 0
        written = list(export_lines(file))
    assert [json.loads(line)["content"] for line in written] == [
        "My sister moved to Porto.",
        "Noted.",
    ]
    with JournalFile(tmp_path / "b.sqlite") as other:
        assert import_lines(other, "\n".join(written).encode()).added == 2
        assert list(export_lines(other)) == written


def _png(keyword: bytes, card: dict[str, Any]) -> bytes:
    text = keyword + b"\0" + base64.b64encode(json.dumps(card).encode())
    chunks = [(b"IHDR", bytes(13)), (b"tEXt", text), (b"IEND", b"")]
    packed = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(packed)


@pytest.mark.parametrize("keyword", [b"chara", b"ccv3"])
def test_the_character_of_a_card(keyword: bytes, tmp_path: Path) -> None:
    luna = Card("Luna", "Luna keeps a lighthouse.\n\nCalm.", "Good evening, the user.")
    (tmp_path / "first.json").write_text(json.dumps(CARD))
    assert read_card(tmp_path / "first.json") == luna
    second = {"spec": "chara_card_v2", "spec_version": "2.0", "data": CARD}
    (tmp_path / "luna.png").write_bytes(_png(keyword, second))
    assert read_card(tmp_path / "luna.png") == luna


def test_a_damaged_card_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "luna.png"
    path.write_bytes(_png(b"comment", CARD))
    with pytest.raises(InvalidInput, match="without a character"):
        read_card(path)
    path.write_bytes(_png(b"chara", CARD)[:60])
    with pytest.raises(InvalidInput, match="damaged"):
        read_card(path)


def test_a_message_without_a_zone_is_of_the_companions(tmp_path: Path) -> None:
    path = chat(
        tmp_path / "chat.jsonl",
        {"name": "Luna", "mes": "Winter.", "send_date": "2024-01-05 12:00"},
    )
    assert said(path)[0][0] == datetime(2024, 1, 5, 12, tzinfo=UTC).isoformat()


def test_what_is_said_twice_in_a_minute_is_kept_twice(tmp_path: Path) -> None:
    at = "July 5, 2024 3:04pm"
    lol = {"name": "Robin", "is_user": True, "mes": "lol", "send_date": at}
    path = chat(tmp_path / "chat.jsonl", lol, {"name": "Luna", "mes": "?", "send_date": at}, lol)
    lines = former(path).lines
    with JournalFile(tmp_path / "a.sqlite") as file:
        assert import_lines(file, lines).added == 3
        assert import_lines(file, lines + b"\n").added == 0
        assert [json.loads(one)["content"] for one in export_lines(file)] == ["lol", "?", "lol"]
        assert import_lines(file, "\n".join(export_lines(file)).encode()).added == 0


def test_what_is_damaged_or_left_out_is_told(tmp_path: Path) -> None:
    found = former(exports.chatgpt(tmp_path))
    assert [(one.number, one.file) for one in found.bad] == [(2, "conversations.json")]
    assert found.left_out == {"attachment": 1, "note": 1}


def test_one_odd_message_costs_no_other(tmp_path: Path) -> None:
    at = {"name": "Luna", "send_date": "2024-07-05T17:20:00Z"}
    path = chat(
        tmp_path / "chat.jsonl",
        at | {"mes": "an emoji cut in two \ud83d"},
        at | {"mes": "Tomorrow.", "send_date": "9999-01-01"},
        at | {"mes": "Long.", "send_date": "0001-01-01 00:00+14:00"},
        at | {"mes": 7},
        at | {"mes": "Friday.", "send_date": "Friday"},
        at | {"mes": "At ten.", "send_date": "10:30pm"},
    )
    found = former(path)
    assert [(one.number, "future" in one.reason) for one in found.bad] == [(3, True)]
    assert [text for _, _, text in said(path)] == [
        "an emoji cut in two \ufffd", "Long.", "Friday.", "At ten."
    ]  # fmt: skip
