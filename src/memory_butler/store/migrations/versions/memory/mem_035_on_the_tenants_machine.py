"""Functions that Citus can run on the machine of their tenant."""

from memory_butler.store.migrations.script import run_step

revision = "mem_035"
down_revision = "mem_034"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_step("mem_035_on_the_tenants_machine.sql")


def downgrade() -> None:
    """Nothing: the first revision takes all away at once."""
