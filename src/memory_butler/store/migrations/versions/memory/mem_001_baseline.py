"""Baseline: extensions, and the four tables of the documents with their search columns."""

from alembic import op

from memory_butler.store.migrations.script import begin_new, make_tables, remove_all, run_text

revision = "mem_001"
down_revision = None
# Only the first revision carries it: Alembic refuses a repetition (C-79).
branch_labels = ("memory",)
depends_on = None


def _create_extension(name: str, *, required: bool) -> None:
    """Create an extension in public; leave an optional one out where no build has it (C-17)."""
    listed = op.get_bind().exec_driver_sql(
        f"SELECT 1 FROM pg_available_extensions WHERE name = '{name}'"  # noqa: S608 -- our own names
    )
    if required or listed.scalar() is not None:
        run_text(f'CREATE EXTENSION IF NOT EXISTS "{name}" WITH SCHEMA public')


def upgrade() -> None:
    _create_extension("vector", required=True)
    _create_extension("uuid-ossp", required=False)
    _create_extension("pg_trgm", required=False)
    begin_new()
    make_tables(
        "001_create_episodes",
        "002_create_facts",
        "003_create_rules",
        "004_create_memory_links",
        "005_add_search_vectors",
    )


def downgrade() -> None:
    # Extensions stay: other schemas of the database may use them.
    remove_all()
