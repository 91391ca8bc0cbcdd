"""The tables as they were when versions were first noted.

Revision 1. Databases from before that have these tables, and count as this revision.
"""

import sqlalchemy as sa
from alembic import op

revision = "1"
down_revision = None


def upgrade() -> None:
    """Make all tables."""
    op.create_table(
        "secrets", sa.Column("name", sa.String, primary_key=True), sa.Column("value", sa.String, nullable=False)
    )
    op.create_table(
        "control", sa.Column("name", sa.String, primary_key=True), sa.Column("value", sa.Text, nullable=False)
    )
    op.create_table(
        "questions",
        sa.Column("question", sa.String, primary_key=True),
        sa.Column("ordinal", sa.Integer, nullable=False),
        sa.Column("settings", sa.JSON, nullable=False),
    )
    op.create_table(
        "pictures",
        sa.Column("image", sa.String, primary_key=True),
        sa.Column("path", sa.Text, nullable=False),
        sa.Column("sha256", sa.String, nullable=False),
        sa.Column("width", sa.Integer, nullable=False),
        sa.Column("height", sa.Integer, nullable=False),
        sa.Column("generator", sa.String, nullable=False),
        sa.Column("real", sa.Boolean, nullable=False),
        sa.Column("gold", sa.Boolean, nullable=False),
    )
    op.create_table(
        "trials",
        sa.Column("trial", sa.String, primary_key=True),
        sa.Column("question", sa.String, sa.ForeignKey("questions.question"), nullable=False),
        sa.Column("slot", sa.Integer, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("block", sa.Integer, nullable=False),
        sa.Column("role", sa.String, nullable=False),
        sa.Column("images", sa.JSON, nullable=False),
        sa.Column("prompt", sa.Text),
        sa.Column("expected", sa.Text),
        sa.Column("repeats", sa.String),
        sa.Index("trials_by_slot", "question", "slot", "position"),
    )
    op.create_table(
        "persons",
        sa.Column("person", sa.String, primary_key=True),
        sa.Column("platform", sa.String, nullable=False),
        sa.Column("created", sa.Float, nullable=False),
        sa.Column("excluded", sa.Boolean, nullable=False),
        sa.Column("reason", sa.Text),
        sa.Column("simulated", sa.Boolean, nullable=False),
    )
    op.create_table(
        "identities",
        sa.Column("person", sa.String, sa.ForeignKey("persons.person"), primary_key=True),
        sa.Column("platform", sa.String, nullable=False),
        sa.Column("identity", sa.Text, nullable=False),
    )
    op.create_table(
        "sessions",
        sa.Column("session", sa.String, primary_key=True),
        sa.Column("person", sa.String, sa.ForeignKey("persons.person"), nullable=False),
        sa.Column("question", sa.String, sa.ForeignKey("questions.question"), nullable=False),
        sa.Column("slot", sa.Integer),
        sa.Column("plan", sa.JSON),
        sa.Column("status", sa.String, nullable=False),
        sa.Column("token_hash", sa.String, nullable=False, unique=True),
        sa.Column("resume_hash", sa.String, nullable=False, unique=True),
        sa.Column("parameters", sa.JSON, nullable=False),
        sa.Column("language", sa.String, nullable=False),
        sa.Column("consent_hash", sa.String),
        sa.Column("consent_version", sa.String),
        sa.Column("consented", sa.Float),
        sa.Column("checked", sa.Float),
        sa.Column("screen", sa.JSON),
        sa.Column("frame_ms", sa.Float),
        sa.Column("begun", sa.Float),
        sa.Column("breaks", sa.Integer, nullable=False),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("debriefed", sa.Float),
        sa.Column("started", sa.Float, nullable=False),
        sa.Column("seen", sa.Float, nullable=False),
        sa.Column("ended", sa.Float),
        sa.Column("pay", sa.Float),
        sa.UniqueConstraint("person", "question"),
    )
    op.create_table(
        "slots",
        sa.Column("question", sa.String, sa.ForeignKey("questions.question"), primary_key=True),
        sa.Column("slot", sa.Integer, primary_key=True),
        sa.Column("session", sa.String),
        sa.Column("lease_until", sa.Float, nullable=False),
        sa.Column("done", sa.Boolean, nullable=False),
    )
    op.create_table(
        "responses",
        sa.Column("session", sa.String, sa.ForeignKey("sessions.session"), primary_key=True),
        sa.Column("trial", sa.String, sa.ForeignKey("trials.trial"), primary_key=True),
        sa.Column("attempt", sa.Integer, primary_key=True),
        sa.Column("key", sa.String, nullable=False),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("said", sa.JSON, nullable=False),
        sa.Column("marks", sa.JSON, nullable=False),
        sa.Column("seconds", sa.Float, nullable=False),
        sa.Column("intended_ms", sa.Float),
        sa.Column("shown_ms", sa.Float),
        sa.Column("dropped", sa.Integer),
        sa.Column("exposure", sa.JSON),
        sa.Column("valid", sa.Boolean, nullable=False),
        sa.Column("right", sa.Boolean),
        sa.Column("answered", sa.Float, nullable=False),
        sa.UniqueConstraint("session", "key"),
        sa.Index("responses_by_trial", "trial"),
    )
    op.create_table(
        "skips",
        sa.Column("session", sa.String, sa.ForeignKey("sessions.session"), primary_key=True),
        sa.Column("trial", sa.String, sa.ForeignKey("trials.trial"), primary_key=True),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("reason", sa.String, nullable=False),
        sa.Column("comment", sa.Text, nullable=False),
        sa.Column("at", sa.Float, nullable=False),
    )
    op.create_table(
        "comments",
        sa.Column("session", sa.String, sa.ForeignKey("sessions.session"), primary_key=True),
        sa.Column("clear", sa.Integer),
        sa.Column("fair", sa.Integer),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("at", sa.Float, nullable=False),
    )
    op.create_table(
        "events",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("session", sa.String),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("detail", sa.JSON, nullable=False),
    )
    op.create_table(
        "invitations",
        sa.Column("invitation_hash", sa.String, primary_key=True),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("person", sa.String),
        sa.Column("at", sa.Float, nullable=False),
    )
