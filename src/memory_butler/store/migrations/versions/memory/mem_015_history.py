"""Memory as it stood at another moment, and receipts of what contexts were made of."""

from memory_butler.store.migrations.script import history_views, run_files, run_text
from memory_butler.store.migrations.versions.memory.mem_011_find import NOUNS

revision = "mem_015"
down_revision = "mem_014"
branch_labels = None
depends_on = None

# Whatever the view calls active was true at the moment that was asked for (butler.as_of).
_TRUE_THEN = "m.validity = 'active' AND (memory_history.as_of() IS NOT NULL OR {period})"
_PERIOD = "m.valid_until IS NULL OR m.valid_until > asked_at"


def upgrade() -> None:
    # The views come before the functions that name them, and the schema before all: `db init` and
    # the embedded server make it, as only an administrator may.
    run_files("mem_015_history.sql")
    history_views()
    # The searches are those of mem_011, over the views: one formula, not two that might part.
    run_text("SET LOCAL search_path = memory_history, public")
    for noun, parts in NOUNS.items():
        visible = _TRUE_THEN.format(period=_PERIOD) if noun == "facts" else parts["visible"]
        run_files("mem_011_find_function.sql", table=noun, **parts | {"visible": visible})
        run_text(
            f"ALTER FUNCTION memory_history.find_{noun} SECURITY INVOKER"
            " SET search_path = pg_catalog, memory_history, public, pg_temp"
        )
    run_text("SET LOCAL search_path TO DEFAULT")
    run_files("mem_015_receipts.sql")


def downgrade() -> None:
    run_text(
        "DROP TABLE context_receipts;"
        "DROP FUNCTION memory_history.find_episodes, memory_history.find_facts,"
        " memory_history.find_rules, memory_history.entities_named(text[]);"
        "DROP VIEW memory_history.episodes, memory_history.facts, memory_history.rules,"
        " memory_history.entities, memory_history.memory_links, memory_history.rule_applications,"
        " memory_history.memory_events;"
        "DROP FUNCTION memory_history.known_at(), memory_history.as_of();"
    )
