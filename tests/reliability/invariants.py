"""What must hold in a store, whatever was killed when."""

import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import asyncpg

from memory_butler.journal.file import journal_path


@dataclass(slots=True)
class Acknowledged:
    """What clients were told had happened; `marks_tried` counts also what was not answered."""

    facts: dict[str, str] = field(default_factory=dict)
    episodes: dict[str, str] = field(default_factory=dict)
    rules: dict[str, str] = field(default_factory=dict)
    entities: set[str] = field(default_factory=set)
    forgotten: set[str] = field(default_factory=set)
    merged: dict[str, str] = field(default_factory=dict)
    marks: Counter[str] = field(default_factory=Counter)
    marks_tried: Counter[str] = field(default_factory=Counter)
    turns: set[str] = field(default_factory=set)


# Each must find no row.
_INVARIANTS: Final = {
    "two active facts of one key": """
        SELECT min(subject) FROM facts WHERE validity = 'active'
        GROUP BY tenant_id, scope, entity_id, predicate,
            CASE WHEN entity_id IS NULL THEN subject END
        HAVING count(*) > 1
    """,
    "an active fact that is retired, or a retired one that is active": """
        SELECT id FROM facts WHERE (validity = 'active') <> (retired_at IS NULL)
    """,
    "a fact that supersedes an active one": """
        SELECT n.id FROM facts n JOIN facts o USING (tenant_id)
        WHERE n.supersedes_id = o.id AND o.validity = 'active'
    """,
    "a superseded fact without what supersedes it": """
        SELECT o.id FROM facts o WHERE o.validity = 'superseded' AND NOT EXISTS (
            SELECT FROM facts n WHERE n.tenant_id = o.tenant_id AND n.supersedes_id = o.id
        ) AND NOT EXISTS (
            SELECT FROM memory_events e WHERE e.tenant_id = o.tenant_id
            AND e.event_type = 'fact_superseded' AND e.payload->>'memory_id' = o.id::text
        )
    """,
    "a circle in a chain of supersession": """
        WITH RECURSIVE chain AS (
            SELECT tenant_id, id, supersedes_id FROM facts WHERE supersedes_id IS NOT NULL
            UNION
            SELECT c.tenant_id, c.id, f.supersedes_id FROM chain c
            JOIN facts f ON f.tenant_id = c.tenant_id AND f.id = c.supersedes_id
            WHERE f.supersedes_id IS NOT NULL
        ) SELECT id FROM chain WHERE supersedes_id = id
    """,
    "a fact without its event": """
        SELECT id FROM facts f WHERE NOT EXISTS (
            SELECT FROM memory_events e WHERE e.tenant_id = f.tenant_id
            AND e.event_type = 'fact_created' AND e.payload->>'memory_id' = f.id::text)
    """,
    "an event of a fact that is not there": """
        SELECT e.id FROM memory_events e WHERE e.event_type = 'fact_created' AND NOT EXISTS (
            SELECT FROM facts f WHERE f.tenant_id = e.tenant_id
            AND f.id::text = e.payload->>'memory_id')
    """,
    "a retracted fact without its event": """
        SELECT id FROM facts f WHERE validity = 'retracted' AND NOT EXISTS (
            SELECT FROM memory_events e WHERE e.tenant_id = f.tenant_id
            AND e.event_type = 'fact_retracted' AND e.payload->>'memory_id' = f.id::text)
    """,
    "a rule without its event": """
        SELECT id FROM rules r WHERE NOT EXISTS (
            SELECT FROM memory_events e WHERE e.tenant_id = r.tenant_id
            AND e.event_type = 'rule_created' AND e.payload->>'memory_id' = r.id::text)
    """,
    "an episode without its event": """
        SELECT id FROM episodes p WHERE NOT EXISTS (
            SELECT FROM memory_events e WHERE e.tenant_id = p.tenant_id
            AND e.event_type = 'episode_created' AND e.payload->>'memory_id' = p.id::text)
    """,
    "a rule whose counters disagree with its events": """
        SELECT r.id FROM rules r WHERE r.success_count <> (
            SELECT count(*) FROM memory_events e WHERE e.tenant_id = r.tenant_id
            AND e.event_type = 'rule_helpful' AND e.payload->>'memory_id' = r.id::text)
    """,
    "a rule applied less often than it was marked": """
        SELECT id FROM rules WHERE applied_count < success_count + harmful_count
    """,
    "a link to a fact or rule that is not there": """
        SELECT l.source_id FROM memory_links l WHERE
            (l.source_type = 'fact' AND NOT EXISTS (SELECT FROM facts f
                WHERE f.tenant_id = l.tenant_id AND f.id = l.source_id))
         OR (l.target_type = 'fact' AND NOT EXISTS (SELECT FROM facts f
                WHERE f.tenant_id = l.tenant_id AND f.id = l.target_id))
         OR (l.source_type = 'rule' AND NOT EXISTS (SELECT FROM rules r
                WHERE r.tenant_id = l.tenant_id AND r.id = l.source_id))
         OR (l.target_type = 'rule' AND NOT EXISTS (SELECT FROM rules r
                WHERE r.tenant_id = l.tenant_id AND r.id = l.target_id))
    """,
    "a link to an episode that has not expired and is not there": """
        SELECT l.source_id FROM memory_links l JOIN facts f
            ON l.source_type = 'fact' AND f.tenant_id = l.tenant_id AND f.id = l.source_id
        WHERE l.target_type = 'episode' AND l.created_at > now() - interval '6 days'
            AND NOT EXISTS (
                SELECT FROM episodes e WHERE e.tenant_id = l.tenant_id AND e.id = l.target_id)
    """,
    "a fact drawn twice from one episode": """
        SELECT min(content) FROM facts WHERE source_episode_id IS NOT NULL AND predicate = 'told'
        GROUP BY tenant_id, source_episode_id, content HAVING count(*) > 1
    """,
    "a consolidated episode from which nothing was drawn": """
        SELECT e.id FROM episodes e
        WHERE e.consolidation_status = 'consolidated' AND e.butler LIKE 'c%' AND NOT EXISTS (
            SELECT FROM facts f WHERE f.tenant_id = e.tenant_id AND f.content = e.content)
    """,
    "a former state that ends before it begins": """
        SELECT id FROM memory_versions WHERE known_until <= known_from
    """,
    "a fact of an entity that was merged away": """
        SELECT f.id FROM facts f JOIN entities e ON e.tenant_id = f.tenant_id AND e.id = f.entity_id
        WHERE e.metadata ? 'merged_into' AND f.validity = 'active'
    """,
}


