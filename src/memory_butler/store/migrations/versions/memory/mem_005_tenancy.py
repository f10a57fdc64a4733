"""The two walls between tenants: forced row-level security, and functions for what is global."""

from memory_butler.store.migrations.script import run_files, run_text

revision = "mem_005"
down_revision = "mem_004"
branch_labels = None
depends_on = None

TENANT_TABLES = (
    "episodes",
    "facts",
    "rules",
    "memory_links",
    "entities",
    "memory_events",
    "rule_applications",
    "memory_versions",
    "served",
)


def upgrade() -> None:
    for table in TENANT_TABLES:
        # Bare current_setting, never a sub-select: a sub-select hides the tenant from the planner.
        # The second argument makes a missing setting NULL, which equals no tenant: no row.
        run_text(
            f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;"
            f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY;"
        )
    run_files("mem_005_tenancy.sql")


def downgrade() -> None:
    run_files("mem_005_tenancy_down.sql")
    for table in TENANT_TABLES:
        run_text(
            f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY;"
            f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY;"
        )
