"""Raters who are checked less than others, and the outcome of proposals.

Revision 3, after 2.
"""

import sqlalchemy as sa
from alembic import op

revision = "3"
down_revision = "2"


def upgrade() -> None:
    """Add a table, and a column to ``proposals``."""
    with op.batch_alter_table("proposals") as batch:
        batch.add_column(sa.Column("outcome", sa.JSON))
    op.create_table(
        "trust",
        sa.Column("rater", sa.String, sa.ForeignKey("raters.rater"), primary_key=True),
        sa.Column("pace", sa.JSON, nullable=False),
        sa.Column("at", sa.Float, nullable=False),
    )
