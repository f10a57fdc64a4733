"""A clean-up visits each tenant that has what ages, and not those with episodes alone."""

revision = "mem_044"
down_revision = "mem_043"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Nothing: every upgrade makes the functions anew, `tenants_with_work` among them."""


def downgrade() -> None:
    """Nothing: the first revision takes all away at once."""
