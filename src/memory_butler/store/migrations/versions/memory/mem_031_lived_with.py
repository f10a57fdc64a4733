"""Statements that wait; keys without case and spaces; warnings that last; no reports found."""

from memory_butler.store.migrations.script import history_views, run_files, run_text
from memory_butler.store.migrations.versions.memory.mem_011_find import NOUNS

revision = "mem_031"
down_revision = "mem_030"
branch_labels = None
depends_on = None

# The report of a sweep is an episode that nobody told: it is listed, and never an answer.
_TOLD = {
    "visible": (
        "m.expires_at > asked_at AND NOT (m.butler = 'memory'"
        " AND m.metadata->>'kind' IS NOT DISTINCT FROM 'decay_sweep')"
    )
}


def upgrade() -> None:
    run_files("mem_031_lived_with.sql")
    _make_episode_searches(NOUNS["episodes"] | _TOLD)
    history_views()


def downgrade() -> None:
    run_files("mem_031_downgrade.sql")
    _make_episode_searches(NOUNS["episodes"])
    history_views()


def _make_episode_searches(parts: dict[str, str]) -> None:
    run_text("DROP FUNCTION find_episodes, worded_episodes, nearest_episodes")
    run_files(
        "mem_030_worded_function.sql",
        "mem_029_nearest_function.sql",
        "mem_029_find_episodes_function.sql",
        table="episodes",
        **parts,
    )
    # The search of the past is that of mem_011, over the views (mem_015).
    run_text(
        "DROP FUNCTION memory_history.find_episodes; SET LOCAL search_path = memory_history, public"
    )
    run_files("mem_011_find_function.sql", table="episodes", **parts)
    run_text(
        "ALTER FUNCTION memory_history.find_episodes SECURITY INVOKER"
        " SET search_path = pg_catalog, memory_history, public, pg_temp;"
        "SET LOCAL search_path TO DEFAULT"
    )
