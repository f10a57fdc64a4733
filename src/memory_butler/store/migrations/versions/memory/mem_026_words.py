"""The arm of words never comes back with nothing where one of the words is in a memory.

Words that led because the sample had none of them could be in no memory at all.
"""

from memory_butler.store.migrations.script import run_files, run_text
from memory_butler.store.migrations.versions.memory.mem_017_arms import NOUNS

revision = "mem_026"
down_revision = "mem_023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _make("mem_026_worded_function.sql")


def downgrade() -> None:
    _make("mem_017_worded_function.sql")


def _make(file: str) -> None:
    for noun, parts in NOUNS.items():
        run_text(f"DROP FUNCTION worded_{noun}")
        run_files(file, table=noun, **parts)
