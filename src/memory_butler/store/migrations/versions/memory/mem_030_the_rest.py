"""Everything else: what a database was at before the first release.

It is the oldest revision that upgrades. `schema.sql` shows the newest, so a new database is at that
once this has run; the numbered steps, from the next on, are for databases that were there before.
"""

from memory_butler.store.migrations.script import make_tables

revision = "mem_030"
down_revision = "mem_003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    make_tables("tables_of_tenants", "tables_of_all", "grants")


def downgrade() -> None:
    """Nothing: the first revision takes all away at once."""
