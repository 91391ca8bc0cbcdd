"""How the schema of the database moved from version to version, for Alembic."""
