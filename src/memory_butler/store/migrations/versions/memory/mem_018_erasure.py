"""Erasure: what goes, in one transaction, and the record of it."""

from memory_butler.store.migrations.script import run_files, run_text

revision = "mem_018"
down_revision = "mem_016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_files("mem_018_erasure.sql")


def downgrade() -> None:
    run_text(
        "DROP FUNCTION erase_memories(uuid, uuid[], uuid[], uuid[], uuid[]), erase_tenant();"
        "DROP TABLE erasures"
    )
