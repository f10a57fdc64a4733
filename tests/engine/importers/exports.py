"""Exports of other programs, written by hand after their documentation; nobody in them exists."""

import json
import zipfile
from pathlib import Path
from typing import Any

SESSION = "5f0c1c5e-52c4-4c61-9d6f-0f2d7f1f0001"


def _line(kind: str, uuid: str, content: Any, **more: Any) -> str:
    entry = {
        "parentUuid": None,
        "isSidechain": False,
        "userType": "external",
        "cwd": "/home/someone/shop",
        "sessionId": SESSION,
        "version": "2.0.14",
        "gitBranch": "main",
        "type": kind,
        "message": {"role": kind, "content": content},
        "uuid": uuid,
        "timestamp": "2026-01-10T08:30:00.250Z",
    }
    return json.dumps(entry | more)


def claude_code(folder: Path) -> Path:
    """A session as Claude Code writes it, with two broken lines (4 and 12)."""
    text = [{"type": "text", "text": "It returns Decimal now, and the tests pass."}]
    thinking = {"type": "thinking", "thinking": "Let me see.", "signature": "x"}
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "pytest"}}
    result = [{"type": "tool_result", "tool_use_id": "t1", "content": "3 passed"}]
    reminder = "<system-reminder>Mind the list.</system-reminder>"
    lines = [
        json.dumps({"type": "summary", "summary": "Prices as Decimal", "leafUuid": "a2"}),
        json.dumps({"type": "file-history-snapshot", "messageId": "m", "snapshot": {}}),
        _line("user", "a1", f"Prices must be Decimal, never float.{reminder}"),
        '{"type": "user", "uuid": "broken", "message": {"role": "us',
        _line("assistant", "a2", [thinking, call]),
        _line("user", "a3", result),
        _line("assistant", "a4", text),
        _line("user", "a5", "<command-name>/compact</command-name>"),
        _line("user", "a6", "Caveat text", isMeta=True),
        _line("assistant", "a7", [{"type": "text", "text": "I looked."}], isSidechain=True),
        _line("user", "a8", "Summary so far", isCompactSummary=True),
        "[1, 2]",
        _line("user", "a9", "Ship it on Friday.", timestamp="2026-01-10T09:00:00Z"),
    ]
    file = folder / "-home-someone-shop" / f"{SESSION}.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text("\n".join(lines) + "\n")
    return folder


def _node(id: str, parent: str | None, role: str = "", *parts: Any, **more: Any) -> dict[str, Any]:
    message = None
    if role:
        message = {
            "id": id,
            "author": {"role": role, "name": None, "metadata": {}},
            "create_time": 1767950000.5,
            "content": {"content_type": "text", "parts": list(parts)},
            "metadata": {},
            "recipient": "all",
        } | more
    return {"id": id, "message": message, "parent": parent, "children": []}


def chatgpt(folder: Path) -> Path:
    """A zip as ChatGPT sends it: a kept branch, an abandoned one, and a conversation it broke."""
    hidden = {"metadata": {"is_visually_hidden_from_conversation": True}}
    image = {"content_type": "image_asset_pointer", "asset_pointer": "file://x"}
    nodes = [
        _node("root", None),
        _node("sys", "root", "system", "", **hidden),
        _node("q1", "sys", "user", "Which tea has no caffeine?"),
        _node("old", "q1", "assistant", "Green tea."),
        _node("new", "q1", "assistant", "Rooibos has none."),
        _node("q2", "new", "user", image, "And this one?"),
        _node("call", "q2", "assistant", "search()", recipient="browser"),
    ]
    conversation = {
        "title": "Tea",
        "create_time": 1767950000.0,
        "conversation_id": "11111111-2222-4333-8444-555555555555",
        "current_node": "call",
        "mapping": {node["id"]: node for node in nodes},
    }
    path = folder / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("user.json", "{}")
        archive.writestr("conversations.json", json.dumps([conversation, {"mapping": {"a": 1}}]))
    return path


def claude(folder: Path) -> Path:
    """A folder as Claude's export unpacks to."""
    messages = [
        {
            "uuid": "m1",
            "text": "My sister moved to Porto.",
            "content": [{"type": "text", "text": "My sister moved to Porto."}],
            "sender": "human",
            "created_at": "2026-02-01T10:00:00.123456Z",
            "attachments": [],
        },
        {
            "uuid": "m2",
            "text": "Noted.",
            "sender": "assistant",
            "created_at": "2026-02-01T10:00:05Z",
        },
    ]
    conversation = {
        "uuid": "22222222-3333-4444-8555-666666666666",
        "name": "Family",
        "created_at": "2026-02-01T10:00:00Z",
        "chat_messages": messages,
    }
    folder.mkdir()
    (folder / "conversations.json").write_text(json.dumps([conversation]))
    (folder / "users.json").write_text("[]")
    return folder


def mem0(folder: Path) -> Path:
    """What get_all gives, with an entry that is none."""
    memory = {
        "id": "892db2ae-06d9-49e5-8b3e-585ef9b85b8e",
        "memory": "Allergic to nuts",
        "hash": "abc",
        "metadata": {"source": "chat"},
        "created_at": "2025-11-01T08:00:00-07:00",
        "updated_at": None,
        "user_id": "guest-4",
        "categories": ["health"],
    }
    other = memory | {"id": "b2", "memory": "Likes chess", "categories": None}
    path = folder / "mem0.json"
    path.write_text(json.dumps({"results": [memory, {"score": 1}, other]}))
    return path


def basic_memory(folder: Path) -> Path:
    """Two notes, one of them in a folder below."""
    (folder / "kitchen").mkdir(parents=True)
    (folder / "kitchen" / "coffee.md").write_text(
        "---\ntitle: Coffee at home\ntype: note\npermalink: kitchen/coffee\n"
        "created: 2025-12-24T18:00:00+00:00\ntags: [drinks]\n---\n\n# Coffee at home\n\n"
        "The grinder was a present.\n\n## Observations\n"
        "- [method] Pour over gives the clearest cup #brewing (at home)\n"
        "- [method] The press is for guests\n- [ ] buy filters\n"
        "- [water] 96 degrees\n\n## Relations\n- pairs_with [[Cake recipes]]\n"
    )
    (folder / "plain.md").write_text("Only prose stands here.\n")
    return folder
