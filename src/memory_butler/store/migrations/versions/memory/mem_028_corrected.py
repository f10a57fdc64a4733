"""What was corrected, or has faded, was not true at another moment, whatever its period says."""

from memory_butler.store.migrations.script import history_views, run_files

revision = "mem_028"
down_revision = "mem_021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_files("mem_028_corrected.sql")
    history_views()


def downgrade() -> None:
    """Nothing: the former state of each fact is kept, and the views fit the tables."""
