"""Consolidation: leases on episodes, its runs, and the runs of scheduled jobs."""

from memory_butler.store.migrations.script import run_files, run_text

revision = "mem_007"
down_revision = "mem_006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_files("mem_007_consolidation.sql")


def downgrade() -> None:
    run_text(
        "DROP TABLE consolidation_runs, job_runs;"
        "ALTER TABLE episodes DROP COLUMN claimed_by, DROP COLUMN claimed_until;"
    )
