"""The migrated schema, held against the requirement list line by line, and the way to it."""

import asyncio
import hashlib
import re
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import asyncpg
import pytest
from alembic.script import ScriptDirectory
from structlog.testing import capture_logs

from conftest import Connection, Database, Template
from memory_butler.domain.errors import ConfigurationError, Unavailable
from memory_butler.domain.facts import VALIDITIES
from memory_butler.store import schema
from memory_butler.store.migrations.functions import texts
from memory_butler.store.migrations.run import alembic_config, migrate
from memory_butler.store.queries import Queries
from memory_butler.store.transaction import connected, open_pool

from .tenant_tables import GLOBAL_TABLES, TENANT_TABLES

_MIGRATIONS = files("memory_butler.store") / "migrations"
# By revision, what the texts were that made a database of it, without comments and spaces.
_MADE = {
    "mem_031": "d4b985322bb1ec79",
    "mem_032": "c0a4a657b525abee",
    "mem_033": "df655bdce0df332b",
    "mem_034": "d469ba1a61e19425",
    "mem_035": "31a73e94a4dc14bd",
    "mem_036": "c894474b6edc04ee",
    "mem_037": "758817f7ec390aaa",
    "mem_038": "a59bef4a1f8ddbde",
    "mem_039": "6194bce72e38449a",
    "mem_040": "6c5972d5ad81c862",
    "mem_041": "ba9cf8da0a510fd9",
    "mem_042": "0a3f0dc6469e9a54",
    "mem_043": "3ea9971ef0f46ffc",
    "mem_044": "059e07206c6b36df",
    "mem_045": "fa478040ce47a614",
}

TIMESTAMP = "timestamp with time zone"
OPTIONAL, REQUIRED = True, False

