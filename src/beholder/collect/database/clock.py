"""The monotonic clock of slot leases, on which all processes of a study agree.

The clock is set once, from the machine's clock or, with PostgreSQL, from the database's; from then on a monotonic
counter carries it. It never starts before the latest time stamp in the database, so that no lease is left hanging
when the machine's clock was set back before a restart. The server records the offset of its clock; commands that
run on the same machine at the same time, such as an export, use the same offset.
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
"""Seconds by which the machine's clock may lag behind the latest time stamp without a warning."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Clock:
    """A clock in seconds since 1970: the monotonic counter plus an offset."""

    offset: float

    def now(self) -> float:
        """Return the current time."""
        return self.offset + counter()


def set_clock(database: Database) -> Clock:
    """Set the clock at the start of a server, and record it for other processes on this machine."""
    with database.writing() as connection:
        clock = _fresh_clock(connection)
        name = NAME + _boot()
        connection.execute(control.delete().where(control.c.name == name))
        connection.execute(control.insert().values(name=name, value=repr(clock.offset)))
    return clock


def clock_of(database: Database) -> Clock:
    """Return the clock that the server on this machine has set, or a fresh one where no server runs."""
    with database.reading() as connection:
        return clock_in(connection)


def clock_in(connection: Connection) -> Clock:
    """Return the same as ``clock_of``, within a transaction."""
    boot = _boot()
    noted = connection.scalar(select(control.c.value).where(control.c.name == NAME + boot)) if boot else None
    if noted is None:
        return _fresh_clock(connection)
    return Clock(max(float(noted), _latest(connection) - counter()))


def counter() -> float:
    """Read the monotonic counter shared by all processes; it includes suspended time where the system allows."""
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
    """Return the latest time stamp in the database; answers, skips and comments also set ``sessions.seen``."""
    columns = (sessions.c.started, sessions.c.seen, sessions.c.ended)
    moments = [*connection.execute(select(*(func.max(column) for column in columns))).one()]
    moments.append(connection.scalar(select(func.max(invitations.c.at))))
    moments.append(connection.scalar(select(func.max(logins.c.created))))
    moments.append(connection.scalar(select(events.c.at).order_by(events.c.id.desc()).limit(1)))
    return max((float(moment) for moment in moments if moment is not None), default=0.0)


def _boot() -> str:
    """Return the boot id, within which the counter is comparable; empty where the system has none."""
    try:
        return BOOT.read_text(encoding="ascii").strip()
    except OSError:
        return ""
