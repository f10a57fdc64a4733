"""What Citus demands of each table, key, constraint and query, and the statements of `distribute`.

These hold the schema and the queries against its rules, where no Citus is at hand too;
tests/cluster holds them against Citus itself.
"""

import re
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest

from cli.installation import Installation
from conftest import Connection, Template
from memory_butler.domain.errors import ConfigurationError
from memory_butler.store import distribution, schema
from memory_butler.store.queries import load
from store.tenant_tables import GLOBAL_TABLES, TENANT_TABLES

pytestmark = pytest.mark.anyio

_NOUNS = sorted(
    file.name.removesuffix(".sql")
    for file in files("memory_butler.store").iterdir()
    if file.name.endswith(".sql")
)
_QUERIES = {(noun, name): sql for noun in _NOUNS for name, sql in load(noun).items()}

_FUNCTION = "calls a function, whose body is held to the rule below"
_LOCAL = "about a table of the coordinator or of every machine: models, jobs, tokens"
_LOCK = "takes a lock of the coordinator, and reads no table"
_CATALOG = "asks the server about itself"
# Queries that name no tenant, each with the reason why it need not.
WITHOUT_TENANT = {
    **dict.fromkeys(
        [
            ("episodes", "with_terms"), ("facts", "with_terms"), ("facts", "with_tag"),
            ("rules", "with_terms"), ("erasure", "erase_memories"), ("erasure", "erase_tenant"),
            ("erasure", "erase_tenant_tokens"),
            ("undo", "remove_made"), ("undo", "remove_made_entities"),
            *((noun, name) for noun in ("history", "search") for name in load(noun)),
            *(("tokens", name) for name in load("tokens")), ("prefixes", "token"),
            ("jobs", "tenants_with_work"),
            *(("moves", name) for name in load("moves") if not name.endswith("_turn")),
            ("seals", "tenants_to_seal"), ("reembedding", "tenants"),
            ("reembedding", "tenants_unembedded"),
        ],
        _FUNCTION,
    ),
    **dict.fromkeys(
        [
            *(("embeddings", name) for name in load("embeddings")),
            *(("jobs", name) for name in load("jobs") if name != "tenants_with_work"),
            ("transfer", "models"), ("transfer", "know_model"), ("transfer", "model"),
        ],
        _LOCAL,
    ),
    **dict.fromkeys(
        [
            ("facts", "lock_key"), ("facts", "try_lock_key"), ("items", "take_turns"),
            ("consolidation", "take_turns"),
            ("reembedding", "try_turn"), ("reembedding", "end_turn"), ("seals", "turn"),
            ("moves", "try_turn"), ("moves", "end_turn"),
        ],
        _LOCK,
    ),
    **dict.fromkeys(
        [
            *(("replica", name) for name in load("replica")),
            *(("distribution", name) for name in load("distribution")),
            ("transfer", "tables"),
        ],
        _CATALOG,
    ),
}  # fmt: skip
TENANTS_QUERIES = sorted(query for query in _QUERIES if query not in WITHOUT_TENANT)
# Functions that read every tenant's rows, for the operator's jobs: from all machines, then.
OF_ALL_TENANTS = {
    "tenants_with_work",
    "tenants_to_embed",
    "tenants_to_reembed",
    "tenants_to_seal",
}
_OURS = re.compile(rf"\b(?:{'|'.join(TENANT_TABLES)})\b")


async def test_the_schema_breaks_no_rule(admin: Connection) -> None:
    found = await distribution.catalog(admin)
    assert found.obstacles() == []
    assert set(found.of_tenants) == set(TENANT_TABLES)
    assert set(found.tables) - set(found.of_tenants) == GLOBAL_TABLES
    assert found.references == ["embedding_versions"]


DAMAGES = {
    "served: u is without tenant_id": "CREATE UNIQUE INDEX u ON served (session_id)",
    "rules: k leads to rules without tenant_id": (
        "ALTER TABLE rules ADD UNIQUE (id); ALTER TABLE rules ADD CONSTRAINT k"
        " FOREIGN KEY (id) REFERENCES rules (id)"
    ),
    "tenants: k leads from a table of all machines to one of tenants": (
        "ALTER TABLE tenants ADD COLUMN rule uuid;"
        "ALTER TABLE tenants ADD CONSTRAINT k FOREIGN KEY (id, rule) REFERENCES rules"
    ),
    "facts: has the trigger t": (
        "CREATE TRIGGER t BEFORE UPDATE ON facts FOR EACH ROW"
        " EXECUTE FUNCTION suppress_redundant_updates_trigger()"
    ),
}


