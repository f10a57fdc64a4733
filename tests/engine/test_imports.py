"""What importing does to a store: how long it keeps, what is found when, and nothing twice."""

import io
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from conftest import Clock, Connection
from engine.importers import exports
from memory_butler.config import MemoryModuleConfig
from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.principals import Principal
from memory_butler.domain.trust import Trust
from memory_butler.engine.edits import INHERITED, edit_fact
from memory_butler.engine.import_format import (
    AnyLine,
    EntityLine,
    EpisodeLine,
    FactLine,
    RuleLine,
    read_lines,
)
from memory_butler.engine.importers.formats import detect, open_export
from memory_butler.engine.imports import ImportReport, import_all
from memory_butler.engine.memory import Memory
from memory_butler.engine.recall import search
from memory_butler.engine.reembed import embed_imported, unembedded
from memory_butler.store import reembedding

pytestmark = pytest.mark.anyio


async def run(
    memory: Memory, principal: Principal, path: Path, keep_days: int = 90
) -> ImportReport:
    format = detect(path)
    assert format is not None
    candidates = open_export(path, format).candidates(principal.tenant)
    return await import_all(memory, principal, candidates, keep_days=keep_days)


async def found(memory: Memory, principal: Principal, query: str, mode: str) -> list[str]:
    hits = await search(memory, principal, query, types=["episode"], mode=mode)  # type: ignore[arg-type]
    return [hit.row["content"] for hit in hits]


_NOTED = "noted by memory itself"
_NOT_GIVEN = {
    "tenant_id": "it is that of who imports",
    "embedding": "made of the words",
    "search_vector": "made of the words",
    "embedding_version_id": "made of the words",
    "decay_rate": "of the permanence",
    "expires_at": "of the days to keep",
    "supersedes_id": "of the key, and the order of lines",
    "validity": "of the key, and the order of lines",
    "maturity": "every rule begins as a candidate",
    "confidence": "whole in a fact, and half in a rule",
    **dict.fromkeys(
        ("created_at", "updated_at", "retired_at", "last_referenced_at", "last_confirmed_at"),
        _NOTED,
    ),
    **dict.fromkeys(("reference_count", "effectiveness_score", "applied_count"), _NOTED),
    **dict.fromkeys(("success_count", "harmful_count", "last_applied_at"), _NOTED),
    **dict.fromkeys(("last_evaluated_at", "consolidation_status", "claimed_by"), _NOTED),
    **dict.fromkeys(("consolidation_attempts", "last_consolidation_error"), _NOTED),
    **dict.fromkeys(("next_consolidation_retry_at", "claimed_until"), _NOTED),
}


@pytest.mark.parametrize(
    ("table", "line"),
    [
        *[("episodes", EpisodeLine), ("facts", FactLine), ("rules", RuleLine)],
        ("entities", EntityLine),
    ],
)
async def test_a_line_has_every_column_of_a_memory_that_can_be_given(
    admin: Connection, table: str, line: type[AnyLine]
) -> None:
    """As the catalog has them, so that a column of a later migration fails here."""
    columns = await admin.fetch(
        "SELECT column_name FROM information_schema.columns"
        " WHERE table_name = $1 AND table_schema = 'public' AND is_generated = 'NEVER'",
        table,
    )
    given = {name for (name,) in columns} - _NOT_GIVEN.keys()
    assert given <= line.model_fields.keys()
    if table == "facts":  # an edit, by hand or in a mirrored note, keeps what it does not name
        assert given - {"id", "metadata", "trust"} == set(INHERITED)


async def test_history_is_kept_from_the_import_on_and_remembers_when_it_was(
    memory: Memory, principal: Principal, admin: Connection, tmp_path: Path, clock: Clock
) -> None:
    await run(memory, principal, exports.claude_code(tmp_path))
    rows = await admin.fetch("SELECT * FROM episodes ORDER BY turn")
    assert [row["expires_at"] - row["created_at"] for row in rows] == [timedelta(days=90)] * 3
    assert [row["created_at"] for row in rows] == [clock.now] * 3
    assert rows[2]["occurred_at"].isoformat() == "2026-01-10T09:00:00+00:00"
    assert {row["consolidation_status"] for row in rows} == {"pending"}
    assert {Trust(row["trust"]) for row in rows} == {Trust.IMPORTED}
    events = await admin.fetch("SELECT event_type, actor FROM memory_events")
    assert [tuple(row) for row in events] == [("episode_created", "tester")] * 3


