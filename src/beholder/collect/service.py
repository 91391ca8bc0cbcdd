"""What the routes share: the study, its database, the clock, and who is asking."""

from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Row

from beholder.collect.catalogue import Catalogue
from beholder.collect.clock import clock_of
from beholder.collect.database import SERVING, Database
from beholder.collect.identity import hash_of, identity_of
from beholder.collect.leases import keep_place
from beholder.collect.pictures import ServedImages
from beholder.collect.showing import State, state_of
from beholder.collect.standing import Standing, change, session_by, standing_of
from beholder.errors import RefusedError
from beholder.images.display import common_side
from beholder.study.study import Study, load_study

COOKIE = "beholder"


class Service:
    """One study being collected. Holds no state of any session."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder = folder
        self.study: Study = load_study(folder)
        self.database = Database(url, SERVING)
        self.database.create()
        self.clock = clock_of(self.database)
        self.catalogue = Catalogue(self.database)
        sizes = [(picture.width, picture.height) for picture in self.catalogue.pictures.values()]
        self.side = common_side(sizes, self.study.collect.image_side)
        quality = self.study.collect.image_quality
        self.images = ServedImages(folder, self.catalogue.pictures, side=self.side, quality=quality)

    def now(self) -> float:
        """Seconds since 1970, by a clock that never jumps."""
        return self.clock.now()

    def session(self, connection: Connection, cookie: str | None, *, locked: bool = True) -> Row[Any]:
        """The session of a cookie, or a refusal."""
        found = session_by(connection, locked=locked, token_hash=hash_of(cookie)) if cookie else None
        if found is None:
            raise RefusedError(401, "no-session", "open the link of the study first")
        return found

    def alive(self, connection: Connection, session: Row[Any], **values: object) -> Row[Any]:
        """Note a sign of life, perhaps with other changes, and keep the place; the session as it then is."""
        now = self.now()
        self.keep_place(connection, session, now=now)
        return change(connection, session.session, seen=now, **values)

    def keep_place(self, connection: Connection, session: Row[Any], *, now: float) -> None:
        """Keep the place of a session, given as it was before this sign of life."""
        keep_place(connection, session, now=now, lease_seconds=self.study.collect.lease_minutes * 60)

    def state(self, connection: Connection, session: Row[Any]) -> State:
        """What the page is to show now."""
        standing = self.standing(connection, session)
        identity = identity_of(connection, session.person) if standing.step == "done" else ""
        return state_of(self.catalogue, standing, self.study, side=self.side, identity=identity)

    def standing(self, connection: Connection, session: Row[Any]) -> Standing:
        """Where the session stands."""
        return standing_of(connection, self.catalogue, session)
