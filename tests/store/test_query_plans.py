"""The hot searches use their indexes, as the role that runs them. Plans, never timings."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import numpy as np
import pytest

from conftest import NOW, Connection, Database, Template, cloned, stocked
from memory_butler.store import entities, episodes, facts, rules
from memory_butler.store.queries import Queries
from memory_butler.store.search import SQL as SEARCHES

pytestmark = pytest.mark.anyio

ROWS = 3_000

FILL = """
INSERT INTO facts (tenant_id, id, subject, predicate, content, embedding, search_vector)
SELECT 'default', md5(n::text)::uuid, 's' || n, 'p', 'note ' || n, e::vector,
       to_tsvector('english', 'note word' || n || repeat(' twofold', (n % 2 = 0)::int)
                                               || repeat(' threefold', (n % 3 = 0)::int))
FROM unnest($1::text[]) WITH ORDINALITY AS t (e, n)
"""
# The arms by themselves.
WORDED = "SELECT * FROM worded_facts('default', $1, NULL, 0.2, $2, 10)"
NEAREST = "SELECT * FROM nearest_facts('default', $1, NULL, 0.2, $2, 10)"


def unit_vectors(count: int, *, seed: int) -> Any:
    """Random directions, of shape (count, 384)."""
    vectors = np.random.default_rng(seed).standard_normal((count, 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


async def _fill(admin: Connection) -> None:
    """Three thousand facts with random unit vectors, and the statistics of them."""
    vectors = unit_vectors(ROWS, seed=1)
    await admin.execute(FILL, [str(row.round(4).tolist()) for row in vectors])
    await admin.execute("ANALYZE facts")


@pytest.fixture(scope="module")
def filled(template: Template) -> Iterator[str]:
    with stocked(template, _fill) as name:
        yield name


@pytest.fixture
async def database(template: Template, filled: str) -> AsyncIterator[Database]:
    """A test's own database, with the facts in it."""
    async with cloned(template, filled) as database:
        yield database


def _vector() -> Any:
    return unit_vectors(1, seed=2)[0]


async def plans_inside(
    connection: Connection,
    search: str,
    *arguments: object,
    role: str = "",
    tenant: str = "default",
    table: str = "facts",
) -> str:
    """The plans of the statements inside a function; a plain EXPLAIN shows a Function Scan only."""
    notices: list[str] = []
    connection.add_log_listener(lambda _, message: notices.append(str(message)))
    await connection.execute(
        "LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0;"
        "SET auto_explain.log_nested_statements = on; SET auto_explain.log_level = notice;"
        f"SET butler.tenant_id = '{tenant}'"
    )
    if role:
        await connection.execute(f"SET SESSION AUTHORIZATION {role}")
    await connection.fetch(search, *arguments)
    return "\n".join(notice for notice in notices if f" on {table} " in notice)


@pytest.mark.requirement("FACT-30", "FACT-25", "GEN-11")
async def test_a_similarity_query_uses_the_ivfflat_index(admin: Connection) -> None:
    rows = await admin.fetch(
        "EXPLAIN SELECT id FROM facts ORDER BY embedding <=> $1 LIMIT 10", _vector()
    )
    assert "Index Scan using idx_facts_embedding" in "\n".join(row[0] for row in rows)


@pytest.mark.requirement("FACT-26")
@pytest.mark.parametrize("as_runtime", [False, True])
async def test_words_are_found_by_a_text_index(
    admin: Connection, database: Database, as_runtime: bool
) -> None:
    # Under a row policy the text match would be no index condition: the function runs as the owner.
    role = database.roles.runtime if as_runtime else ""
    plan = await plans_inside(admin, WORDED, "word17 word23", NOW, role=role)
    assert "Bitmap Index Scan on idx_facts_search" in plan
    assert "Seq Scan on facts" not in plan


