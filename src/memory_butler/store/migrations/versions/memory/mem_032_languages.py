"""Words of other languages than English: functions alone; `reindex-words` does what is there."""

revision = "mem_032"
down_revision = "mem_031"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Nothing: every upgrade makes the functions anew."""


def downgrade() -> None:
    """Nothing: the first revision takes all away at once."""
