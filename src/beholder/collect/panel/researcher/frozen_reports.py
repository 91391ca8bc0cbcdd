"""Reports of time that leave the medians, by a researcher's word, or count again."""

from sqlalchemy import Connection, update

from beholder.collect.panel.open_log import write_entry
from beholder.collect.panel.schema import work
from beholder.errors import StageError


def set_frozen(
    connection: Connection, study: str, session: str, *, frozen: bool, reason: str, by: str, now: float
) -> None:
    """Freeze a report of time, or let it count again.

    Args:
        connection: In a write transaction.
        study: Of the session.
        session: Whose report.
        frozen: Or to count again.
        reason: That the rater sees where it is frozen.
        by: The researcher.
        now: The time.
    """
    place = (work.c.study == study) & (work.c.session == session)
    value = reason if frozen else ""
    if not connection.execute(update(work).where(place).values(frozen=value)).rowcount:
        raise StageError(f"there is no session {session} of '{study}' in this panel")
    detail = {"study": study, "session": session, "frozen": frozen, "by": by, "reason": reason}
    write_entry(connection, "report frozen" if frozen else "report counts", detail, now=now)