# requirement, table, column, type, nullable, default
COLUMNS = [
    ("EPI-01", "episodes", "id", "uuid", REQUIRED, "gen_random_uuid()"),
    ("EPI-02", "episodes", "butler", "text", REQUIRED, None),
    ("EPI-03", "episodes", "session_id", "uuid", OPTIONAL, None),
    ("EPI-04", "episodes", "content", "text", REQUIRED, None),
    ("EPI-05", "episodes", "embedding", "vector(384)", OPTIONAL, None),
    ("EPI-06", "episodes", "search_vector", "tsvector", OPTIONAL, None),
    ("EPI-07", "episodes", "importance", "double precision", REQUIRED, "5.0"),
    ("EPI-08", "episodes", "reference_count", "integer", REQUIRED, "0"),
    (
        "EPI-09",
        "episodes",
        "consolidated",
        "boolean",
        REQUIRED,
        "((consolidation_status)::text = 'consolidated'::text)",
    ),
    (
        "EPI-10",
        "episodes",
        "consolidation_status",
        "character varying(20)",
        REQUIRED,
        "'pending'::character varying",
    ),
    ("EPI-11", "episodes", "retry_count", "integer", OPTIONAL, "consolidation_attempts"),
    ("EPI-11", "episodes", "last_error", "text", OPTIONAL, "last_consolidation_error"),
    ("EPI-12", "episodes", "consolidation_attempts", "integer", REQUIRED, "0"),
    ("EPI-12", "episodes", "last_consolidation_error", "text", OPTIONAL, None),
    ("EPI-12", "episodes", "next_consolidation_retry_at", TIMESTAMP, OPTIONAL, None),
    ("EPI-13", "episodes", "created_at", TIMESTAMP, REQUIRED, "now()"),
    ("EPI-14", "episodes", "last_referenced_at", TIMESTAMP, OPTIONAL, "now()"),
    (
        "EPI-15",
        "episodes",
        "expires_at",
        TIMESTAMP,
        REQUIRED,
        "(now() + '7 days'::interval)",
    ),
    ("EPI-16", "episodes", "metadata", "jsonb", REQUIRED, "'{}'::jsonb"),
    ("EPI-17", "episodes", "tenant_id", "text", REQUIRED, "'default'::text"),
    ("FACT-01", "facts", "id", "uuid", REQUIRED, "gen_random_uuid()"),
    ("FACT-02", "facts", "subject", "text", REQUIRED, None),
    ("FACT-03", "facts", "predicate", "text", REQUIRED, None),
    ("FACT-04", "facts", "content", "text", REQUIRED, None),
    ("FACT-05", "facts", "embedding", "vector(384)", OPTIONAL, None),
    ("FACT-05", "facts", "search_vector", "tsvector", OPTIONAL, None),
    ("FACT-06", "facts", "importance", "double precision", REQUIRED, "5.0"),
    ("FACT-07", "facts", "confidence", "double precision", REQUIRED, "1.0"),
    ("FACT-08", "facts", "decay_rate", "double precision", REQUIRED, "0.008"),
    ("FACT-09", "facts", "permanence", "text", REQUIRED, "'standard'::text"),
    ("FACT-10", "facts", "source_butler", "text", OPTIONAL, None),
    ("FACT-11", "facts", "source_episode_id", "uuid", OPTIONAL, None),
    ("FACT-12", "facts", "supersedes_id", "uuid", OPTIONAL, None),
    ("FACT-13", "facts", "entity_id", "uuid", OPTIONAL, None),
    ("FACT-14", "facts", "validity", "text", REQUIRED, "'active'::text"),
    ("FACT-15", "facts", "scope", "text", REQUIRED, "'global'::text"),
    ("SCP-01", "facts", "scope", "text", REQUIRED, "'global'::text"),
    ("FACT-16", "facts", "reference_count", "integer", REQUIRED, "0"),
    ("FACT-17", "facts", "created_at", TIMESTAMP, REQUIRED, "now()"),
    ("FACT-18", "facts", "last_referenced_at", TIMESTAMP, OPTIONAL, "now()"),
    ("FACT-19", "facts", "last_confirmed_at", TIMESTAMP, OPTIONAL, "now()"),
    ("FACT-20", "facts", "tags", "jsonb", REQUIRED, "'[]'::jsonb"),
    ("FACT-21", "facts", "metadata", "jsonb", REQUIRED, "'{}'::jsonb"),
    ("FACT-22", "facts", "tenant_id", "text", REQUIRED, "'default'::text"),
    ("RULE-01", "rules", "id", "uuid", REQUIRED, "gen_random_uuid()"),
    ("RULE-02", "rules", "content", "text", REQUIRED, None),
    ("RULE-03", "rules", "embedding", "vector(384)", OPTIONAL, None),
    ("RULE-03", "rules", "search_vector", "tsvector", OPTIONAL, None),
    ("RULE-04", "rules", "scope", "text", REQUIRED, "'global'::text"),
    ("SCP-01", "rules", "scope", "text", REQUIRED, "'global'::text"),
    ("RULE-05", "rules", "maturity", "text", REQUIRED, "'candidate'::text"),
    ("RULE-06", "rules", "confidence", "double precision", REQUIRED, "0.5"),
    ("RULE-07", "rules", "decay_rate", "double precision", REQUIRED, "0.008"),
    ("RULE-08", "rules", "permanence", "text", REQUIRED, "'standard'::text"),
    ("RULE-09", "rules", "effectiveness_score", "double precision", REQUIRED, "0.0"),
    ("RULE-10", "rules", "applied_count", "integer", REQUIRED, "0"),
    ("RULE-10", "rules", "success_count", "integer", REQUIRED, "0"),
    ("RULE-10", "rules", "harmful_count", "integer", REQUIRED, "0"),
    ("RULE-11", "rules", "source_episode_id", "uuid", OPTIONAL, None),
    ("RULE-12", "rules", "source_butler", "text", OPTIONAL, None),
    ("RULE-13", "rules", "created_at", TIMESTAMP, REQUIRED, "now()"),
    ("RULE-14", "rules", "last_applied_at", TIMESTAMP, OPTIONAL, None),
    ("RULE-14", "rules", "last_evaluated_at", TIMESTAMP, OPTIONAL, None),
    ("RULE-15", "rules", "last_confirmed_at", TIMESTAMP, OPTIONAL, "now()"),
    ("RULE-16", "rules", "reference_count", "integer", REQUIRED, "0"),
    ("RULE-16", "rules", "last_referenced_at", TIMESTAMP, OPTIONAL, "now()"),
    ("RULE-17", "rules", "tags", "jsonb", REQUIRED, "'[]'::jsonb"),
    ("RULE-17", "rules", "metadata", "jsonb", REQUIRED, "'{}'::jsonb"),
    ("RULE-18", "rules", "tenant_id", "text", REQUIRED, "'default'::text"),
    ("LINK-01", "memory_links", "source_type", "text", REQUIRED, None),
    ("LINK-01", "memory_links", "source_id", "uuid", REQUIRED, None),
    ("LINK-01", "memory_links", "target_type", "text", REQUIRED, None),
    ("LINK-01", "memory_links", "target_id", "uuid", REQUIRED, None),
    ("LINK-01", "memory_links", "relation", "text", REQUIRED, None),
    ("LINK-01", "memory_links", "created_at", TIMESTAMP, REQUIRED, "now()"),
    ("ENTT-01", "entities", "id", "uuid", REQUIRED, "gen_random_uuid()"),
    ("ENTT-02", "entities", "tenant_id", "text", REQUIRED, "'default'::text"),
    ("ENTT-03", "entities", "canonical_name", "character varying", REQUIRED, None),
    ("ENTT-04", "entities", "entity_type", "character varying", REQUIRED, None),
    ("ENTT-05", "entities", "aliases", "text[]", REQUIRED, "'{}'::text[]"),
    ("ENTT-06", "entities", "metadata", "jsonb", OPTIONAL, "'{}'::jsonb"),
    ("ENTT-07", "entities", "created_at", TIMESTAMP, REQUIRED, "now()"),
    ("ENTT-07", "entities", "updated_at", TIMESTAMP, REQUIRED, "now()"),
    ("EVTT-01", "memory_events", "id", "uuid", REQUIRED, "gen_random_uuid()"),
    ("EVTT-01", "memory_events", "event_type", "text", REQUIRED, None),
    ("EVTT-01", "memory_events", "actor", "text", OPTIONAL, None),
    # C-18: not nullable; events of the system itself have a tenant of their own.
    ("EVTT-01", "memory_events", "tenant_id", "text", REQUIRED, "'default'::text"),
    ("EVTT-01", "memory_events", "payload", "jsonb", REQUIRED, "'{}'::jsonb"),
    ("EVTT-01", "memory_events", "created_at", TIMESTAMP, REQUIRED, "now()"),
    ("RAP-01", "rule_applications", "id", "uuid", REQUIRED, "gen_random_uuid()"),
    ("RAP-01", "rule_applications", "tenant_id", "text", REQUIRED, "'default'::text"),
    ("RAP-01", "rule_applications", "rule_id", "uuid", REQUIRED, None),
    ("RAP-01", "rule_applications", "outcome", "text", REQUIRED, None),
    ("RAP-01", "rule_applications", "context", "jsonb", REQUIRED, "'{}'::jsonb"),
    ("RAP-01", "rule_applications", "created_at", TIMESTAMP, REQUIRED, "now()"),
    ("EMV-01", "embedding_versions", "id", "integer", REQUIRED, None),
    ("EMV-01", "embedding_versions", "model_name", "text", REQUIRED, None),
    ("EMV-01", "embedding_versions", "version", "text", REQUIRED, None),
    ("EMV-01", "embedding_versions", "dimensions", "integer", REQUIRED, None),
    ("EMV-01", "embedding_versions", "first_used_at", TIMESTAMP, REQUIRED, "now()"),
    ("EMV-01", "embedding_versions", "last_used_at", TIMESTAMP, REQUIRED, "now()"),
    ("EMV-01", "embedding_versions", "is_current", "boolean", REQUIRED, "true"),
    ("EMV-01", "episodes", "embedding_version_id", "integer", OPTIONAL, None),
    ("EMV-01", "facts", "embedding_version_id", "integer", OPTIONAL, None),
    ("EMV-01", "rules", "embedding_version_id", "integer", OPTIONAL, None),
]

