"""Orders of long lists of facts: by confirmation, by confidence and by references, without all."""

from memory_butler.store.migrations.script import run_files, run_text

revision = "mem_027"
down_revision = "mem_029"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_files("mem_027_orders.sql")


def downgrade() -> None:
    run_text(
        "DROP FUNCTION facts_referenced, facts_with_terms, facts_with_tag;"
        "DROP INDEX idx_facts_confirmed, idx_facts_lasting, idx_facts_references;"
        "DROP FUNCTION lasting(double precision, double precision, timestamptz)"
    )
    run_files("mem_027_downgrade.sql")
