"""Active time as the page measures it: added up on the server, and never more than has passed by its clock."""

from typing import Any

from sqlalchemy import Connection, Row

from beholder.collect.session.progress import change


def add_active_time(connection: Connection, session: Row[Any], seconds: float, *, now: float) -> Row[Any]:
    """Add what the page measured since it last said so, at most the time that has passed since then.

    Args:
        connection: In a write transaction.
        session: As it is.
        seconds: That the page measured.
        now: The time.

    Returns:
        The session, updated.
    """
    if session.status != "running" or seconds <= 0:
        return session
    passed = now - (session.active_at if session.active_at is not None else session.started)
    added = min(seconds, max(passed, 0.0))
    return change(connection, session.session, active_seconds=float(session.active_seconds) + added, active_at=now)