async def violations(
    connection: asyncpg.Connection, data_dir: Path, known: Acknowledged, tried: Acknowledged
) -> list[str]:
    """Every write of `known` that is missing, and every invariant that does not hold.

    `tried` goes on growing while this looks; of it only the marks that were asked for count.
    """
    found = [
        f"{name}: {[str(row[0]) for row in rows[:3]]}"
        for name, query in _INVARIANTS.items()
        if (rows := await connection.fetch(query))
    ]
    for table, wanted in (
        ("facts", known.facts),
        ("episodes", known.episodes),
        ("rules", known.rules),
    ):
        there = dict(await connection.fetch(f"SELECT id::text, content FROM {table}"))
        found += [
            f"{table}: acknowledged {id} is {'changed' if id in there else 'missing'}"
            for id, content in wanted.items()
            if there.get(id) != content
        ]
    return [*found, *await _acts(connection, known, tried), *_turns(data_dir, known)]


async def _acts(
    connection: asyncpg.Connection, known: Acknowledged, tried: Acknowledged
) -> list[str]:
    validity = dict(await connection.fetch("SELECT id::text, validity FROM facts"))
    found = [
        f"forgotten fact {id} is active" for id in known.forgotten if validity.get(id) == "active"
    ]
    entities = dict(await connection.fetch("SELECT id::text, metadata FROM entities"))
    found += [f"acknowledged entity {id} is missing" for id in known.entities - entities.keys()]
    found += [
        f"merged entity {source} does not say where it went"
        for source, target in known.merged.items()
        if target not in str(entities.get(source))
    ]
    marks = dict(await connection.fetch("SELECT id::text, success_count FROM rules"))
    found += [
        f"rule {id} counts {marks.get(id)} marks, {count} were acknowledged"
        for id, count in known.marks.items()
        if marks.get(id, 0) < count
    ]
    found += [
        f"rule {id} counts {count} marks, only {tried.marks_tried[id]} were made"
        for id, count in marks.items()
        if count > tried.marks_tried[id]
    ]
    return found


def _turns(data_dir: Path, known: Acknowledged) -> list[str]:
    """Acknowledged turns of the journal that are not in its file."""
    if not known.turns:
        return []
    path = journal_path(data_dir, "default", "default")
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        (verdict,) = connection.execute("PRAGMA integrity_check").fetchone()
        there = {content for (content,) in connection.execute("SELECT content FROM events")}
    found = [] if verdict == "ok" else [f"the journal is damaged: {verdict}"]
    return found + [f"journal: acknowledged turn {one!r} is missing" for one in known.turns - there]
