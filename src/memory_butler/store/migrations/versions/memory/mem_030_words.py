"""The arm of words goes through its index once, and samples large stores as closely as needed.

A deep search of facts or rules takes what that arm has found beside the embedding of the question.
"""

from memory_butler.store.migrations.script import run_files, run_text
from memory_butler.store.migrations.versions.memory.mem_011_find import NOUNS

revision = "mem_030"
down_revision = "mem_027"
branch_labels = None
depends_on = None

# What is known of a memory that has one of the words, between reading and ranking it: how many
# words it has, and the weight of each of the question's, NULL where it is without. Never the text.
_MEMORY = """
CREATE TYPE worded_memory AS (
    id uuid, matches_all boolean, words integer, weights real[],
    importance double precision, confidence double precision, decay_rate double precision,
    last_confirmed_at timestamptz, last_referenced_at timestamptz, created_at timestamptz,
    maturity text
)
"""


def upgrade() -> None:
    run_text(_MEMORY)
    for noun in NOUNS:
        _make(noun, "worded", "mem_030_worded_function.sql")
        if noun != "episodes":
            _make(noun, "find", "mem_030_find_function.sql")


def downgrade() -> None:
    for noun in NOUNS:
        _make(noun, "worded", "mem_029_worded_function.sql")
        if noun != "episodes":
            _make(noun, "find", "mem_029_find_function.sql")
    run_text("DROP TYPE worded_memory")


def _make(noun: str, kind: str, file: str) -> None:
    run_text(f"DROP FUNCTION {kind}_{noun}")
    run_files(file, table=noun, **NOUNS[noun])
