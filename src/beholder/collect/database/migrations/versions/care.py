"""Active and reported time of a session, feedback on a prototype, and the job survey.

Revision 3, after 2.
"""

import sqlalchemy as sa
from alembic import op

revision = "3"
down_revision = "2"


def upgrade() -> None:
    """Add three columns to ``sessions``, and two tables."""
    with op.batch_alter_table("sessions") as batch:
        batch.add_column(sa.Column("active_seconds", sa.Float, nullable=False, server_default="0"))
        batch.add_column(sa.Column("active_at", sa.Float))
        batch.add_column(sa.Column("reported_seconds", sa.Float))
    op.create_table(
        "prototype_feedback",
        sa.Column("session", sa.String, sa.ForeignKey("sessions.session"), primary_key=True),
        sa.Column("vote", sa.String, nullable=False),
        sa.Column("clear", sa.Integer, nullable=False),
        sa.Column("minutes", sa.Float, nullable=False),
        sa.Column("pay", sa.Integer, nullable=False),
        sa.Column("examples", sa.Boolean, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("trials", sa.JSON, nullable=False),
        sa.Column("at", sa.Float, nullable=False),
    )
    op.create_table(
        "job_surveys",
        sa.Column("session", sa.String, sa.ForeignKey("sessions.session"), primary_key=True),
        sa.Column("answers", sa.JSON, nullable=False),
        sa.Column("at", sa.Float, nullable=False),
    )