IVFFLAT = "ivfflat (embedding vector_cosine_ops) WITH (lists='20')"

# requirement, index, unique, definition
INDEXES = [
    ("EPI-01", "episodes_pkey", True, "btree (tenant_id, id)"),
    ("EPI-19", "idx_episodes_butler", False, "btree (butler, created_at DESC)"),
    (
        "EPI-20",
        "idx_episodes_expires",
        False,
        "btree (expires_at) WHERE (expires_at IS NOT NULL)",
    ),
    (
        "EPI-21",
        "idx_episodes_unconsolidated",
        False,
        "btree (created_at) WHERE (consolidated = false)",
    ),
    (
        "EPI-22",
        "idx_episodes_pending",
        False,
        "btree (butler, created_at) WHERE ((consolidation_status)::text = 'pending'::text)",
    ),
    ("EPI-23", "idx_episodes_embedding", False, IVFFLAT),
    ("EPI-24", "idx_episodes_search", False, "gin (search_vector)"),
    ("FACT-01", "facts_pkey", True, "btree (tenant_id, id)"),
    (
        "FACT-23",
        "idx_facts_scope_validity",
        False,
        "btree (scope, validity) WHERE (validity = 'active'::text)",
    ),
    ("FACT-24", "idx_facts_subject", False, "btree (subject, predicate)"),
    ("FACT-25", "idx_facts_embedding", False, IVFFLAT),
    ("FACT-26", "idx_facts_search", False, "gin (search_vector)"),
    ("FACT-27", "idx_facts_tags", False, "gin (tags)"),
    (
        "FACT-28",
        "uq_facts_entity_active",
        True,
        "btree (tenant_id, entity_id, scope, predicate_key)"
        " WHERE ((entity_id IS NOT NULL) AND (validity = 'active'::text))",
    ),
    (
        "FACT-29",
        "uq_facts_subject_active",
        True,
        "btree (tenant_id, scope, subject_key, predicate_key)"
        " WHERE ((entity_id IS NULL) AND (validity = 'active'::text))",
    ),
    ("RULE-01", "rules_pkey", True, "btree (tenant_id, id)"),
    ("RULE-20", "idx_rules_scope_maturity", False, "btree (scope, maturity)"),
    ("RULE-21", "idx_rules_embedding", False, IVFFLAT),
    ("GEN-11", "idx_rules_embedding", False, IVFFLAT),
    ("RULE-22", "idx_rules_search", False, "gin (search_vector)"),
    (
        "LINK-02",
        "memory_links_pkey",
        True,
        "btree (tenant_id, source_type, source_id, target_type, target_id)",
    ),
    ("LINK-04", "idx_memory_links_target", False, "btree (target_type, target_id)"),
    ("ENTT-01", "entities_pkey", True, "btree (tenant_id, id)"),
    (
        "ENTT-08",
        "entities_name_unique",
        True,
        "btree (tenant_id, canonical_name, entity_type)",
    ),
    ("ENTT-09", "idx_entities_name", False, "btree (tenant_id, canonical_name)"),
    ("ENTT-09", "idx_entities_aliases", False, "gin (aliases)"),
    ("ENTT-09", "idx_entities_metadata", False, "gin (metadata)"),
    ("EVTT-01", "memory_events_pkey", True, "btree (tenant_id, id)"),
    ("EVTT-02", "idx_memory_events_type", False, "btree (event_type, created_at DESC)"),
    ("EVTT-02", "idx_memory_events_tenant", False, "btree (tenant_id, created_at DESC)"),
    (
        "RAP-01",
        "idx_rule_applications_rule",
        False,
        "btree (tenant_id, rule_id, created_at DESC)",
    ),
    ("EMV-01", "embedding_versions_unique", True, "btree (model_name, version)"),
]