async def test_nothing_is_stored_twice_and_a_session_that_went_on_is_taken_up(
    memory: Memory, principal: Principal, admin: Connection, tmp_path: Path
) -> None:
    folder = exports.claude_code(tmp_path)
    first = await run(memory, principal, folder, keep_days=10)
    assert (first.stored["episode"], first.already_there, first.bad) == (3, 0, 2)
    assert [(line.number, line.file[-6:]) for line in first.bad_lines] == [
        (4, ".jsonl"),
        (14, ".jsonl"),
    ]
    (file,) = folder.rglob("*.jsonl")
    file.write_text(file.read_text() + exports._line("user", "c1", "One thing more.") + "\n")
    again = await run(memory, principal, folder)
    assert (again.stored["episode"], again.already_there) == (1, 3)
    assert await admin.fetchval("SELECT count(*) FROM episodes") == 4


async def test_found_by_its_words_at_once_and_by_meaning_when_embedded(
    memory: Memory, principal: Principal, other_tenant: Principal, tmp_path: Path
) -> None:
    await run(memory, principal, exports.claude_code(tmp_path))
    assert await unembedded(memory) == {principal.tenant: 3}
    query = "exact amounts of money instead of binary fractions"
    assert await found(memory, principal, query, "semantic") == []
    assert await found(memory, principal, "decimal", "keyword") != []
    assert (await found(memory, principal, "which prices are decimal", "hybrid"))[0].startswith(
        "Prices must"
    )
    told: list[int] = []
    assert await embed_imported(memory, told.append) == sum(told) == 3
    assert (await found(memory, principal, query, "semantic"))[0].startswith("Prices must")
    assert await found(memory, other_tenant, query, "hybrid") == []
    assert await found(memory, principal, query, "hybrid") != []
    assert (await unembedded(memory), await embed_imported(memory)) == ({}, 0)


async def test_one_process_embeds_at_a_time(
    memory: Memory, principal: Principal, tmp_path: Path
) -> None:
    await run(memory, principal, exports.claude_code(tmp_path))
    async with reembedding.turn(memory.pool) as ours:
        assert ours
        assert await embed_imported(memory) is None
    assert await embed_imported(memory) == 3


async def test_one_text_too_large_for_the_index_does_not_stop_the_others(
    memory: Memory, principal: Principal, tmp_path: Path, admin: Connection
) -> None:
    folder = exports.claude_code(tmp_path)
    (file,) = folder.rglob("*.jsonl")
    # More distinct words than a tsvector holds (C-48).
    long = " ".join(f"w{number:x}q" for number in range(180_000))
    file.write_text(file.read_text() + exports._line("user", "b1", long) + "\n")
    roomy = replace(memory, config=MemoryModuleConfig(max_content_bytes=4_000_000))
    report = await run(roomy, principal, folder)
    assert report.stored["episode"] == 4
    assert await admin.fetchval("SELECT max(length(content)) FROM episodes") == len(long)


async def test_a_turn_beyond_the_limit_is_reported_and_the_others_are_stored(
    memory: Memory, principal: Principal, tmp_path: Path
) -> None:
    folder = exports.claude_code(tmp_path)
    (file,) = folder.rglob("*.jsonl")
    file.write_text(file.read_text() + exports._line("user", "b1", "long " * 20_000) + "\n")
    report = await run(memory, principal, folder)
    assert report.stored["episode"] == 3
    told = [one.reason for one in report.bad_lines if "max_content_bytes" in one.reason]
    assert len(told) == 1
    assert "at most 65,536 are stored" in told[0]


async def test_a_fact_of_another_program_is_a_fact_since_then(
    memory: Memory, principal: Principal, admin: Connection, tmp_path: Path
) -> None:
    report = await run(memory, principal, exports.mem0(tmp_path))
    assert (report.stored["fact"], report.superseded, report.bad) == (2, 0, 1)
    row = await admin.fetchrow("SELECT * FROM facts WHERE content = 'Allergic to nuts'")
    assert row["valid_from"].isoformat() == "2025-11-01T15:00:00+00:00"
    assert row["metadata"]["imported_from"] == "mem0"