async def test_a_common_word_finds_nothing_by_itself_where_a_rare_one_does(
    admin: Connection,
) -> None:
    # Every text has "note": 3,000 are more than are read for it.
    await admin.execute("SET butler.tenant_id = 'default'")
    few = "SELECT * FROM worded_facts('default', $1, NULL, 0.2, $2, 2)"
    found = await admin.fetch(few, "note word17 word23", NOW)
    assert len(found) == 2
    alone = await admin.fetch(WORDED, "note", NOW)
    assert len(alone) == 10
    read_all = await admin.fetch(
        "SELECT * FROM worded_facts('default', $1, NULL, 0.2, $2, 10, 1000000)",
        "note word17 word23",
        NOW,
    )
    assert len(read_all) == 10
    assert {row["id"] for row in read_all[:2]} == {row["id"] for row in found}


async def test_a_search_that_has_enough_looks_no_further_for_a_common_word(
    admin: Connection,
) -> None:
    await admin.execute("SET butler.tenant_id = 'default'")
    search = "SELECT * FROM worded_facts('default', 'note word17', NULL, 0.2, $1, 500, 500, $2)"
    rare = await admin.fetch(search, NOW, 1)
    assert 0 < len(rare) < 500
    assert all(row["matches_all"] for row in rare)
    assert len(await admin.fetch(search, NOW, None)) == 500


async def test_of_words_that_are_all_common_two_lead_together(admin: Connection) -> None:
    # 500 texts have both of the words, 1,500 one of them.
    await admin.execute("SET butler.tenant_id = 'default'")
    read_all = "SELECT * FROM worded_facts('default', $1, NULL, 0.2, $2, 10, 1000000)"
    every = {row["id"] for row in await admin.fetch(read_all, "twofold threefold", NOW)}
    found = await admin.fetch(WORDED, "twofold threefold", NOW)
    assert {row["id"] for row in found} == every
    assert all(row["matches_all"] for row in found)
    plan = await plans_inside(admin, WORDED, "twofold threefold", NOW)
    assert "threefold'' & ''tw" in plan.partition("Bitmap Index Scan on idx_facts_search")[2]
    # One too common, one in no memory: the common one is all that is left.
    assert len(await admin.fetch(WORDED, "note zebra", NOW)) == 10


@pytest.mark.parametrize("question", ["note zebra", "note zebra word17"])
async def test_rare_words_that_find_too_little_let_the_next_one_lead(
    admin: Connection, question: str
) -> None:
    await admin.execute("SET butler.tenant_id = 'default'")
    assert len(await admin.fetch(WORDED, question, NOW)) == 10


async def test_where_more_match_than_are_read_none_is_missing_that_has_every_word(
    admin: Connection,
) -> None:
    """Of 500 texts with the two words that lead, 80 are read, and the last 17 have the third."""
    await admin.execute("SET butler.tenant_id = 'default'")
    await admin.execute(
        "UPDATE facts SET search_vector = search_vector || to_tsvector('english', 'belated')"
        " WHERE subject ~ '[13579]$' OR substr(subject, 2)::integer > 2900"
    )
    few = "SELECT * FROM worded_facts('default', $1, NULL, 0.2, $2, 10, 20)"
    found = await admin.fetch(few, "twofold threefold belated", NOW)
    assert len(found) == 10
    assert all(row["matches_all"] for row in found)


async def test_the_words_are_looked_up_once(admin: Connection) -> None:
    """Counting what leads and reading it are one: the index holds all tenants."""
    plan = await plans_inside(admin, WORDED, "twofold threefold", NOW)
    assert plan.count("Bitmap Index Scan on idx_facts_search") == 1


@pytest.mark.parametrize(("most", "leads"), [(12, True), (4, False)])
async def test_the_fewer_are_read_the_larger_is_the_sample(
    admin: Connection, most: int, leads: bool
) -> None:
    """A word of sixty memories, none of them among the first 256, seems to be in none at all."""
    await admin.execute("SET butler.tenant_id = 'default'")
    await admin.execute(
        "UPDATE facts SET search_vector = search_vector || 'seldom'::tsvector WHERE id IN ("
        " SELECT id FROM facts WHERE id > '20000000-0000-0000-0000-000000000000'"
        " ORDER BY id LIMIT 60)"
    )
    few = "SELECT * FROM worded_facts('default', $1, NULL, 0.2, $2, 1, $3)"
    plan = await plans_inside(admin, few, "seldom word17", NOW, most)
    condition = plan.partition("Bitmap Index Scan on idx_facts_search")[2]
    assert "'word17'" in condition
    assert ("'seldom'" in condition) is leads


