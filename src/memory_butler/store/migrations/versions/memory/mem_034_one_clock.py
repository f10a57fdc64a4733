"""The schedule keeps its ticks in `job_runs` alone: the tables of PgQueuer go, and old searches."""

from memory_butler.store.migrations.script import run_step

revision = "mem_034"
down_revision = "mem_033"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_step("mem_034_one_clock.sql")


def downgrade() -> None:
    """Nothing: the first revision takes all away at once."""
