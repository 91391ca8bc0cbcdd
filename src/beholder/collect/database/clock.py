"""The time by which places are lent: it never jumps, and all processes of a study agree on it.

A clock is set once, by the machine's clock or, with PostgreSQL, by the database's; from then on it is carried by a
counter that nobody sets. It never begins before the latest moment that the database holds, so that a restart after
the machine's clock was set back leaves no lease hanging. The server notes how it set its clock; commands that run
beside it on the same machine, such as an export, then go by the same.
"""

import logging
import time
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, func, select

from beholder.collect.database.schema import Database, control, events, invitations, logins, sessions

BOOT = Path("/proc/sys/kernel/random/boot_id")
NAME = "clock "
BEHIND = 60.0
"""A machine's clock so many seconds behind the database's latest moment is worth a warning."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Clock:
    """Seconds since 1970: the counter plus what it lacks."""

    offset: float

    def now(self) -> float:
        """The time."""
        return self.offset + counter()


def set_clock(database: Database) -> Clock:
    """Set the clock as a server starts, and note it for commands and further processes on this machine."""
    with database.writing() as connection:
        clock = _fresh_clock(connection)
        name = NAME + _boot()
        connection.execute(control.delete().where(control.c.name == name))
        connection.execute(control.insert().values(name=name, value=repr(clock.offset)))
    return clock


def clock_of(database: Database) -> Clock:
    """The clock as the server on this machine has set it; without one, a clock of its own."""
    with database.reading() as connection:
        return clock_in(connection)


def clock_in(connection: Connection) -> Clock:
    """As ``clock_of``, within a transaction."""
    boot = _boot()
    noted = connection.scalar(select(control.c.value).where(control.c.name == NAME + boot)) if boot else None
    if noted is None:
        return _fresh_clock(connection)
    return Clock(max(float(noted), _latest(connection) - counter()))


def counter() -> float:
    """Seconds that only ever grow, if possible while the machine sleeps, too; alike in all its processes."""
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()


def _fresh_clock(connection: Connection) -> Clock:
    if connection.dialect.name == "sqlite":
        wall = time.time()
    else:
        wall = float(connection.scalar(select(func.extract("epoch", func.clock_timestamp()))) or 0.0)
    latest = _latest(connection)
    if latest > wall + BEHIND:
        log.warning(
            "the clock is %.0f s behind the latest entry of the database: it goes on from that", latest - wall
        )
    return Clock(max(wall, latest) - counter())


def _latest(connection: Connection) -> float:
    """The latest moment that the database holds. Every answer, skip and comment is also a sign of life."""
    columns = (sessions.c.started, sessions.c.seen, sessions.c.ended)
    moments = [*connection.execute(select(*(func.max(column) for column in columns))).one()]
    moments.append(connection.scalar(select(func.max(invitations.c.at))))
    moments.append(connection.scalar(select(func.max(logins.c.created))))
    moments.append(connection.scalar(select(events.c.at).order_by(events.c.id.desc()).limit(1)))
    return max((float(moment) for moment in moments if moment is not None), default=0.0)


def _boot() -> str:
    """What names this run of the machine, within which the counter means the same; empty where nothing does."""
    try:
        return BOOT.read_text(encoding="ascii").strip()
    except OSError:
        return ""
