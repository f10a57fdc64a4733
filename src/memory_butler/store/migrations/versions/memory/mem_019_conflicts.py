"""Facts that resemble or contradict another: indexes to find the few that wait to be settled."""

from memory_butler.store.migrations.script import run_files, run_text

revision = "mem_019"
down_revision = "mem_018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_files("mem_019_conflicts.sql")


def downgrade() -> None:
    run_text("DROP INDEX idx_memory_links_contradicts, idx_facts_resembling")
