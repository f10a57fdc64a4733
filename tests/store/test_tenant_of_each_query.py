"""Every query of `store/` reads one tenant's rows by its own words, not only by row-level security.

PostgreSQL's plan of each is read as for a login that no policy holds: each read of a tenant's table
must be limited to a tenant. The policies are the other wall, and have tests of their own.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import pytest

from conftest import Connection
from memory_butler.store.queries import load

from .tenant_tables import TENANT_TABLES
from .test_queries import NOUNS

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("TEN-01")]

_ASKED: Final = r"(?:\$\d|\(?current_setting\('butler\.tenant_id')"
PREDICATE: Final = re.compile(
    r"(?:\w+\.)?\btenant_id = (\$\d(?:::text)?|current_setting\('butler.tenant_id', true\))"
)
_LIMITED: Final = re.compile(rf"\btenant_id = (?:{_ASKED}|\w+\.tenant_id)")
_CONDITIONS: Final = ("Index Cond", "Recheck Cond", "Filter")
# EXPLAIN leaves out what a recursive step selects in its list of columns: the next decay rate.
# test_decay_rates_of_another_tenant_are_not_counted sees to it.
UNSEEN: Final = {"decay_rate > rates.rate"}


async def unlimited(planning: Connection, sql: str) -> list[str]:
    """The tenants' tables of which a statement reads rows of whichever tenant."""
    inputs = ", ".join("NULL" for _ in (await planning.prepare(sql)).get_parameters())
    await planning.execute(f"PREPARE asked AS {sql}")
    call = f"EXPLAIN (FORMAT JSON) EXECUTE asked{f'({inputs})' if inputs else ''}"
    plan = await planning.fetchval(call)
    await planning.execute("DEALLOCATE asked")
    return [
        node["Relation Name"]
        for node in _nodes(plan[0]["Plan"])
        if node.get("Relation Name") in TENANT_TABLES
        and node["Node Type"] != "ModifyTable"
        and not _LIMITED.search(" ".join(str(node.get(one, "")) for one in _CONDITIONS))
    ]


def _nodes(node: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield node
    for part in node.get("Plans", ()):
        yield from _nodes(part)


@pytest.fixture
async def planning(admin: Connection) -> Connection:
    """Plans for any input, in which the tenant is still to be seen."""
    await admin.execute("SET plan_cache_mode = force_generic_plan; SET jit = off")
    return admin


@pytest.mark.parametrize("noun", NOUNS)
async def test_each_query_reads_the_rows_of_one_tenant(planning: Connection, noun: str) -> None:
    read = {name: await unlimited(planning, sql) for name, sql in load(noun).items()}
    assert {name: tables for name, tables in read.items() if tables} == {}


@pytest.mark.parametrize("noun", NOUNS)
async def test_each_predicate_on_the_tenant_would_be_missed(
    planning: Connection, noun: str
) -> None:
    for name, sql in load(noun).items():
        for found in PREDICATE.finditer(sql):
            without = f"{sql[: found.start()]}{found[1]}::text IS NOT NULL{sql[found.end() :]}"
            if not any(sql[found.end() :].removeprefix(" AND ").startswith(one) for one in UNSEEN):
                assert await unlimited(planning, without) != [], f"{noun}.{name}: {without}"


async def test_decay_rates_of_another_tenant_are_not_counted(admin: Connection) -> None:
    """Of more than 64 there is no use: the answer would be that there are too many facts."""
    await admin.execute(
        "INSERT INTO facts (tenant_id, subject, predicate, content, decay_rate)"
        " SELECT 'other', 's', n::text, 'c', n / 1000.0 FROM generate_series(1, 70) n"
    )
    own = await admin.fetchval(
        "INSERT INTO facts (tenant_id, subject, predicate, content, decay_rate)"
        " VALUES ('default', 's', 'p', 'c', 0) RETURNING id"
    )
    asked = load("facts")["sure_enough"], 0.1
    at = await admin.fetchval("SELECT now()")
    assert await admin.fetchval(asked[0], "default", asked[1], at, 100) == [own]
    assert await admin.fetchval(asked[0], "other", asked[1], at, 100) is None
