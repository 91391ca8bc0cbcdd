"""The application of a panel: its own routes, and the applications of its studies under ``/s/NAME``."""

from collections.abc import Mapping
from pathlib import Path

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from beholder import __version__
from beholder.collect.panel.schema import members
from beholder.collect.panel.server.service import PanelService
from beholder.collect.routes import pages, panel, panel_researcher, panel_rules, signing_in
from beholder.collect.server.application import HeadRequests, create_app
from beholder.collect.server.error_replies import handle_errors
from beholder.collect.server.guard import Guard
from beholder.collect.server.observation import Observation
from beholder.collect.server.operation import Operation
from beholder.collect.server.prefix import PREFIX
from beholder.collect.server.readiness import Readiness
from beholder.collect.server.time_limits import TimeLimit
from beholder.collect.session.cookies import PANEL_COOKIE
from beholder.errors import UserError

STUDY_PATH = "/s/"


class PanelApplication:
    """Gives each request to the panel or to one of its studies, which have limits and cookies of their own."""

    def __init__(self, own: FastAPI, studies: Mapping[str, FastAPI]) -> None:
        self.own, self.studies = own, studies
        self.state = own.state

    def add_study(self, name: str, study: FastAPI) -> None:
        """Serve one more study from now on."""
        service: PanelService = self.own.state.service
        service.add(name, study.state.service)
        self.studies = {**self.studies, name: study}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; that of a study without its prefix."""
        app: ASGIApp = self.own
        if scope["type"] == "http" and scope["path"].startswith(STUDY_PATH):
            name, _, rest = scope["path"].removeprefix(STUDY_PATH).partition("/")
            if name in self.studies:
                app = self.studies[name]
                path = f"/{rest}"
                scope = {**scope, "path": path, "raw_path": path.encode(), PREFIX: f"{STUDY_PATH}{name}"}
        await app(scope, receive, send)


def create_panel_app(
    folder: Path,
    url: str | None,
    studies: Mapping[str, tuple[Path, str]],
    *,
    limited: bool = True,
    fill: bool = True,
    operation: Operation | None = None,
) -> PanelApplication:
    """Create the application of a panel.

    Args:
        folder: Of the panel.
        url: Of its database, where that is PostgreSQL.
        studies: Folder and database of each study that is served, by name.
        limited: Whether rates of requests are limited.
        fill: Whether all images are encoded before the function returns.
        operation: How the server is operated.

    Returns:
        The application.
    """
    operation = operation or Operation()
    apps = {
        name: create_app(place, address, limited=limited, fill=fill, operation=operation)
        for name, (place, address) in studies.items()
    }
    service = PanelService(folder, url, {name: app.state.service for name, app in apps.items()})
    own = FastAPI(title="beholder panel", version=__version__, docs_url=None, redoc_url=None)
    own.state.service = service
    own.state.readiness = Readiness(folder, service.database, operation, (members.c.rater,))
    own.state.researcher_page = pages.PAGES / "panel" / "researcher" / "index.html"
    for router in (panel.router, panel_rules.router, panel_researcher.router, signing_in.router):
        own.router.routes.extend(router.routes)
    own.mount("/static", pages.static_files(), name="static")
    handle_errors(own)
    own.add_exception_handler(UserError, _cannot)
    own.add_middleware(HeadRequests)
    own.add_middleware(TimeLimit)
    own.add_middleware(Guard, key=service.catalogue.secret("token"), cookie=PANEL_COOKIE, limited=limited)
    if operation.metrics or operation.log_json:
        own.add_middleware(Observation, operation=operation)
    return PanelApplication(own, apps)


async def _cannot(request: Request, error: Exception) -> Response:  # noqa: ARG001 - FastAPI's signature
    """A rule of the panel stands against it, such as a payment that waits."""
    return JSONResponse({"detail": {"code": "cannot", "message": str(error)}}, status_code=409)