@pytest.mark.parametrize("told", DAMAGES)
async def test_each_broken_rule_is_told(admin: Connection, told: str) -> None:
    await admin.execute(DAMAGES[told])
    assert told in (await distribution.catalog(admin)).obstacles()
    with pytest.raises(ConfigurationError, match=told):
        await distribution.planned(admin)


async def test_foreign_keys_that_set_null_are_dropped_and_no_others(admin: Connection) -> None:
    """Citus takes none on a tenant's column, even where other columns alone are set."""
    found = await distribution.catalog(admin)
    assert {one.name for one in found.setting} == {
        "facts_source_episode_fkey",
        "facts_supersedes_fkey",
        "rules_source_episode_fkey",
    }


async def test_what_is_distributed_is_left_alone(admin: Connection) -> None:
    found = await distribution.catalog(admin)
    names = [one.signature for one in found.functions]
    names += [one[0] for one in (*found.types, *found.views)]
    everything = frozenset([*TENANT_TABLES, "embedding_versions", *names, *found.extensions])
    # As `distribute` leaves them.
    nesting = ["citus.allow_nested_distributed_execution=on"]
    found = replace(found, functions=[replace(one, settings=nesting) for one in found.functions])
    roles = schema.Roles.of("d")
    assert distribution.statements(found, everything, roles, "d") == []
    left = distribution.statements(found, everything - {"items"}, roles, "d")
    tables = [line for line in left if "_table(" in line]
    assert tables == [
        "SELECT create_distributed_table('public.items', 'tenant_id', colocate_with => "
        f"'public.{found.in_order()[0]}')"
    ]
    # What machines lack that were added later: rights, which no list of Citus has.
    again = distribution.statements(found, everything, roles, "d", lacking=True)
    assert [line for line in again if "_table(" in line or "create_distributed" in line] == []
    assert any("GRANT EXECUTE ON FUNCTION worded_facts" in line for line in again)
    assert any("REVOKE ALL ON FUNCTION worded_facts" in line for line in again)


async def test_every_function_has_a_machine(admin: Connection) -> None:
    """Each runs where the rows of its tenant are, or anywhere, or is known to stay."""
    found = await distribution.catalog(admin)
    everywhere = {one.name for one in found.functions if not one.of_tenant}
    assert not everywhere & distribution.STAYING
    assert {one.name for one in found.functions if one.of_owner and not one.of_tenant} == set()
    assert {one.name for one in found.functions} >= distribution.NESTED


@pytest.mark.parametrize("query", _QUERIES, ids=".".join)
def test_every_query_names_the_tenant(query: tuple[str, str]) -> None:
    names = re.search(r"\btenant_id\b", _QUERIES[query]) is not None
    assert names or query in WITHOUT_TENANT, "name the tenant, or say why it need not be"
    if WITHOUT_TENANT.get(query) == _LOCAL:
        assert not _OURS.search(re.sub(r"--.*", "", _QUERIES[query]))


async def test_every_function_that_reads_a_tenants_rows_names_the_tenant(
    admin: Connection,
) -> None:
    functions = await admin.fetch(
        "SELECT DISTINCT proname AS name, prosrc AS body FROM pg_proc"
        " WHERE pronamespace IN ('public'::regnamespace, 'memory_history'::regnamespace)"
        " AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_proc.oid AND deptype = 'e')"
    )
    reading = {row["name"] for row in functions if _OURS.search(row["body"])}
    naming = {row["name"] for row in functions if "butler.tenant_id" in row["body"]}
    assert reading - naming == OF_ALL_TENANTS


def test_without_citus_nothing_is_changed(template: Template, tmp_path: Path) -> None:
    place = Installation(tmp_path)
    words = ("distribute", "--admin-dsn", template.endpoint.dsn("memory_template"))
    refused = place.inside(*words, code=8)
    assert "has no Citus" in refused.err
    assert "CREATE EXTENSION citus" in refused.err
    shown = place.inside(*words, "--dry-run").out
    assert shown.startswith("BEGIN;\n")
    assert shown.endswith("COMMIT;\n")
    assert "SELECT create_reference_table('public.embedding_versions');" in shown
