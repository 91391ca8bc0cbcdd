"""The application: its routes, and what stands before them."""

from pathlib import Path

from fastapi import FastAPI

from beholder import __version__
from beholder.collect.routes import images, pages, rater, researcher_pages
from beholder.collect.server.error_replies import handle_errors
from beholder.collect.server.guard import Guard
from beholder.collect.server.head_requests import Heads
from beholder.collect.server.readiness import Readiness
from beholder.collect.server.service import Service
from beholder.collect.server.time_limits import LONGEST_SECONDS, Impatience


def create_app(
    folder: Path, url: str, *, limited: bool = True, fill: bool = True, longest_seconds: float = LONGEST_SECONDS
) -> FastAPI:
    """The server of one study; ``limited`` is off where a test floods it on purpose.

    With ``fill`` all images are encoded before it returns; without, they are served when other processes have.
    """
    app = FastAPI(title="beholder", version=__version__, docs_url=None, redoc_url=None)
    app.state.service = service = Service(folder, url)
    if fill:
        service.images.fill()
    app.state.readiness = Readiness(folder, service.database)
    for router in (rater.router, images.router, pages.router, researcher_pages.router):
        app.router.routes.extend(router.routes)  # as they are: including a router would build each of them again
    app.mount("/static", pages.static_files(), name="static")
    handle_errors(app)
    app.add_middleware(Heads)
    app.add_middleware(Impatience, seconds=longest_seconds)
    app.add_middleware(Guard, key=service.catalogue.secret("token"), limited=limited)
    return app
