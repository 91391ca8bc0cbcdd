"""Accounts of researchers, proofs of identity, the moment a trial was sent, and trials in place of skipped ones.

Revision 2, after 1.
"""

import sqlalchemy as sa
from alembic import op

revision = "2"
down_revision = "1"


def upgrade() -> None:
    """Add four columns to ``sessions``, and three tables."""
    with op.batch_alter_table("sessions") as batch:
        batch.add_column(sa.Column("guest_hash", sa.String))
        batch.add_column(sa.Column("proof_hash", sa.String))
        batch.add_column(sa.Column("presented", sa.Float))
        batch.add_column(sa.Column("skipped", sa.Integer, nullable=False, server_default="0"))
        batch.create_unique_constraint("sessions_guest_hash_key", ["guest_hash"])
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
        "replacements",
        sa.Column("trial", sa.String, sa.ForeignKey("trials.trial"), primary_key=True),
        sa.Column("session", sa.String, sa.ForeignKey("sessions.session"), nullable=False),
        sa.Column("at", sa.Float, nullable=False),
    )
    op.create_index("replacements_by_session", "replacements", ["session"])
