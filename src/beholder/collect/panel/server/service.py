"""What the routes of a panel share: its database and the services of its studies."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, select

from beholder.care.gold_pace import GoldPace
from beholder.collect.database.schema import SERVING, Database, secrets
from beholder.collect.panel.feed import study_progress
from beholder.collect.panel.logins import create_secrets, login_of
from beholder.collect.panel.schema import members, open_panel, panel_url, trust
from beholder.collect.server.service import Service
from beholder.collect.session.arrival import PanelVisitor
from beholder.errors import RefusedError
from beholder.study.study import Study

PROGRESS_SECONDS = 2.0
"""How long the free slots of a study are remembered: whether one is left is decided when the study is entered."""


@dataclass(frozen=True, slots=True)
class PanelSecrets:
    """The secrets of the panel, by which its cookies are made; named as in a study's catalogue."""

    values: Mapping[str, str]

    def secret(self, name: str) -> str:
        """Return one of them."""
        return self.values[name]


class PanelService:
    """The service of a panel. It holds no state of any rater."""

    def __init__(self, folder: Path, url: str | None, services: Mapping[str, Service]) -> None:
        self.folder = folder
        self.url = url or panel_url(folder)
        self.database: Database = open_panel(folder, url, timeouts=SERVING)
        with self.database.writing() as connection:
            create_secrets(connection)
        with self.database.reading() as connection:
            values = {row.name: str(row.value) for row in connection.execute(select(secrets))}
        self.catalogue = PanelSecrets(values)
        self.services: Mapping[str, Service] = {}
        self._progress: dict[str, tuple[float, tuple[int, int] | None]] = {}
        for name, service in services.items():
            self.add(name, service)

    def add(self, name: str, service: Service) -> None:
        """Serve one more study; requests that are being answered keep what they began with."""
        service.panel_entry = _Entry(self, name)
        self.services = {**self.services, name: service}

    def now(self) -> float:
        """Return seconds since 1970."""
        return time.time()

    @property
    def served(self) -> dict[str, Study]:
        """The studies of this server."""
        return {name: service.study for name, service in self.services.items()}

    def progress(self, study: str) -> tuple[int, int] | None:
        """Return free slots and recent sessions of a study, at most ``PROGRESS_SECONDS`` old."""
        service = self.services.get(study)
        if service is None:
            return None
        at, counts = self._progress.get(study, (0.0, None))
        now = service.now()
        if now - at > PROGRESS_SECONDS:
            counts = study_progress(service.database, now=now)
            self._progress[study] = (now, counts)
        return counts


@dataclass(frozen=True, slots=True)
class _Entry:
    """Says which rater of the panel comes into a study: the one of the cookie, if they took the study."""

    panel: PanelService
    study: str

    def __call__(self, cookie: str | None) -> PanelVisitor | None:
        if not cookie:
            return None
        with self.panel.database.reading() as connection:
            try:
                rater = login_of(connection, cookie, now=self.panel.now()).rater
            except RefusedError:
                return None
            place = (members.c.study == self.study) & (members.c.rater == rater)
            if connection.scalar(select(members.c.rater).where(place).limit(1)) is None:
                return None
            return PanelVisitor(rater, self._pace(connection, rater))

    def _pace(self, connection: Connection, rater: str) -> GoldPace | None:
        """Return how often a rater is checked, in a study that thins gold out; not in a prototype.

        Whoever is not trusted yet is checked constantly: gold beyond that is the slot's reserve.
        """
        service = self.panel.services[self.study]
        if not service.study.collect.thin_gold or service.prototype is not None:
            return None
        pace = connection.scalar(select(trust.c.pace).where(trust.c.rater == rater))
        return GoldPace.constant() if pace is None else GoldPace(**pace)
