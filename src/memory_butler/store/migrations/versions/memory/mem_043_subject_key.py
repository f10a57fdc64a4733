"""A list of a subject's facts is found however the subject is written."""

from memory_butler.store.migrations.script import run_step

revision = "mem_043"
down_revision = "mem_042"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_step("mem_043_subject_key.sql")


def downgrade() -> None:
    """Nothing: the first revision takes all away at once."""