@pytest.mark.requirement("SRCH-02", "GEN-11")
async def test_without_an_approximate_index_the_nearest_are_exact(admin: Connection) -> None:
    vector = _vector()
    exact = await admin.fetch(
        "SELECT id FROM facts ORDER BY (embedding <=> $1) + 0, id LIMIT 10", vector
    )
    await admin.execute("SET butler.tenant_id = 'default'")
    found = await admin.fetch(NEAREST, vector, NOW)
    assert [row["id"] for row in found] == [row["id"] for row in exact]


async def test_what_matters_most_is_found_by_its_index(
    admin: Connection, database: Database
) -> None:
    await admin.execute("UPDATE facts SET importance = 9 WHERE subject ~ '00$'; ANALYZE facts")
    await admin.execute("SET butler.tenant_id = 'default'")
    await admin.execute(f"SET SESSION AUTHORIZATION {database.roles.runtime}")
    arguments = ("default", _vector(), None, 0.2, NOW, None, 10, None, None)
    query = SEARCHES["weightiest_facts"]
    rows = await admin.fetch(f"EXPLAIN {query}", *arguments)
    plan = "\n".join(row[0] for row in rows)
    assert "Index Scan using idx_facts_importance" in plan
    assert plan.count("Sort Key") == 1  # by nearness: the index has the order of importance


async def _plan_of_list(
    connection: Connection, database: Database, query: str, *rest: Any, subject: str | None = None
) -> str:
    """The plan that the server gets: the runtime role, and each call planned for its criteria."""
    # Only what is on disk counts as visible to all, and the tests' server is in no hurry to write.
    await connection.execute("SET synchronous_commit = on; ANALYZE facts")
    await connection.execute("VACUUM facts")
    await connection.execute("SET plan_cache_mode = force_custom_plan")
    await connection.execute("SET butler.tenant_id = 'default'")
    await connection.execute(f"SET SESSION AUTHORIZATION {database.roles.runtime}")
    who = (None, None, subject, None)
    criteria = ("default", *who, *[None] * 3, ("active",), False, None, NOW, *[None] * 6)
    plan = await connection.fetch("EXPLAIN " + query, *criteria, *rest)
    return "\n".join(row[0] for row in plan)


async def test_a_total_is_counted_in_the_narrow_index(
    admin: Connection, database: Database
) -> None:
    plan = await _plan_of_list(admin, database, facts.SQL["count"], None)
    assert "Index Only Scan using idx_facts_counted" in plan


async def test_a_subject_is_found_by_an_index_however_it_is_written(
    admin: Connection, database: Database
) -> None:
    plan = await _plan_of_list(admin, database, facts.SQL["count"], None, subject=" S7 ")
    assert "idx_facts_subject_key" in plan
    assert "Seq Scan" not in plan


async def test_facts_about_each_entity_are_counted_once_each_without_statistics(
    admin: Connection, database: Database
) -> None:
    """Of tables that were filled a moment ago the planner knows nothing; it then counted all facts
    anew for each entity."""
    await admin.execute(
        "INSERT INTO entities (canonical_name, entity_type)"
        " SELECT 'Person ' || n, 'person' FROM generate_series(1, 3000) n"
    )
    await admin.execute("SET butler.tenant_id = 'default'")
    await admin.execute(f"SET SESSION AUTHORIZATION {database.roles.runtime}")
    query = "EXPLAIN " + entities.SQL["for_map"]
    plan = "\n".join(row[0] for row in await admin.fetch(query, "default", 10_000))
    assert "(entity_id = entities.id)" in plan
    assert "Nested Loop" not in plan


