"""Entities, facts about them, and the two coexisting uniqueness rules."""

from memory_butler.store.migrations.script import make_tables

revision = "mem_002"
down_revision = "mem_001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    make_tables("mem_002_entities")


def downgrade() -> None:
    """Nothing: the first revision takes all away at once."""
