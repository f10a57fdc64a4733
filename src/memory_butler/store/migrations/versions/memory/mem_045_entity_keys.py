"""The entity that a fact is about is found by an index."""

from memory_butler.store.migrations.script import run_step

revision = "mem_045"
down_revision = "mem_044"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_step("mem_045_entity_keys.sql")


def downgrade() -> None:
    """Nothing: the first revision takes all away at once."""
