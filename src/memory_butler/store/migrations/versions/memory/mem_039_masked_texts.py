"""What was masked is kept for an hour, encrypted."""

from memory_butler.store.migrations.script import run_step

revision = "mem_039"
down_revision = "mem_038"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_step("mem_039_masked_texts.sql")


def downgrade() -> None:
    """Nothing: the first revision takes all away at once."""