# requirement, constraint, definition
FOREIGN_KEYS = [
    (
        "FACT-11",
        "facts_source_episode_fkey",
        "(tenant_id, source_episode_id) REFERENCES episodes(tenant_id, id)"
        " ON DELETE SET NULL (source_episode_id)",
    ),
    (
        "FACT-12",
        "facts_supersedes_fkey",
        "(tenant_id, supersedes_id) REFERENCES facts(tenant_id, id)"
        " ON DELETE SET NULL (supersedes_id)",
    ),
    (
        "FACT-13",
        "facts_entity_fkey",
        "(tenant_id, entity_id) REFERENCES entities(tenant_id, id) ON DELETE RESTRICT",
    ),
    (
        "ENTT-10",
        "facts_entity_fkey",
        "(tenant_id, entity_id) REFERENCES entities(tenant_id, id) ON DELETE RESTRICT",
    ),
    (
        "RULE-11",
        "rules_source_episode_fkey",
        "(tenant_id, source_episode_id) REFERENCES episodes(tenant_id, id)"
        " ON DELETE SET NULL (source_episode_id)",
    ),
    (
        "RAP-01",
        "rule_applications_rule_fkey",
        "(tenant_id, rule_id) REFERENCES rules(tenant_id, id) ON DELETE CASCADE",
    ),
]