async def test_an_older_export_read_after_a_newer_one_makes_nothing_old_true_again(
    memory: Memory, principal: Principal, admin: Connection, tmp_path: Path
) -> None:
    older = exports.mem0(tmp_path)
    newer = tmp_path / "newer.json"
    changed = json.loads(older.read_text())
    changed["results"][0] |= {"memory": "Allergic to sesame", "updated_at": "2026-01-02T08:00:00Z"}
    newer.write_text(json.dumps(changed))
    assert (await run(memory, principal, newer)).stored["fact"] == 2
    again = await run(memory, principal, older)
    assert (again.stored["fact"], again.superseded, again.already_there) == (1, 0, 1)
    rows = await admin.fetch(
        "SELECT content, validity, valid_until FROM facts WHERE content LIKE 'Allergic%' ORDER BY 1"
    )
    ended = datetime(2026, 1, 2, 8, tzinfo=UTC)
    assert [tuple(row) for row in rows] == [
        ("Allergic to nuts", "superseded", ended),
        ("Allergic to sesame", "active", None),
    ]


async def test_a_note_that_says_again_what_it_said_before_is_heard(
    memory: Memory, principal: Principal, admin: Connection, tmp_path: Path
) -> None:
    note = tmp_path / "plan.md"

    async def says(status: str) -> ImportReport:
        front = "---\ntitle: Plan\ncreated: 2025-01-01\n---\n"
        note.write_text(f"{front}- [status] {status}\n- [owner] Ana\n")
        return await run(memory, principal, tmp_path)

    for status in ("active", "paused", "active", "paused"):
        await says(status)
        active = "SELECT content FROM facts WHERE predicate = 'status' AND validity = 'active'"
        assert [row["content"] for row in await admin.fetch(active)] == [status]
        assert (await says(status)).stored.total() == 0
    assert await admin.fetchval("SELECT count(*) FROM facts WHERE predicate = 'status'") == 4
    assert await admin.fetchval("SELECT count(*) FROM facts WHERE predicate = 'owner'") == 1


async def test_a_note_that_is_imported_again_undoes_no_correction(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock, tmp_path: Path
) -> None:
    front = "---\ntitle: Plan\ncreated: 2025-01-01\n---\n"
    (tmp_path / "plan.md").write_text(f"{front}- [status] active\n")
    await run(memory, principal, tmp_path)
    active = "SELECT id, content FROM facts WHERE predicate = 'status' AND validity = 'active'"
    clock.advance(minutes=1)
    stored = await admin.fetchval(active)
    await edit_fact(memory, principal, stored, {"content": "paused"})
    clock.advance(minutes=1)
    assert (await run(memory, principal, tmp_path)).stored.total() == 0
    assert [row["content"] for row in await admin.fetch(active)] == ["paused"]


async def test_a_line_supersedes_one_that_does_not_say_since_when(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    facts = [{"content": "Porto"}, {"content": "Lisbon", "valid_from": "2024-05-01T00:00:00Z"}]
    about = {"kind": "fact", "subject": "Ana", "predicate": "city"}
    lines = io.BytesIO(b"".join(json.dumps(about | one).encode() + b"\n" for one in facts))
    report = await import_all(memory, principal, read_lines(lines, principal.tenant))
    assert (report.stored["fact"], report.superseded) == (2, 1)
    assert await admin.fetchval("SELECT content FROM facts WHERE validity = 'active'") == "Lisbon"


async def test_nothing_of_the_future_is_history(memory: Memory, principal: Principal) -> None:
    line = {"kind": "episode", "butler": "b", "content": "x", "occurred_at": "2096-01-01T00:00:00Z"}
    lines = io.BytesIO(json.dumps(line).encode())
    report = await import_all(memory, principal, read_lines(lines, principal.tenant))
    assert [(one.number, "lies in the future" in one.reason) for one in report.bad_lines] == [
        (1, True)
    ]
    assert report.stored.total() == 0

    soon = memory.clock() + timedelta(minutes=4)  # by the clock of another machine
    lines = io.BytesIO(json.dumps(line | {"occurred_at": soon.isoformat()}).encode())
    report = await import_all(memory, principal, read_lines(lines, principal.tenant))
    assert (report.bad_lines, report.stored.total()) == ([], 1)


@pytest.mark.parametrize("days", [0, 40_000])
async def test_keep_has_bounds(
    memory: Memory, principal: Principal, tmp_path: Path, days: int
) -> None:
    with pytest.raises(InvalidInput, match="1 to 36500 days"):
        await run(memory, principal, exports.claude_code(tmp_path), keep_days=days)
