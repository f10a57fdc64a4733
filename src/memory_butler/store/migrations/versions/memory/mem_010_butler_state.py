"""The state store: what a butler keeps exactly, until it deletes it (GEN-10)."""

from memory_butler.store.migrations.script import run_files, run_text

revision = "mem_010"
down_revision = "mem_008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_files("mem_010_butler_state.sql")


def downgrade() -> None:
    run_text("DROP TABLE butler_state")
