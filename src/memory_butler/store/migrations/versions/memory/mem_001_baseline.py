"""Baseline: extensions, the four tables of the documents, their search columns (MIG-01..04)."""

from alembic import op

from memory_butler.store.migrations.script import run_files, run_text

revision = "mem_001"
down_revision = None
branch_labels = (
    "memory",
)  # only the first revision carries it: Alembic refuses a repetition (C-79)
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
    run_files(
        "001_create_episodes.sql",
        "002_create_facts.sql",
        "003_create_rules.sql",
        "004_create_memory_links.sql",
        "005_add_search_vectors.sql",
    )


def downgrade() -> None:
    # Extensions stay: other schemas of the database may use them.
    run_text("DROP TABLE memory_links, rules, facts, episodes")