# requirement, table, column, the words that the CHECK admits
CLOSED_SETS = [
    (
        "EPI-10",
        "episodes",
        "consolidation_status",
        {"pending", "consolidated", "failed", "dead_letter"},
    ),
    ("FACT-14", "facts", "validity", set(VALIDITIES)),
    ("LIFE-01", "facts", "validity", set(VALIDITIES)),
    ("RULE-05", "rules", "maturity", {"candidate", "established", "proven", "anti_pattern"}),
    (
        "LINK-03",
        "memory_links",
        "relation",
        {"derived_from", "supports", "contradicts", "supersedes", "related_to"},
    ),
    ("LINK-01", "memory_links", "source_type", {"episode", "fact", "rule"}),
    ("LINK-01", "memory_links", "target_type", {"episode", "fact", "rule"}),
    ("ENTT-04", "entities", "entity_type", {"person", "organization", "place", "other"}),
    ("RAP-01", "rule_applications", "outcome", {"helpful", "harmful"}),
]


class Catalog(NamedTuple):
    """What PostgreSQL says of the migrated schema."""

    columns: dict[tuple[str, str], tuple[str, bool, str | None]]
    indexes: dict[str, tuple[str, bool, str]]
    constraints: dict[str, tuple[str, str, str]]
    extensions: set[str]


def _marked(rows: list[Any]) -> list[Any]:
    """Parameters without their first part, which becomes the requirement mark."""
    return [
        pytest.param(*rest, marks=pytest.mark.requirement(id), id=f"{id}-{rest[0]}-{rest[1]}")
        for id, *rest in rows
    ]


@pytest.fixture(scope="module")
def catalog(template: Template) -> Catalog:
    return asyncio.run(_read_catalog(template.endpoint.dsn("memory_template")))


async def _read_catalog(dsn: str, schema: str = "public") -> Catalog:
    async with connected(dsn) as connection:
        columns = await connection.fetch(
            """
            SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), NOT a.attnotnull,
                   pg_get_expr(d.adbin, d.adrelid)
            FROM pg_attribute a
            JOIN pg_class c ON c.oid = a.attrelid AND c.relkind = 'r'
            LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
            WHERE c.relnamespace = $1::regnamespace AND a.attnum > 0 AND NOT a.attisdropped
            """,
            schema,
        )
        indexes = await connection.fetch(
            """
            SELECT i.relname, t.relname, x.indisunique,
                   regexp_replace(pg_get_indexdef(x.indexrelid), '^.* USING ', '')
            FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid
            JOIN pg_class t ON t.oid = x.indrelid
            WHERE t.relnamespace = $1::regnamespace
            """,
            schema,
        )
        constraints = await connection.fetch(
            """
            SELECT conname, conrelid::regclass::text, contype::text, pg_get_constraintdef(oid)
            FROM pg_constraint WHERE connamespace = $1::regnamespace
            """,
            schema,
        )
        extensions = await connection.fetch("SELECT extname FROM pg_extension")
    return Catalog(
        {(row[0], row[1]): (row[2], row[3], row[4]) for row in columns},
        {row[0]: (row[1], row[2], row[3]) for row in indexes},
        {row[0]: (row[1], row[2], row[3]) for row in constraints},
        {row[0] for row in extensions},
    )


@pytest.mark.parametrize(("table", "column", "kind", "nullable", "default"), _marked(COLUMNS))
def test_a_column_is_as_required(
    catalog: Catalog, table: str, column: str, kind: str, nullable: bool, default: str | None
) -> None:
    assert catalog.columns[table, column] == (kind, nullable, default)


@pytest.mark.parametrize(("name", "unique", "definition"), _marked(INDEXES))
def test_an_index_is_as_required(
    catalog: Catalog, name: str, unique: bool, definition: str
) -> None:
    assert catalog.indexes[name][1:] == (unique, definition)


@pytest.mark.parametrize(("name", "definition"), _marked(FOREIGN_KEYS))
def test_a_foreign_key_is_as_required(catalog: Catalog, name: str, definition: str) -> None:
    assert catalog.constraints[name][1:] == ("f", f"FOREIGN KEY {definition}")


@pytest.mark.parametrize(("table", "column", "words"), _marked(CLOSED_SETS))
def test_a_closed_set_of_words_is_checked(
    catalog: Catalog, table: str, column: str, words: set[str]
) -> None:
    checks = [
        definition
        for of_table, kind, definition in catalog.constraints.values()
        if of_table == table and kind == "c" and f"{column})" in definition.replace(" =", ") =")
    ]
    assert len(checks) == 1
    assert set(checks[0].split("'")[1::2]) == words


