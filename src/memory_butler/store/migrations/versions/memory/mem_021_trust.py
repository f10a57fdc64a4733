"""How far each memory is to be believed, and every way in which memory serves text."""

from memory_butler.store.migrations.script import history_views, run_files, run_text

revision = "mem_021"
down_revision = "mem_026"
branch_labels = None
depends_on = None

_NOUNS = ("episodes", "facts", "rules")


def upgrade() -> None:
    run_files("mem_021_trust.sql")
    history_views()


def downgrade() -> None:
    views = ", ".join(f"memory_history.{noun}" for noun in _NOUNS)
    run_text(f"DROP VIEW {views}")
    for noun in _NOUNS:
        run_text(f"ALTER TABLE {noun} DROP COLUMN trust")
    history_views()
    run_text(
        "DELETE FROM served WHERE operation IN ('get', 'receipt');"
        "ALTER TABLE served DROP CONSTRAINT served_operation_known;"
        "ALTER TABLE served ADD CONSTRAINT served_operation_known"
        " CHECK (operation IN ('search', 'recall', 'context'))"
    )
