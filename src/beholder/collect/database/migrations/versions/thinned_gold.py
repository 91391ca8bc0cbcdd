"""Gold trials that trusted raters are spared.

Revision 4, after 3.
"""

import sqlalchemy as sa
from alembic import op

revision = "4"
down_revision = "3"


def upgrade() -> None:
    """Add two tables."""
    op.create_table(
        "gold_paces",
        sa.Column("session", sa.String, sa.ForeignKey("sessions.session"), primary_key=True),
        sa.Column("pace", sa.JSON, nullable=False),
        sa.Column("next_gold", sa.String),
    )
    op.create_table(
        "thinned",
        sa.Column("session", sa.String, sa.ForeignKey("sessions.session"), primary_key=True),
        sa.Column("trial", sa.String, sa.ForeignKey("trials.trial"), primary_key=True),
        sa.Column("instead", sa.String),
        sa.Column("at", sa.Float, nullable=False),
    )
