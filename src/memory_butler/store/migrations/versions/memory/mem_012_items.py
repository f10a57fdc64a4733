"""Programs' own records, and finding what an import left to be embedded."""

from memory_butler.store.migrations.script import run_files, run_text

revision = "mem_012"
down_revision = "mem_010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_files("mem_012_items.sql", "mem_012_unembedded.sql")


def downgrade() -> None:
    run_text(
        "DROP FUNCTION tenants_to_embed();"
        "DROP INDEX idx_episodes_unembedded, idx_facts_unembedded, idx_rules_unembedded;"
        "DROP TABLE items"
    )
