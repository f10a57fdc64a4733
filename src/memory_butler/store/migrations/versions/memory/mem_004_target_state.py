"""Target state: rule applications, embedding versions, item versions, what was served, tokens."""

from memory_butler.store.migrations.script import run_files, run_text

revision = "mem_004"
down_revision = "mem_003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_files("mem_004_target_state.sql")


def downgrade() -> None:
    for table in ("episodes", "facts", "rules"):
        run_text(f"ALTER TABLE {table} DROP COLUMN embedding_version_id")
    run_text(
        "DROP TABLE rule_applications, embedding_versions, memory_versions, served, tokens, tenants"
    )
