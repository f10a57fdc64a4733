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
    """A session as Claude Code writes it, with two broken lines (4 and 14)."""
    text = [{"type": "text", "text": "It returns Decimal now, and the tests pass."}]
    thinking = {"type": "thinking", "thinking": "Let me see.", "signature": "x"}
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "pytest"}}
    result = [{"type": "tool_result", "tool_use_id": "t1", "content": "3 passed"}]
    reminder = "<system-reminder>Mind the list.</system-reminder>"
    limit = [{"type": "text", "text": "You've hit your limit; it resets at 11:30."}]
    synthetic = {"role": "assistant", "model": "<synthetic>", "content": limit}
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
        _line("assistant", "b1", limit, isApiErrorMessage=True, error="rate_limit"),
        _line("assistant", "b2", limit, message=synthetic),
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


def _instructions() -> dict[str, Any]:
    return {
        "id": "sys",
        "author": {"role": "user", "name": None, "metadata": {}},
        "create_time": None,
        "content": {
            "content_type": "user_editable_context",
            "user_profile": "Preferred name: Robin",
            "user_instructions": "Be brief.",
        },
        "metadata": {
            "is_visually_hidden_from_conversation": True,
            "user_context_message_data": {
                "about_user_message": "Preferred name: Robin",
                "about_model_message": "Be brief.",
            },
        },
        "recipient": "all",
    }


def chatgpt(folder: Path) -> Path:
    """A zip as ChatGPT sends it: a kept branch, an abandoned one, and a conversation it broke."""
    hidden = {"metadata": {"is_visually_hidden_from_conversation": True}}
    image = {"content_type": "image_asset_pointer", "asset_pointer": "file://x"}
    transcript = {
        "content_type": "audio_transcription",
        "text": "How long should it draw?",
        "direction": "in",
    }
    nodes = [
        _node("root", None),
        _node("sys", "root", "system", "", **hidden),
        _node("q1", "sys", "user", "Which tea has no caffeine?"),
        _node("old", "q1", "assistant", "Green tea."),
        _node("new", "q1", "assistant", "Rooibos has none."),
        _node("q2", "new", "user", image, "And this one?"),
        _node("spoken", "q2", "user", transcript, {"content_type": "audio_asset_pointer"}),
        _node("call", "spoken", "assistant", "search()", recipient="browser"),
    ]
    nodes[5]["message"]["content"]["content_type"] = "multimodal_text"
    nodes[6]["message"]["content"]["content_type"] = "multimodal_text"
    nodes[1]["message"] = _instructions()
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
        again = conversation | {
            "conversation_id": "11111111-2222-4333-8444-666666666666",
            "current_node": "sys",
        }
        broken = {"mapping": {"a": 1}}
        archive.writestr("conversations.json", json.dumps([conversation, broken, again]))
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
            "attachments": [
                {"file_name": "map.txt", "file_type": "txt", "extracted_content": "Porto"}
            ],
            "files": [{"file_name": "house.png"}],
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
    memory = {
        "conversations_memory": "**Personal context**\n\nHas a sister in Porto.\n\nPlays chess.",
        "project_memories": {"p1": "The garden faces north."},
        "account_uuid": "a1",
    }
    (folder / "memories.json").write_text(json.dumps([memory]))
    project = {
        "uuid": "p1",
        "name": "Garden",
        "description": "Plan the beds",
        "prompt_template": "Answer in German.",
        "docs": [{"uuid": "d1", "filename": "plan.md", "content": "Beds"}],
        "created_at": "2026-01-15T09:00:00Z",
    }
    (folder / "projects").mkdir()
    (folder / "projects" / "p1.json").write_text(json.dumps(project))
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
