"""Searches plan less, and read less of what common words match.

A plan opens each of a table's indexes, which took a third of a search; words that are all common
made it read each memory with the least common of them. A deep search takes its arms from the
others.
"""

from memory_butler.store.migrations.script import run_files, run_text
from memory_butler.store.migrations.versions.memory.mem_011_find import NOUNS

revision = "mem_029"
down_revision = "mem_028"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for noun in NOUNS:
        deep = "mem_029_find_episodes_function.sql"
        if noun != "episodes":
            deep = "mem_029_find_function.sql"
        _make(noun, "mem_029_worded_function.sql", "mem_029_nearest_function.sql", deep)


def downgrade() -> None:
    for noun in NOUNS:
        _make(
            noun,
            "mem_026_worded_function.sql",
            "mem_023_nearest_function.sql",
            "mem_011_find_function.sql",
        )


def _make(noun: str, *files: str) -> None:
    run_text(f"DROP FUNCTION find_{noun}, worded_{noun}, nearest_{noun}")
    run_files(*files, table=noun, **NOUNS[noun])
