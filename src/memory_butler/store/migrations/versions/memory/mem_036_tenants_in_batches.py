"""Tenants with work are asked for in batches."""

from memory_butler.store.migrations.script import run_step

revision = "mem_036"
down_revision = "mem_035"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_step("mem_036_tenants_in_batches.sql")


def downgrade() -> None:
    """Nothing: the first revision takes all away at once."""
