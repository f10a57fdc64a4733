"""The append-only audit stream."""

from memory_butler.store.migrations.script import make_tables

revision = "mem_003"
down_revision = "mem_002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    make_tables("mem_003_memory_events")


def downgrade() -> None:
    """Nothing: the first revision takes all away at once."""