async def test_whom_a_new_fact_is_about_is_found_by_indexes(
    admin: Connection, database: Database
) -> None:
    await admin.execute(
        "INSERT INTO entities (canonical_name, entity_type, aliases)"
        " SELECT 'Person ' || n, 'person',"
        " CASE WHEN n = 7 THEN ARRAY['The  Seventh'] ELSE '{}' END FROM generate_series(1, 3000) n;"
        "ANALYZE entities"
    )
    await admin.execute("SET butler.tenant_id = 'default'")
    await admin.execute(f"SET SESSION AUTHORIZATION {database.roles.runtime}")
    for name in ("person  8", "the seventh"):
        query = "EXPLAIN " + entities.SQL["exactly_named"]
        plan = "\n".join(row[0] for row in await admin.fetch(query, "default", name))
        assert "idx_entities_name_key" in plan
        assert "idx_entities_with_aliases" in plan
        assert "Seq Scan" not in plan
        assert "Nested Loop" not in plan  # once, not for each entity: each may have aliases


@pytest.mark.parametrize(
    ("order", "index"),
    [
        ("created", "idx_facts_listed"),
        ("importance", "idx_facts_importance"),
        ("confirmed", "idx_facts_confirmed"),
    ],
)
async def test_a_page_is_read_in_the_order_of_an_index(
    admin: Connection, database: Database, order: str, index: str
) -> None:
    plan = await _plan_of_list(admin, database, facts.SQL["page"], order, True, 50, 0)
    assert f"using {index} on" in plan
    assert "Seq Scan" not in plan


@pytest.mark.parametrize(("queries", "table"), [(rules.SQL, "rules"), (episodes.SQL, "episodes")])
async def test_words_in_a_list_use_the_text_index(
    admin: Connection, database: Database, queries: Queries, table: str
) -> None:
    more = "butler, expires_at" if table == "episodes" else "scope, decay_rate"
    values = "'home', now()" if table == "episodes" else "'global', 0.01"
    await admin.execute(
        f"INSERT INTO {table} (tenant_id, content, search_vector, {more})"
        f" SELECT 'default', repeat('note ', 99), to_tsvector('english', 'word' || n), {values}"
        f" FROM generate_series(1, {ROWS}) n"
    )
    await admin.execute(f"ANALYZE {table}")
    role = database.roles.runtime
    wanted = "default", "word17", 10
    plan = await plans_inside(admin, queries["with_terms"], *wanted, role=role, table=table)
    assert f"Bitmap Index Scan on idx_{table}_search" in plan


async def test_the_most_referenced_and_the_surest_are_found_by_an_index(
    admin: Connection, database: Database
) -> None:
    await admin.execute("UPDATE facts SET reference_count = 9 WHERE subject = 's7'; ANALYZE facts")
    most = await plans_inside(admin, "SELECT facts_referenced('default', 9, NULL, 50)")
    assert "Bitmap Index Scan on idx_facts_references" in most
    plan = await _plan_of_list(admin, database, facts.SQL["surest"], 50)
    assert "using idx_facts_lasting" in plan
    assert "Seq Scan" not in plan


async def test_a_bump_stays_on_its_page(admin: Connection) -> None:
    """An index of blocks (BRIN) is no obstacle to HOT; a page has room for one version more."""
    one_a_page = "SELECT DISTINCT ON ((ctid::text::point)[0]) id FROM facts LIMIT 20"
    ids = [row["id"] for row in await admin.fetch(one_a_page)]
    async with admin.transaction():
        assert len(await admin.fetch(facts.SQL["bump"], "default", ids, NOW)) == 20
        stayed = await admin.fetchval(
            "SELECT pg_stat_get_xact_tuples_hot_updated('facts'::regclass)"
        )
    assert stayed == 20


async def test_no_index_but_one_of_blocks_has_what_reading_changes(admin: Connection) -> None:
    """A bump rewrites no index entry, so that it can stay on its page (HOT)."""
    columns = await admin.fetch(
        "SELECT indrelid::regclass::text AS table, pg_get_indexdef(indexrelid) AS index"
        " FROM pg_index WHERE indrelid = ANY ('{facts, rules, episodes}'::regclass[])"
    )
    assert len(columns) > 20
    for one in columns:
        if " USING brin " not in one["index"]:
            assert "reference_count" not in one["index"]
            assert "last_referenced_at" not in one["index"]
