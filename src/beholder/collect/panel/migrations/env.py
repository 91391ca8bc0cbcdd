"""What Alembic runs for every command: migrate over the connection that ``upgrade.py`` hands in."""

from alembic import context

from beholder.collect.panel.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
    compare_type=True,
)
context.run_migrations()
