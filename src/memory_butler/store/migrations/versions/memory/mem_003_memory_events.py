"""The append-only audit stream (EVTT)."""

from memory_butler.store.migrations.script import run_files, run_text

revision = "mem_003"
down_revision = "mem_002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_files("mem_003_memory_events.sql")


def downgrade() -> None:
    run_text("DROP TABLE memory_events")
