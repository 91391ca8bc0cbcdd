"""The FastAPI application: its routes and its middleware."""

from pathlib import Path

from fastapi import FastAPI
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from beholder import __version__
from beholder.collect.routes import images, live, pages, prototype, rater, researcher_pages
from beholder.collect.server.error_replies import handle_errors
from beholder.collect.server.guard import Guard
from beholder.collect.server.observation import Observation
from beholder.collect.server.operation import Operation
from beholder.collect.server.readiness import Readiness
from beholder.collect.server.service import Service
from beholder.collect.server.time_limits import LONGEST_SECONDS, TimeLimit


def create_app(
    folder: Path,
    url: str,
    *,
    limited: bool = True,
    fill: bool = True,
    longest_seconds: float = LONGEST_SECONDS,
    operation: Operation | None = None,
) -> FastAPI:
    """Create the application that serves one study; load tests switch the rate limits off by ``limited``.

    With ``fill`` all images are encoded before the function returns; without it, other processes encode them.
    """
    operation = operation or Operation()
    app = FastAPI(title="beholder", version=__version__, docs_url=None, redoc_url=None)
    app.state.service = service = Service(folder, url, images_at=operation.images)
    if fill:
        service.images.fill()
    app.state.readiness = Readiness(folder, service.database, operation)
    for router in (
        *(rater.router, images.router, live.router, pages.router, prototype.router),
        researcher_pages.router,
    ):
        app.router.routes.extend(router.routes)  # as they are: including a router would build each of them again
    app.mount("/static", pages.static_files(), name="static")
    handle_errors(app)
    app.add_middleware(HeadRequests)
    app.add_middleware(TimeLimit, seconds=longest_seconds)
    origin = "" if service.offloaded is None else service.offloaded.origin
    app.add_middleware(Guard, key=service.catalogue.secret("token"), limited=limited, images_from=origin)
    if operation.metrics or operation.log_json:
        app.add_middleware(Observation, operation=operation)
    return app


class HeadRequests:
    """Middleware that answers HEAD with the headers of GET and no body."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; a HEAD request as GET."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return

        async def headers_only(message: Message) -> None:
            await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        await self._app({**scope, "method": "GET"}, receive, headers_only)
