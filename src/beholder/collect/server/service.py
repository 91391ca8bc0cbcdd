"""What the routes share: the study, its database, its clock, and the lookup of sessions by cookie."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Row

from beholder.collect.database.clock import clock_of
from beholder.collect.database.schema import SERVING, Database
from beholder.collect.display.offloaded_images import OffloadedImages
from beholder.collect.display.served_images import ServedImages
from beholder.collect.live.room import LiveRoom
from beholder.collect.live.targets import live_questions, makers_of
from beholder.collect.prototype.rounds import read_round
from beholder.collect.session.arrival import PanelVisitor, Proofs
from beholder.collect.session.catalogue import Catalogue
from beholder.collect.session.cookies import RATER_COOKIE as COOKIE
from beholder.collect.session.cookies import token_of
from beholder.collect.session.examples import require_examples
from beholder.collect.session.identity import hash_of, identity_of, is_of_panel
from beholder.collect.session.leases import renew_lease
from beholder.collect.session.progress import SessionProgress, change, progress_of, session_by
from beholder.collect.session.trial_view import State, prototype_part, state_of
from beholder.errors import RefusedError
from beholder.images.display import MEDIA_TYPE, common_side
from beholder.study.study import Study, load_study

__all__ = ["COOKIE", "Service"]

SIGNED = "beholder.storage.signed_objects"
"""The module that needs an extra."""


class Service:
    """The service of one study. It holds no state of any session."""

    panel_entry: Callable[[str | None], PanelVisitor | None] | None = None
    """on the server of a panel: which of its raters a cookie of the panel lets into this study"""

    def __init__(self, folder: Path, url: str, *, images_at: str = "") -> None:
        """Read the study; with ``images_at``, browsers fetch its images from there, in object storage."""
        self.folder = folder
        self.study: Study = load_study(folder)
        self.prototype = read_round(folder)
        require_examples(folder, self.study)
        self.proofs = Proofs(folder, self.study.collect)
        self.database = Database(url, SERVING)
        self.database.create()
        self.live = LiveRoom(folder, makers_of(self.study, folder)) if live_questions(self.study) else None
        self.clock = clock_of(self.database)
        self.catalogue = Catalogue(self.database)
        sizes = [(picture.width, picture.height) for picture in self.catalogue.pictures.values()]
        self.side = common_side(sizes, self.study.collect.image_side)
        quality = self.study.collect.image_quality
        background = self.study.images.background
        self.images = ServedImages(
            folder, self.catalogue.pictures, side=self.side, quality=quality, background=background
        )
        self.offloaded: OffloadedImages | None = None
        if images_at:
            store = import_module(SIGNED).SignedObjects(
                images_at, self.catalogue.secret("token"), media_type=MEDIA_TYPE
            )
            self.offloaded = OffloadedImages(self.images, store)

    def now(self) -> float:
        """Return seconds since 1970, by a monotonic clock."""
        return self.clock.now()

    def session(self, connection: Connection, cookie: str | None, *, locked: bool = True) -> Row[Any]:
        """Return the session of a cookie, a guest's included; refuse an unknown cookie."""
        if cookie:
            token_hash = hash_of(token_of(cookie))
            for column in ("token_hash", "guest_hash"):
                session = session_by(connection, locked=locked, **{column: token_hash})
                if session is not None:
                    return session
        raise RefusedError(401, "no-session", "open the link of the study first")

    def is_guest(self, session: Row[Any], cookie: str | None) -> bool:
        """Whether the cookie was issued for an unproven id, on another device than the session's own."""
        return cookie is not None and session.guest_hash == hash_of(token_of(cookie))

    def require_owner(self, session: Row[Any], cookie: str | None) -> None:
        """Refuse a guest an act that cannot be undone."""
        if self.is_guest(session, cookie):
            raise RefusedError(
                403,
                "other-device",
                "this session began on another device: do this there, by the link that was saved there, or write "
                "to the researcher",
            )

    def record_activity(self, connection: Connection, session: Row[Any], **values: object) -> Row[Any]:
        """Record a sign of life and other changes, and renew the lease; return the updated session."""
        now = self.now()
        self.renew_lease(connection, session, now=now)
        return change(connection, session.session, seen=now, **values)

    def renew_lease(self, connection: Connection, session: Row[Any], *, now: float) -> None:
        """Renew the lease of a session, given as it was before this sign of life."""
        renew_lease(connection, session, now=now, lease_seconds=self.study.collect.lease_minutes * 60)

    def state(self, connection: Connection, session: Row[Any], *, guest: bool = False) -> State:
        """Return the state that the page shows; a returning guest gets neither completion codes nor a redirect."""
        progress = self.progress(connection, session)
        identity = identity_of(connection, session.person) if progress.step == "done" else ""
        state = state_of(self.catalogue, progress, self.study, side=self.side, identity=identity)
        if "done" in state:
            state["done"]["panel"] = self.panel_entry is not None and is_of_panel(connection, session.person)
        if self.prototype is not None and progress.step == "debrief":
            state |= {"step": "prototype", "prototype": prototype_part(self.catalogue, session, side=self.side)}
        if not guest:
            return state
        if "done" in state:
            state["done"] |= {"code": None, "personal_code": None, "redirect": None, "message_key": "done.guest"}
        return state | {"guest": True}

    def progress(self, connection: Connection, session: Row[Any]) -> SessionProgress:
        """Return the step and the trial that the session is at."""
        return progress_of(connection, self.catalogue, session)