@pytest.mark.requirement("GEN-01")
def test_each_memory_type_has_a_table_of_its_own(catalog: Catalog) -> None:
    columns = {
        table: {column for of_table, column in catalog.columns if of_table == table}
        for table in ("episodes", "facts", "rules")
    }
    assert "expires_at" in columns["episodes"] - columns["facts"] - columns["rules"]
    assert "validity" in columns["facts"] - columns["episodes"] - columns["rules"]
    assert "maturity" in columns["rules"] - columns["episodes"] - columns["facts"]


@pytest.mark.requirement("MIG-04")
def test_the_extensions_are_there(catalog: Catalog) -> None:
    assert {"vector", "pg_trgm"} <= catalog.extensions


@pytest.mark.requirement("TEN-01", "EPI-17", "FACT-22", "RULE-18")
def test_every_table_of_tenant_data_has_the_tenant_column(catalog: Catalog) -> None:
    tables = {table for table, _ in catalog.columns}
    assert tables - GLOBAL_TABLES == set(TENANT_TABLES)
    for table in TENANT_TABLES:
        assert catalog.columns[table, "tenant_id"] == ("text", REQUIRED, "'default'::text")


@pytest.mark.requirement("TEN-01")
def test_the_tenant_is_in_every_key_of_tenant_data(catalog: Catalog) -> None:
    for name, (table, unique, definition) in catalog.indexes.items():
        if table in TENANT_TABLES and unique:
            assert definition.startswith(("btree (tenant_id, ", "btree (tenant_id)")), name
    for name, (table, kind, definition) in catalog.constraints.items():
        global_target = "REFERENCES embedding_versions" in definition
        if table in TENANT_TABLES and kind == "f" and not global_target:
            assert definition.startswith("FOREIGN KEY (tenant_id, "), name
            assert "(tenant_id, id)" in definition, name


@pytest.mark.anyio
@pytest.mark.requirement("EPI-18", "EPI-10", "EPI-15", "EPI-07", "EPI-08", "EPI-09")
async def test_an_episode_of_butler_and_content_alone_has_the_defaults(admin: Connection) -> None:
    row = await admin.fetchrow(
        "INSERT INTO episodes (butler, content) VALUES ('general', 'hello')"
        " RETURNING *, expires_at - created_at AS ttl, now() AS now"
    )
    assert row["importance"] == 5.0
    assert row["consolidated"] is False
    assert row["consolidation_status"] == "pending"
    assert row["reference_count"] == 0
    assert row["retry_count"] == 0
    assert row["last_error"] is None
    assert row["ttl"].days == 7
    assert row["created_at"] == row["last_referenced_at"] == row["now"]


@pytest.mark.anyio
@pytest.mark.requirement("RULE-19", "FACT-31")
async def test_bare_facts_and_rules_have_the_defaults(admin: Connection) -> None:
    fact = await admin.fetchrow(
        "INSERT INTO facts (subject, predicate, content) VALUES ('user', 'name', 'John')"
        " RETURNING permanence, decay_rate, validity, confidence"
    )
    assert tuple(fact) == ("standard", 0.008, "active", 1.0)
    rule = await admin.fetchrow(
        "INSERT INTO rules (content) VALUES ('be brief')"
        " RETURNING maturity, confidence, effectiveness_score"
    )
    assert tuple(rule) == ("candidate", 0.5, 0.0)


@pytest.mark.anyio
@pytest.mark.requirement("EPI-09", "EPI-11", "EPI-12")
async def test_two_names_of_one_thing_cannot_disagree(admin: Connection) -> None:
    row = await admin.fetchrow(
        "INSERT INTO episodes (butler, content, consolidation_status, consolidation_attempts,"
        " last_consolidation_error) VALUES ('b', 'c', 'consolidated', 3, 'no JSON') RETURNING *"
    )
    assert (row["consolidated"], row["retry_count"], row["last_error"]) == (True, 3, "no JSON")
    with pytest.raises(asyncpg.GeneratedAlwaysError):
        await admin.execute("UPDATE episodes SET consolidated = false")


