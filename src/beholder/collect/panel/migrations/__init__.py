"""Alembic's scripts of a panel's database."""
