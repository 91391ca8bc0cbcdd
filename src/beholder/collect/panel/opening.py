"""Studies of a panel: registered, opened to its raters, closed, and what came of them."""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import Connection, Row, insert, select, update

from beholder.collect.panel.open_log import write_entry
from beholder.collect.panel.schema import studies
from beholder.errors import StageError, UserError
from beholder.study.study import Study, load_study


def note_study(connection: Connection, study: Study, folder: Path, researcher: str, *, now: float) -> None:
    """Register a study, or bring what is known of it up to date.

    Args:
        connection: In a write transaction.
        study: Its settings.
        folder: Where it is.
        researcher: Who runs it, and whom raters rate by it.
        now: The time.
    """
    content = {
        "folder": str(folder.resolve()),
        "title": study.title,
        "purpose": study.description,
        "researcher": researcher,
        "currency": study.pay.currency,
        "minimum_hourly_cents": round(study.pay.minimum_hourly * 100),
        "platform_study": study.collect.prolific_study,
    }
    other = connection.scalar(select(studies.c.folder).where(studies.c.study == study.name))
    if other is None:
        connection.execute(insert(studies).values(study=study.name, added=now, **content))
        return
    if other != content["folder"]:
        raise StageError(
            f"the panel has a study '{study.name}' already, in {other}: give this one another name in study.toml"
        )
    connection.execute(update(studies).where(studies.c.study == study.name).values(**content))


def open_study(connection: Connection, folder: Path, *, researcher: str, now: float) -> str:
    """Open a study to the raters of the panel; whoever its researcher rated best may begin first.

    Args:
        connection: In a write transaction.
        folder: Of the study.
        researcher: Who runs it.
        now: The time.

    Returns:
        The name of the study.
    """
    study = load_study(folder)
    note_study(connection, study, folder, researcher, now=now)
    row = require_study(connection, study.name)
    if row.opened is None or row.closed is not None:
        connection.execute(update(studies).where(studies.c.study == study.name).values(opened=now, closed=None))
        write_entry(connection, "study opened", {"study": study.name, "researcher": researcher}, now=now)
    return study.name


def close_study(connection: Connection, study: str, *, now: float) -> None:
    """Close a study: nobody new begins, and raters may see their accuracy on its gold trials.

    Args:
        connection: In a write transaction.
        study: Which.
        now: The time.
    """
    require_study(connection, study)
    connection.execute(update(studies).where(studies.c.study == study).values(closed=now))
    write_entry(connection, "study closed", {"study": study}, now=now)


def resume_study(connection: Connection, study: str, *, by: str, reason: str, now: float) -> None:
    """Resume a study that flags had paused; the reason is for the log.

    Args:
        connection: In a write transaction.
        study: Which.
        by: The researcher.
        reason: What was changed.
        now: The time.
    """
    require_study(connection, study)
    connection.execute(update(studies).where(studies.c.study == study).values(paused=None, pause_reason=None))
    write_entry(connection, "study resumed", {"study": study, "by": by, "reason": reason}, now=now)


def publish_results(connection: Connection, study: str, text: str, link: str, *, now: float) -> None:
    """Tell raters what came of a study.

    Args:
        connection: In a write transaction.
        study: Which.
        text: A few sentences, for raters.
        link: To the report, or empty.
        now: The time.
    """
    require_study(connection, study)
    if not text.strip():
        raise UserError("the results need a text: a few sentences that say what came of the study")
    if link and urlsplit(link).scheme not in ("http", "https"):
        raise UserError(f"the link is '{link}'; an address that begins with https:// is expected")
    values = {"results": text, "results_link": link or None, "published": now}
    connection.execute(update(studies).where(studies.c.study == study).values(**values))
    write_entry(connection, "results published", {"study": study}, now=now)


def require_study(connection: Connection, study: str) -> Row[Any]:
    """Return the row of a study; an error where the panel has none of this name.

    Args:
        connection: In any transaction.
        study: Which.

    Returns:
        The row.
    """
    row = connection.execute(select(studies).where(studies.c.study == study)).first()
    if row is None:
        raise StageError(f"the panel has no study '{study}'; `beholder panel studies` lists them")
    return row
