"""Statements that wait; keys without case and spaces; warnings that last; no reports found."""

from memory_butler.store.migrations.script import run_step

revision = "mem_031"
down_revision = "mem_030"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_step("mem_031_lived_with.sql")


def downgrade() -> None:
    """Nothing: the first revision takes all away at once."""
