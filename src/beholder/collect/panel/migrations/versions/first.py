"""The first version of a panel's tables, which the program made without a script.

Revision 1.
"""

revision = "1"
down_revision = None


def upgrade() -> None:
    """Change nothing: a database of this version has its tables."""
