"""Long lists of facts: an index to count and order by, and text filters that use theirs."""

from memory_butler.store.migrations.script import run_files, run_text

revision = "mem_014"
down_revision = "mem_011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_files("mem_014_listing.sql")


def downgrade() -> None:
    run_text(
        "DROP FUNCTION facts_with_terms(text), facts_with_tag(text);"
        "DROP INDEX idx_facts_listed, idx_facts_fading"
    )
