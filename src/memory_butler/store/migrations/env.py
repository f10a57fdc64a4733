"""Alembic's entry point. The connection comes from `store.schema.migrate`; no ini file is read."""

from alembic import context

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=None,
    version_table="alembic_version",
    version_table_schema="public",
    transaction_per_migration=False,
)
with context.begin_transaction():
    context.run_migrations()
