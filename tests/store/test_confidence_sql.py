"""Effective confidence is computed twice, in Python and in SQL: the same cases through both."""

import math
from datetime import datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import NOW, Connection
from memory_butler.domain.confidence import effective_confidence

Case = tuple[float, float, datetime | None]

# Below these a product may underflow, an error in PostgreSQL; no policy comes near.
confidences = st.just(0.0) | st.floats(1e-9, 1.0)
rates = (
    st.sampled_from([0.0, 0.002, 0.008, 0.01, 0.03, 0.1, 1e308])
    | st.floats(1e-9, 1.0)
    | st.floats(1.0, 1e308)
)
confirmations = st.none() | st.timedeltas(timedelta(days=-3_650), timedelta(days=700_000)).map(
    lambda age: NOW - age
)
cases = st.lists(st.tuples(confidences, rates, confirmations), min_size=1, max_size=300)

BATCH = """
SELECT effective_confidence(confidence, decay_rate, confirmed, $4)
FROM unnest($1::float8[], $2::float8[], $3::timestamptz[])
    WITH ORDINALITY AS c (confidence, decay_rate, confirmed, n) ORDER BY n
"""


@pytest.mark.anyio
@pytest.mark.requirement("DEC-01", "DEC-02", "DEC-03")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cases=cases)
async def test_sql_and_python_agree(sql: Connection, cases: list[Case]) -> None:
    columns = [list(column) for column in zip(*cases, strict=True)]
    found = [row[0] for row in await sql.fetch(BATCH, *columns, NOW)]
    for case, in_sql in zip(cases, found, strict=True):
        assert math.isclose(
            in_sql, effective_confidence(*case, NOW), rel_tol=1e-9, abs_tol=1e-250
        ), case
