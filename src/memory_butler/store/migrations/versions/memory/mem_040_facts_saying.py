"""Facts are found by the dates that they name."""

revision = "mem_040"
down_revision = "mem_039"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Nothing: every upgrade makes the functions anew, `facts_saying` among them."""


def downgrade() -> None:
    """Nothing: the first revision takes all away at once."""
