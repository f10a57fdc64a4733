"""What browsing needs: filters by unfinished words, and the events of one memory."""

from memory_butler.store.migrations.script import run_files, run_text

revision = "mem_009"
down_revision = "mem_012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_files("mem_009_browsing.sql")


def downgrade() -> None:
    run_text(
        "DROP INDEX idx_episodes_occurred;"
        "ALTER TABLE memory_events DROP COLUMN memory_id;"
        "DROP FUNCTION prefix_terms(text);"
    )
