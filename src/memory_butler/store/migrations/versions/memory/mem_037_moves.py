"""A tenant knows that it moves to another installation, or has moved."""

from memory_butler.store.migrations.script import run_step

revision = "mem_037"
down_revision = "mem_036"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_step("mem_037_moves.sql")


def downgrade() -> None:
    """Nothing: the first revision takes all away at once."""
