"""The functions that searched facts and rules a second time are gone."""

from memory_butler.store.migrations.script import run_step

revision = "mem_038"
down_revision = "mem_037"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_step("mem_038_found_in_fewer_steps.sql")


def downgrade() -> None:
    """Nothing: the first revision takes all away at once."""
