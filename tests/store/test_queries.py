"""Every named query is valid SQL against the migrated schema."""

import re
from importlib.resources import files

import pytest

from conftest import Connection
from memory_butler.store.queries import Queries, load

NOUNS = sorted(
    entry.name.removesuffix(".sql")
    for entry in files("memory_butler.store").iterdir()
    if entry.name.endswith(".sql")
)


def test_there_are_queries_for_every_noun() -> None:
    assert {"episodes", "facts", "rules", "entities", "links", "search"} <= set(NOUNS)


@pytest.mark.anyio
@pytest.mark.requirement("STO-01")
@pytest.mark.parametrize("noun", NOUNS)
async def test_every_query_can_be_prepared(sql: Connection, noun: str) -> None:
    queries = load(noun)
    assert len(queries) > 0
    for name, query in queries.items():
        assert not re.search(r"\{[a-z_]+\}", query), f"{noun}.{name} has an unfilled fragment"
        await sql.prepare(query)


def test_an_unknown_query_names_its_file() -> None:
    with pytest.raises(KeyError, match=r"facts\.sql has no query named 'nothing'"):
        load("facts")["nothing"]


def test_a_fragment_is_filled_in_and_is_no_query() -> None:
    queries = Queries("t", "-- fragment: columns\na, b\n-- name: all\nSELECT {columns} FROM t\n")
    assert dict(queries) == {"all": "SELECT a, b FROM t"}
