"""Shorter walks in the graph of vectors: functions alone."""

revision = "mem_036"
down_revision = "mem_035"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Nothing: every upgrade makes the functions anew."""


def downgrade() -> None:
    """Nothing: the first revision takes all away at once."""
