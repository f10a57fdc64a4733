"""Totals of long lists: a narrow index to count by; rules and episodes with a word by its index."""

from memory_butler.store.migrations.script import run_files, run_text

revision = "mem_020"
down_revision = "mem_019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_files("mem_020_totals.sql")


def downgrade() -> None:
    run_text(
        "DROP FUNCTION rules_with_terms(text), episodes_with_terms(text);"
        "DROP INDEX idx_facts_counted, idx_facts_importance"
    )
