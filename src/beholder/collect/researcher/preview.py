"""Preview of a question as raters see it, in a temporary database that is separate from the study.

Opening a preview creates a small SQLite file outside the study folder with one slot of one question, fresh
secrets, and an invitation to enter by. The file is deleted after two hours, or with the machine's temporary files.
All processes of a server find it by its name, which the preview's cookie holds.
"""

import re
import secrets as randomness
import tempfile
import time
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from fastapi import FastAPI
from sqlalchemy import Connection, func, insert, select

from beholder.collect.database.schema import Database, invitations, pictures, questions, secrets, slots, trials
from beholder.collect.routes import images, rater
from beholder.collect.server.error_replies import handle_errors
from beholder.collect.server.service import Service
from beholder.collect.session.identity import hash_of
from beholder.errors import RefusedError
from beholder.study.study import Study

COOKIE = "beholder_preview"
KEPT_SECONDS = 2 * 3600
TICKET = re.compile(r"^[0-9a-f]{32}$")
ALIVE_AT_ONCE = 8


def open_preview(database: Database, study: Study, question: str, *, key: str) -> str:
    """Create a temporary database with the first slot of a question; return the ticket that names it.

    What the question says is taken from the study as it is given, so that a changed study file shows at once.
    """
    _delete_expired(key)
    ticket = randomness.token_hex(16)
    copy = Database(_url(key, ticket))
    copy.create()
    with database.reading() as source, copy.writing() as target:
        if source.scalar(select(questions.c.question).where(questions.c.question == question)) is None:
            raise RefusedError(404, "no-such-question", f"there is no question '{question}'")
        _copy(source, target, question)
        for current in study.questions:
            settings = current.model_dump(mode="json")
            target.execute(
                questions.update().where(questions.c.question == current.name).values(settings=settings)
            )
        names = ("person", "token", "researcher")
        target.execute(insert(secrets), [{"name": n, "value": randomness.token_urlsafe(32)} for n in names])
        target.execute(insert(invitations).values(invitation_hash=hash_of(ticket), note="preview", at=time.time()))
    copy.engine.dispose()
    return ticket


def preview_app(folder: Path, key: str, ticket: str | None) -> FastAPI:
    """Return the application of a preview; refuse an unknown ticket."""
    if ticket is None or not TICKET.match(ticket) or not _path(key, ticket).is_file():
        raise RefusedError(401, "no-preview", "open the preview again")
    return _app(folder, _url(key, ticket))


def invitation(ticket: str) -> str:
    """Return the path by which the preview is entered."""
    return f"/i/{ticket}"


def _copy(source: Connection, target: Connection, question: str) -> None:
    slot = source.scalar(select(func.min(trials.c.slot)).where(trials.c.question == question))
    in_slot = (trials.c.question == question) & (trials.c.slot == slot)
    for table, query in (
        (questions, select(questions)),
        (pictures, select(pictures)),
        (trials, select(trials).where(in_slot)),
    ):
        rows = [dict(row._mapping) for row in source.execute(query)]
        if rows:
            target.execute(insert(table), rows)
    if slot is not None:
        target.execute(insert(slots).values(question=question, slot=slot, lease_until=0.0, done=False))


@lru_cache(ALIVE_AT_ONCE)
def _app(folder: Path, url: str) -> FastAPI:
    """Create the application of the raters' pages on the temporary database."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    app.state.service = Service(folder, url)
    app.router.routes.extend(rater.router.routes)
    app.router.routes.extend(images.router.routes)
    handle_errors(app)
    return app


def _folder(key: str) -> Path:
    """Return the folder of this study's previews among the temporary files."""
    folder = Path(tempfile.gettempdir()) / f"beholder-preview-{hash_of(key)[:16]}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def _path(key: str, ticket: str) -> Path:
    return _folder(key) / f"{ticket}.sqlite"


def _url(key: str, ticket: str) -> str:
    return f"sqlite:///{_path(key, ticket)}"


def _delete_expired(key: str) -> None:
    """Delete the databases of expired previews."""
    for file in _expired(_folder(key)):
        file.unlink(missing_ok=True)


def _expired(folder: Path) -> Iterator[Path]:
    for file in folder.iterdir():
        if file.stat().st_mtime < time.time() - KEPT_SECONDS:
            yield file
