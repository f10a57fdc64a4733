"""The arm of meaning decides, call by call, between the approximate index and all vectors.

The planner decided before, by costs that know neither what comparing two vectors takes nor how far
one has to walk in a graph of all tenants; of 10,000 vectors it mostly read all.
"""

from memory_butler.store.migrations.script import run_files, run_text
from memory_butler.store.migrations.versions.memory.mem_017_arms import NOUNS

revision = "mem_023"
down_revision = "mem_020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for noun, parts in NOUNS.items():
        run_text(f"DROP FUNCTION nearest_{noun}")
        run_files("mem_023_nearest_function.sql", table=noun, **parts)


def downgrade() -> None:
    for noun, parts in NOUNS.items():
        run_text(f"DROP FUNCTION nearest_{noun}")
        run_files("mem_017_nearest_function.sql", table=noun, **parts)
