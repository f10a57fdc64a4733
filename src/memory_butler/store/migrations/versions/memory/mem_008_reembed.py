"""Which tenants still have vectors of another model."""

from memory_butler.store.migrations.script import run_files, run_text

revision = "mem_008"
down_revision = "mem_007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_files("mem_008_reembed.sql")


def downgrade() -> None:
    run_text("DROP FUNCTION tenants_to_reembed(integer)")
