"""Consolidation: leases on episodes, its runs, ticks of the schedule, PgQueuer's tables."""

from pgqueuer.adapters.persistence import schema_ddl

from memory_butler.store.jobs import queue_settings
from memory_butler.store.migrations.script import run_files, run_text
from memory_butler.store.schema import QUEUE_SCHEMA

revision = "mem_007"
down_revision = "mem_006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # The schema itself is made with the roles: creating one takes a right that the owner lacks.
    run_text(schema_ddl.render_install(queue_settings(), create_schema=False))
    run_files("mem_007_consolidation.sql", queue=QUEUE_SCHEMA)


def downgrade() -> None:
    run_text(
        "DROP TABLE consolidation_runs, job_runs;"
        "ALTER TABLE episodes DROP COLUMN claimed_by, DROP COLUMN claimed_until;"
    )
    run_text(schema_ddl.render_uninstall(queue_settings()))
