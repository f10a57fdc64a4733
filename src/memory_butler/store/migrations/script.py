"""How a revision runs the SQL texts that lie beside it.

The statements live in `.sql` files, because they are to be read, diffed and tried in psql as they
stand. A file may hold several statements, which the extended query protocol refuses; the driver's
own `execute` sends them as one simple query, inside the transaction that the migration holds.
"""

from pathlib import Path
from typing import Any

from alembic import context, op

from memory_butler.store.schema import quoted

VERSIONS = Path(__file__).parent / "versions" / "memory"


# Until a session has used a vector, only a superuser may make functions that carry settings of the
# extension; an upgrade that begins after the baseline has used none.
_LOAD_VECTOR = """
DO $$ BEGIN
    IF to_regtype('public.vector') IS NOT NULL THEN PERFORM '[1]'::public.vector; END IF;
END $$
"""


def run_text(sql: str) -> None:
    """Run one or more statements on the migration's connection."""
    adapted: Any = op.get_bind().connection.dbapi_connection
    adapted.run_async(lambda connection: connection.execute(sql))


def run_files(*names: str, **parts: str) -> None:
    """Run the named `.sql` files of `versions/memory/`, in the order given.

    `{owner}` and `{runtime}` in a text stand for the two roles of this database, whose names
    differ from database to database because roles belong to the whole server; `parts` fill further
    placeholders with SQL.
    """
    run_text(_LOAD_VECTOR)
    roles: dict[str, str] = context.config.attributes["roles"]
    fillings = {placeholder: quoted(role) for placeholder, role in roles.items()} | parts
    for name in names:
        text = (VERSIONS / name).read_text(encoding="utf-8")
        for placeholder, filling in fillings.items():
            text = text.replace(f"{{{placeholder}}}", filling)
        run_text(text)


def history_views() -> None:
    """Make the views of memory_history anew: for every revision that changes a table's columns."""
    roles: dict[str, str] = context.config.attributes["roles"]
    text = (Path(__file__).parent / "history_views.sql").read_text(encoding="utf-8")
    run_text(text.replace("{runtime}", quoted(roles["runtime"])))
