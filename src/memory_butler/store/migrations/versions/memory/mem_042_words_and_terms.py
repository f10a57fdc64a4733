"""The words of a question and what bears them come from one function."""

from memory_butler.store.migrations.script import run_step

revision = "mem_042"
down_revision = "mem_041"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_step("mem_042_words_and_terms.sql")


def downgrade() -> None:
    """Nothing: the first revision takes all away at once."""
