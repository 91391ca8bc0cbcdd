"""One server for a panel: links and sign-ins of raters, studies that are open, what a rater's own page shows.

Revision 2, after 1.
"""

import sqlalchemy as sa
from alembic import op

revision = "2"
down_revision = "1"


def upgrade() -> None:
    """Add columns to ``studies`` and ``work``, and nine tables."""
    with op.batch_alter_table("studies") as batch:
        batch.add_column(sa.Column("opened", sa.Float))
        batch.add_column(sa.Column("closed", sa.Float))
        batch.add_column(sa.Column("purpose", sa.Text, nullable=False, server_default=""))
        batch.add_column(sa.Column("results", sa.Text))
        batch.add_column(sa.Column("results_link", sa.Text))
        batch.add_column(sa.Column("published", sa.Float))
    with op.batch_alter_table("work") as batch:
        batch.add_column(sa.Column("excluded", sa.Text))
    _add_tables_of_raters()
    _add_tables_of_researchers()


def _add_tables_of_raters() -> None:
    rater = sa.ForeignKey("raters.rater")
    op.create_table(
        "links",
        sa.Column("link_hash", sa.String, primary_key=True),
        sa.Column("rater", sa.String, rater),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("at", sa.Float, nullable=False),
    )
    op.create_table(
        "rater_logins",
        sa.Column("token_hash", sa.String, primary_key=True),
        sa.Column("rater", sa.String, sa.ForeignKey("raters.rater"), nullable=False),
        sa.Column("created", sa.Float, nullable=False),
        sa.Column("expires", sa.Float, nullable=False),
    )
    op.create_table(
        "interests",
        sa.Column("rater", sa.String, sa.ForeignKey("raters.rater"), primary_key=True),
        sa.Column("kind", sa.String, primary_key=True),
    )
    op.create_table(
        "standings",
        sa.Column("rater", sa.String, sa.ForeignKey("raters.rater"), primary_key=True),
        sa.Column("study", sa.String, primary_key=True),
        sa.Column("content", sa.JSON, nullable=False),
        sa.Column("at", sa.Float, nullable=False),
    )
    op.create_table(
        "points",
        sa.Column("giver", sa.String, primary_key=True),
        sa.Column("receiver", sa.String, primary_key=True),
        sa.Column("points", sa.Float, nullable=False),
        sa.Column("role", sa.String, nullable=False),
    )


def _add_tables_of_researchers() -> None:
    op.create_table(
        "secrets", sa.Column("name", sa.String, primary_key=True), sa.Column("value", sa.String, nullable=False)
    )
    op.create_table(
        "researchers",
        sa.Column("name", sa.String, primary_key=True),
        sa.Column("role", sa.String, nullable=False),
        sa.Column("password_hash", sa.String, nullable=False),
        sa.Column("created", sa.Float, nullable=False),
    )
    op.create_table(
        "logins",
        sa.Column("token_hash", sa.String, primary_key=True),
        sa.Column("researcher", sa.String, nullable=False),
        sa.Column("role", sa.String, nullable=False),
        sa.Column("created", sa.Float, nullable=False),
        sa.Column("expires", sa.Float, nullable=False),
    )
    op.create_table(
        "events",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("session", sa.String),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("detail", sa.JSON, nullable=False),
    )
