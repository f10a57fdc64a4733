"""Alembic's entry point. The connection comes from `store.schema.migrate`; no ini file is read."""

from alembic import context

from memory_butler.store.migrations.script import finish

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=None,
    version_table="alembic_version",
    version_table_schema="public",
    transaction_per_migration=False,
)
with context.begin_transaction():
    before = context.get_context().get_current_heads()
    context.run_migrations()
    after = context.get_context().get_current_heads()
    if after and after != before:
        finish()
