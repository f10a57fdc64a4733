"""What a revision runs: blocks of `schema.sql` on a new database, the step beside it on an old one.

The statements live in `.sql` files, because they are to be read, diffed and tried in psql as they
stand. A file may hold several statements, which the extended query protocol refuses; the driver's
own `execute` sends them as one simple query, inside the transaction that the migration holds.
"""

from pathlib import Path
from typing import Any

from alembic import context

from memory_butler.store.migrations.functions import FIRST, texts
from memory_butler.store.queries import Queries
from memory_butler.store.schema import quoted

HERE = Path(__file__).parent

# Until a session has used a vector, only a superuser may make functions that carry settings of the
# extension; an upgrade of a database that has it already has used none.
_LOAD_VECTOR = """
DO $$ BEGIN
    IF to_regtype('public.vector') IS NOT NULL THEN PERFORM '[1]'::public.vector; END IF;
END $$
"""


def run_text(sql: str) -> None:
    """Run one or more statements on the migration's connection.

    `{owner}` and `{runtime}` stand for the two roles of this database, whose names differ from
    database to database because roles belong to the whole server.
    """
    roles: dict[str, str] = context.config.attributes["roles"]
    for placeholder, role in roles.items():
        sql = sql.replace(f"{{{placeholder}}}", quoted(role))
    adapted: Any = context.get_bind().connection.dbapi_connection
    adapted.run_async(lambda connection: connection.execute(sql))


def begin_new() -> None:
    """Begin a new database: what the tables are made with comes first, and no step runs on it."""
    context.config.attributes["new"] = True
    _make_functions(FIRST)


def make_tables(*blocks: str) -> None:
    """Run the named blocks of `schema.sql`."""
    schema = Queries("schema", (HERE / "schema.sql").read_text(encoding="utf-8"))
    for block in blocks:
        run_text(schema[block])


def run_step(name: str) -> None:
    """Run a text of `versions/memory/`, but not on a new database, which `schema.sql` made.

    Named blocks run one by one: on a Citus cluster a change of a tenant's table is a message of
    its own.
    """
    if not context.config.attributes.get("new"):
        text = (HERE / "versions" / "memory" / name).read_text(encoding="utf-8")
        for part in list(Queries(name, text).values()) or [text]:
            run_text(part)


def finish() -> None:
    """Make all functions and views as they are now, whatever revision the database comes from.

    So a step needs no function's text. It drops a function that goes, or whose result changes.
    """
    names = list(texts())
    _make_functions(FIRST + tuple(name for name in names if name not in FIRST))
    run_text((HERE / "history_views.sql").read_text(encoding="utf-8"))


def remove_all() -> None:
    """Drop whatever the migrations have made."""
    run_text((HERE / "remove_all.sql").read_text(encoding="utf-8"))


def _make_functions(names: tuple[str, ...]) -> None:
    run_text(_LOAD_VECTOR)
    known = texts()
    for name in names:
        run_text(known[name])
