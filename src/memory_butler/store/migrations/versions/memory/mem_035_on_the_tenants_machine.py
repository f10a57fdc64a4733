"""Functions that Citus can run on the machine of their tenant."""

revision = "mem_035"
down_revision = "mem_034"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Nothing: every upgrade makes the functions anew."""


def downgrade() -> None:
    """Nothing: the first revision takes all away at once."""
