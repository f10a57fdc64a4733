"""Entities, facts about them, and the two coexisting uniqueness rules (ENTT, FACT-13, 28, 29)."""

from memory_butler.store.migrations.script import run_files, run_text

revision = "mem_002"
down_revision = "mem_001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_files("mem_002_entities.sql")


def downgrade() -> None:
    run_text("DROP INDEX uq_facts_subject_active, uq_facts_entity_active, idx_facts_entity")
    run_text("ALTER TABLE facts DROP COLUMN entity_id")
    run_text("DROP TABLE entities")