@pytest.mark.anyio
@pytest.mark.requirement("FACT-28", "FACT-29")
async def test_one_active_fact_a_key_and_both_key_spaces_coexist(admin: Connection) -> None:
    insert = "INSERT INTO facts (subject, predicate, content, entity_id) VALUES ($1, 'p', 'c', $2)"
    entity = await admin.fetchval(
        "INSERT INTO entities (canonical_name, entity_type) VALUES ('Ann', 'person') RETURNING id"
    )
    await admin.execute(insert, "ann", None)
    await admin.execute(insert, "ann", entity)
    for subject, entity_id in (("ann", None), ("whoever", entity)):
        with pytest.raises(asyncpg.UniqueViolationError):
            await admin.execute(insert, subject, entity_id)


@pytest.mark.anyio
@pytest.mark.requirement("FACT-11", "RULE-11", "MNT-06")
async def test_facts_and_rules_outlive_their_episode(admin: Connection) -> None:
    episode = await admin.fetchval(
        "INSERT INTO episodes (butler, content) VALUES ('b', 'c') RETURNING id"
    )
    await admin.execute(
        "INSERT INTO facts (subject, predicate, content, source_episode_id)"
        " VALUES ('s', 'p', 'c', $1)",
        episode,
    )
    await admin.execute("INSERT INTO rules (content, source_episode_id) VALUES ('c', $1)", episode)
    await admin.execute("DELETE FROM episodes")
    assert await admin.fetchval("SELECT source_episode_id IS NULL FROM facts")
    assert await admin.fetchval("SELECT source_episode_id IS NULL FROM rules")


@pytest.mark.anyio
@pytest.mark.requirement("FACT-13", "ENTT-10")
async def test_an_entity_with_facts_cannot_be_deleted(admin: Connection) -> None:
    await admin.execute(
        "WITH e AS (INSERT INTO entities (canonical_name, entity_type)"
        " VALUES ('Ann', 'person') RETURNING id)"
        " INSERT INTO facts (subject, predicate, content, entity_id)"
        " SELECT 's', 'p', 'c', id FROM e"
    )
    with pytest.raises(asyncpg.IntegrityConstraintViolationError):
        await admin.execute("DELETE FROM entities")


@pytest.mark.anyio
@pytest.mark.requirement("LINK-02", "LINK-05")
async def test_a_second_link_of_a_pair_is_rejected_whatever_its_relation(admin: Connection) -> None:
    insert = (
        "INSERT INTO memory_links (source_type, source_id, target_type, target_id, relation)"
        " VALUES ('fact', '00000000-0000-0000-0000-000000000001',"
        " 'rule', '00000000-0000-0000-0000-000000000002', $1)"
    )
    await admin.execute(insert, "supports")
    with pytest.raises(asyncpg.UniqueViolationError):
        await admin.execute(insert, "contradicts")


@pytest.mark.requirement("MIG-01", "MIG-02")
def test_the_revisions_are_one_chain_and_only_the_first_has_the_label() -> None:
    scripts = list(ScriptDirectory.from_config(alembic_config()).walk_revisions())
    chain = [script.revision for script in reversed(scripts)]
    assert chain[:3] == ["mem_001", "mem_002", "mem_003"]
    assert [script.down_revision for script in reversed(scripts)] == [None, *chain[:-1]]
    declared = {script.revision: script.module.branch_labels for script in scripts}
    assert declared == {chain[0]: ("memory",), **dict.fromkeys(chain[1:])}
    assert (chain[3], chain[-1]) == (schema.OLDEST, schema.HEAD)
    # From the oldest that upgrades on, each has the next number: their names say their order.
    assert chain[3:] == [f"mem_{30 + at:03}" for at in range(len(chain) - 3)]


@pytest.mark.requirement("MIG-02", "MIG-03")
def test_the_blocks_of_the_schema_have_the_names_of_the_documents() -> None:
    assert list(Queries("schema", (_MIGRATIONS / "schema.sql").read_text()))[:7] == [
        "001_create_episodes",
        "002_create_facts",
        "003_create_rules",
        "004_create_memory_links",
        "005_add_search_vectors",
        "mem_002_entities",
        "mem_003_memory_events",
    ]


def test_a_change_of_the_schema_comes_with_a_step() -> None:
    made = [(_MIGRATIONS / name).read_text() for name in ("schema.sql", "history_views.sql")]
    made += texts().values()
    said = re.sub(r"--.*|\s+", " ", "\n".join(made))
    assert hashlib.sha256(re.sub(" +", " ", said).encode()).hexdigest()[:16] == _MADE.get(
        schema.HEAD
    ), (
        "schema.sql, history_views.sql or a function has changed: add a numbered step, if only an "
        "empty one, so that databases get it, and then its digest to _MADE"
    )


