"""A panel with a study, raters of both platforms, and payments to propose."""

import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import httpx
import pytest
from sqlalchemy import Connection, insert
from tests.collect.conftest import Visitor, encode_once

from beholder.collect.database.address import default_url
from beholder.collect.database.schema import Database
from beholder.collect.display import served_images
from beholder.collect.panel.logins import make_links
from beholder.collect.panel.opening import open_study
from beholder.collect.panel.payments import NewPayment, decide, propose
from beholder.collect.panel.schema import identities, open_panel, raters, studies, work
from beholder.collect.panel.server.application import PanelApplication, create_panel_app
from beholder.collect.panel.server.service import PanelService
from beholder.collect.simulate.rehearsal import listening
from beholder.study.kinds.catalogue import AnyQuestion

STUDY = "faces"


def fill(connection: Connection, count: int, platform: str = "prolific", *, seconds: float = 300.0) -> None:
    """Make a study with raters, each with one complete session of ``seconds`` and 68 cents of pay."""
    connection.execute(
        insert(studies).values(
            study=STUDY,
            folder="/nowhere",
            title="Faces",
            researcher="ada",
            currency="USD",
            minimum_hourly_cents=1200,
            added=0.0,
            platform_study="remote",
        )
    )
    for number in range(count):
        rater = f"p-{number:03d}"
        connection.execute(insert(raters).values(rater=rater, joined=0.0, simulated=False))
        connection.execute(insert(identities).values(rater=rater, platform=platform, identity=f"id{number}"))
        connection.execute(
            insert(work).values(
                study=STUDY,
                session=f"s{number}",
                rater=rater,
                question="q",
                kind="pair",
                status="complete",
                started=float(number),
                trials=30,
                active_seconds=seconds,
                pay_cents=68,
                gold=[1, 1, 0, 1],
                submission=f"assignment{number}",
            )
        )


def approve_all(database: Database, count: int, *, cents: int = 125) -> None:
    """Propose and approve a payment for each rater."""
    with database.writing() as connection:
        news = [NewPayment(STUDY, f"s{n}", f"p-{n:03d}", "top-up", cents, "USD", "why") for n in range(count)]
        for new in news:
            propose(connection, new, now=1.0)
        decide(connection, [new.key for new in news], by="ada", approve=True, now=2.0)


@pytest.fixture
def panel(tmp_path: Path) -> Database:
    """An empty panel."""
    return open_panel(tmp_path / "panel", create=True)


@pytest.fixture
def approved(panel: Database) -> Callable[..., Database]:
    """Make a panel in which so many payments are approved."""

    def make(count: int, platform: str = "prolific") -> Database:
        with panel.writing() as connection:
            fill(connection, count, platform)
        approve_all(panel, count)
        return panel

    return make


@dataclass
class ServedPanel:
    """A panel that is being served, with its studies."""

    folder: Path
    address: str
    service: PanelService
    folders: dict[str, Path]
    stack: ExitStack
    application: PanelApplication

    def link(self) -> str:
        """A personal link that nobody has followed."""
        with self.service.database.writing() as connection:
            return make_links(connection, 1, note="", now=time.time())[0]

    def rater(self, link: str | None = None) -> "PanelRater":
        """Somebody who follows a personal link in a browser of their own."""
        client = self.stack.enter_context(httpx.Client(base_url=self.address, timeout=30))
        token = (link or self.link()).removeprefix("/i/")
        name = client.post("/api/enter", json={"link": token}).json()["rater"]
        return PanelRater(self, client, name)

    def researcher(self) -> httpx.Client:
        """The researcher, signed in by the link, with the header of changes."""
        client = self.stack.enter_context(httpx.Client(base_url=self.address, timeout=60, follow_redirects=True))
        client.get("/researcher", params={"token": self.service.catalogue.secret("researcher")})
        client.headers["X-Beholder-CSRF"] = client.get("/researcher/api/overview").json()["csrf"]
        return client


@dataclass
class PanelRater:
    """A rater with a cookie of the panel."""

    panel: ServedPanel
    client: httpx.Client
    name: str

    def page(self) -> dict[str, Any]:
        content: dict[str, Any] = self.client.get("/api/me").json()
        return content

    def post(self, path: str, **body: object) -> httpx.Response:
        headers = {"X-Beholder-CSRF": self.page()["csrf"]}
        return self.client.post(f"/api/{path}", json=body, headers=headers)

    def take(self, study: str) -> Visitor:
        """Take a study and go to its first trial."""
        reply = self.post("take", study=study)
        assert reply.status_code == 200, reply.text
        address = reply.json()["address"]
        service = self.panel.service.services[study]

        def ponder() -> None:
            with closing(sqlite3.connect(service.folder / "collect.sqlite", timeout=30)) as connection, connection:
                connection.execute("update sessions set presented = presented - 30")

        client = PrefixedClient(self.client, address.rstrip("/"))
        return Visitor(client, service.study, ponder=ponder)  # type: ignore[arg-type]


class PrefixedClient:
    """A client whose paths begin with the study's."""

    def __init__(self, client: httpx.Client, prefix: str) -> None:
        self.client, self.prefix = client, prefix

    def post(self, path: str, **settings: Any) -> httpx.Response:  # noqa: ANN401
        return self.client.post(self.prefix + path, **settings)

    def get(self, path: str, **settings: Any) -> httpx.Response:  # noqa: ANN401
        return self.client.get(self.prefix + path, **settings)


def rename(folder: Path, name: str) -> None:
    """Give a study another name."""
    settings = folder / "study.toml"
    text = settings.read_text(encoding="utf-8").replace('name = "test"', f'name = "{name}"', 1)
    settings.write_text(text.replace('title = "A test"', f'title = "Study {name}"', 1), encoding="utf-8")


@pytest.fixture
def serve_panel(study_folder: Callable[..., Path], tmp_path: Path) -> Iterator[Callable[..., ServedPanel]]:
    """Serve a panel with one study per question, each run by the researcher of the same place."""
    with ExitStack() as stack:

        def make(
            questions: Mapping[str, AnyQuestion],
            *,
            researcher: str = "ada",
            limited: bool = True,
            **settings: Any,  # noqa: ANN401
        ) -> ServedPanel:
            folder = tmp_path / "served-panel"
            database = open_panel(folder, create=True)
            folders = {}
            for name, question in questions.items():
                place = study_folder(question, name=name, **settings)
                rename(place, name)
                folders[name] = place
                with database.writing() as connection:
                    open_study(connection, place, researcher=researcher, now=time.time())
            database.engine.dispose()
            with patch.object(served_images, "encode", encode_once):
                places = {name: (place, default_url(place)) for name, place in folders.items()}
                app = create_panel_app(folder, None, places, limited=limited)
            address = stack.enter_context(listening(app))
            for study in app.studies.values():
                stack.callback(study.state.service.database.engine.dispose)
            stack.callback(app.state.service.database.engine.dispose)
            return ServedPanel(folder, address, app.state.service, folders, stack, app)

        yield make
