"""A compound of a question is found by its parts."""

revision = "mem_041"
down_revision = "mem_040"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Nothing: every upgrade makes the functions anew, `parts_of` among them."""


def downgrade() -> None:
    """Nothing: the first revision takes all away at once."""
