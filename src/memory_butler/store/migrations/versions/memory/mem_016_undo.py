"""Undoing: every row of a change knows the step that wrote it."""

from memory_butler.store.migrations.script import history_views, run_files, run_text

revision = "mem_016"
down_revision = "mem_017"
branch_labels = None
depends_on = None

_STEPPED = ("memory_events", "memory_versions", "memory_links", "rule_applications")


def upgrade() -> None:
    run_files("mem_016_undo.sql")
    history_views()


def downgrade() -> None:
    run_text(
        "UPDATE consolidation_runs SET status = 'abandoned' WHERE status = 'undone';"
        "ALTER TABLE consolidation_runs DROP CONSTRAINT consolidation_runs_status_known;"
        "ALTER TABLE consolidation_runs ADD CONSTRAINT consolidation_runs_status_known CHECK"
        " (status IN ('running', 'succeeded', 'retrying', 'failed', 'abandoned'));"
        "DROP FUNCTION remove_made(uuid), remove_made_entities(uuid);"
        "DROP INDEX idx_memory_events_undone"
    )
    run_text(
        "DROP VIEW memory_history.memory_links, memory_history.rule_applications,"
        " memory_history.memory_events"
    )
    for table in _STEPPED:
        run_text(f"ALTER TABLE {table} DROP COLUMN step")
    history_views()