@pytest.mark.anyio
@pytest.mark.requirement("MIG-01", "MIG-05")
async def test_the_schema_can_be_taken_away_and_made_again(empty_database: Database) -> None:
    dsn, roles = empty_database.admin_dsn, empty_database.roles
    await schema.prepare(dsn)
    made = await _read_catalog(dsn)
    await migrate(dsn, roles, "base")
    connection = await asyncpg.connect(dsn)
    left = await connection.fetch(
        """
        SELECT relname FROM pg_class WHERE relowner = to_regrole($1) AND relkind <> 'i'
        UNION ALL SELECT proname FROM pg_proc WHERE proowner = to_regrole($1)
        UNION ALL SELECT typname FROM pg_type WHERE typowner = to_regrole($1)
            AND typname NOT LIKE '%alembic_version'
        """,
        roles.owner,
    )
    await connection.close()
    assert [row[0] for row in left] == ["alembic_version"]
    await migrate(dsn, roles)
    assert await _read_catalog(dsn) == made


@pytest.mark.anyio
@pytest.mark.requirement("MIG-05")
async def test_four_processes_may_prepare_an_empty_database_at_once(
    empty_database: Database,
) -> None:
    dsn = empty_database.admin_dsn
    made = await asyncio.gather(*(schema.prepare(dsn) for _ in range(4)))
    passwords = [dsn for dsn in made if f"{empty_database.roles.runtime}:" in dsn]
    assert len(passwords) == 1
    pool = await open_pool(passwords[0])
    await schema.refuse_stale(pool)
    await pool.close()


@pytest.mark.anyio
async def test_a_database_is_made_once_even_by_four_at_once(server: Any) -> None:
    name = "memory_scratch_four"
    await asyncio.gather(*(schema.ensure_database(server.dsn("postgres"), name) for _ in range(4)))
    connection = await asyncpg.connect(server.dsn("postgres"))
    await connection.execute(f"DROP DATABASE {name}")
    await connection.close()


@pytest.mark.anyio
@pytest.mark.requirement("FAIL-02")
async def test_a_stale_or_missing_schema_is_refused(empty_database: Database) -> None:
    dsn = empty_database.admin_dsn
    async with asyncpg.create_pool(dsn, min_size=1, max_size=2) as pool:
        with pytest.raises(ConfigurationError, match="has no schema yet"):
            await schema.refuse_stale(pool)
        await schema.prepare(dsn)
        await schema.refuse_stale(pool)
        await pool.execute("UPDATE alembic_version SET version_num = $1", schema.OLDEST)
        with pytest.raises(ConfigurationError, match=f"this version needs {schema.HEAD}"):
            await schema.refuse_stale(pool)
        await pool.execute("UPDATE alembic_version SET version_num = 'mem_999'")
        with capture_logs() as logs:
            await schema.refuse_stale(pool)  # a newer schema is accepted
        assert [(one["log_level"], one["revision"]) for one in logs] == [("warning", "mem_999")]


@pytest.mark.anyio
async def test_a_login_without_the_rights_is_told_what_it_lacks(database: Database) -> None:
    with pytest.raises(ConfigurationError, match="may not prepare the database"):
        await schema.prepare(database.runtime_dsn)


@pytest.mark.anyio
async def test_a_server_that_is_away_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(Unavailable):
        await schema.prepare(f"postgresql://nobody@/none?host={tmp_path}")


@pytest.mark.anyio
async def test_a_given_password_is_the_runtime_login(empty_database: Database) -> None:
    dsn = await schema.prepare(empty_database.admin_dsn, runtime_password="p@ss: word/?")
    pool = await open_pool(dsn)
    assert await pool.fetchval("SELECT current_user") == empty_database.roles.runtime
    await pool.close()


@pytest.mark.requirement("MIG-02")
def test_the_package_ships_every_text_that_it_runs() -> None:
    store = files("memory_butler.store")
    versions = store / "migrations" / "versions" / "memory"
    shipped = {entry.name for entry in versions.iterdir()}
    assert {"mem_001_baseline.py", "mem_002_entities.py", "mem_003_memory_events.py"} <= shipped
    assert (store / "search.sql").is_file()
    root = Path(__file__).parents[2]
    target = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    assert target["targets"]["wheel"]["packages"] == ["src/memory_butler"]
    assert "exclude" not in target
    assert "exclude" not in target["targets"]["wheel"]
