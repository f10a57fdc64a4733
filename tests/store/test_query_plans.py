"""The hot searches use their indexes, as the role that runs them. Plans, never timings."""

from typing import Any

import numpy as np
import pytest

from conftest import NOW, Connection, Database

pytestmark = pytest.mark.anyio

ROWS = 3_000

FILL = """
INSERT INTO facts (tenant_id, subject, predicate, content, embedding, search_vector)
SELECT 'default', 's' || n, 'p', 'note ' || n, e::vector, to_tsvector('english', 'note word' || n)
FROM unnest($1::text[]) WITH ORDINALITY AS t (e, n)
"""
SEARCH = "SELECT * FROM find_facts($1, $2, NULL, 0.2, $3, 10)"


@pytest.fixture
async def filled(admin: Connection) -> None:
    """Three thousand facts with random unit vectors, and the statistics of them."""
    vectors = np.random.default_rng(1).standard_normal((ROWS, 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    await admin.execute(FILL, [str(row.round(4).tolist()) for row in vectors])
    await admin.execute("ANALYZE facts")


def _vector() -> Any:
    return np.random.default_rng(2).standard_normal(384).astype(np.float32)


async def _plan_inside(
    connection: Connection, question: str, *, vector: bool, role: str = ""
) -> str:
    """The plan of the statement inside the function; a plain EXPLAIN shows a Function Scan only."""
    notices: list[str] = []
    connection.add_log_listener(lambda _, message: notices.append(str(message)))
    await connection.execute(
        "LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0;"
        "SET auto_explain.log_nested_statements = on; SET auto_explain.log_level = notice;"
        "SET butler.tenant_id = 'default'"
    )
    if role:
        await connection.execute(f"SET SESSION AUTHORIZATION {role}")
    await connection.fetch(SEARCH, _vector() if vector else None, question, NOW)
    (plan,) = [notice for notice in notices if "WITH nearest" in notice]
    return plan


@pytest.mark.usefixtures("filled")
@pytest.mark.requirement("FACT-30", "FACT-25", "GEN-11")
async def test_a_similarity_query_uses_the_ivfflat_index(admin: Connection) -> None:
    rows = await admin.fetch(
        "EXPLAIN SELECT id FROM facts ORDER BY embedding <=> $1 LIMIT 10", _vector()
    )
    assert "Index Scan using idx_facts_embedding" in "\n".join(row[0] for row in rows)


@pytest.mark.usefixtures("filled")
@pytest.mark.requirement("FACT-26", "SRCH-04")
async def test_the_keyword_arm_uses_a_text_index(admin: Connection) -> None:
    plan = await _plan_inside(admin, "word17 word23", vector=False)
    assert "Bitmap Index Scan on idx_facts_search" in plan
    assert "Seq Scan on facts" not in plan


@pytest.mark.usefixtures("filled")
async def test_the_runtime_role_gets_the_same_plan_through_the_function(
    admin: Connection, database: Database
) -> None:
    # Under a row policy the text match would be no index condition: the function runs as the owner.
    plan = await _plan_inside(admin, "word17 word23", vector=False, role=database.roles.runtime)
    assert "Bitmap Index Scan on idx_facts_search" in plan
    assert "Seq Scan on facts" not in plan


@pytest.mark.usefixtures("filled")
@pytest.mark.requirement("SRCH-02", "GEN-11")
async def test_the_semantic_arm_is_exact(admin: Connection) -> None:
    vector = _vector()
    exact = await admin.fetch(
        "SELECT id FROM facts ORDER BY (embedding <=> $1) + 0, id LIMIT 10", vector
    )
    await admin.execute("SET butler.tenant_id = 'default'")
    found = await admin.fetch(SEARCH, vector, "", NOW)
    assert [row["id"] for row in found] == [row["id"] for row in exact]
