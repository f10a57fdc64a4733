"""Seals of events, by which a change of the log is noticed."""

from memory_butler.store.migrations.script import run_step

revision = "mem_033"
down_revision = "mem_032"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_step("mem_033_event_seals.sql")


def downgrade() -> None:
    """Nothing: the first revision takes all away at once."""
