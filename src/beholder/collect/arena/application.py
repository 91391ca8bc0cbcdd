"""The application of an arena, and its server: the middleware and the guarantees are the study server's own."""

import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import uvicorn
from fastapi import FastAPI

from beholder import __version__
from beholder.collect.arena.service import ArenaService, keep_renewing
from beholder.collect.display.fill_cache import filling
from beholder.collect.routes import arena, pages
from beholder.collect.server.application import HeadRequests
from beholder.collect.server.disk import disk_watched
from beholder.collect.server.error_replies import handle_errors
from beholder.collect.server.guard import Guard
from beholder.collect.server.serve import GRACE_SECONDS, KEEP_ALIVE_SECONDS, address_of, listen
from beholder.collect.server.time_limits import LONGEST_SECONDS, TimeLimit


def create_arena(
    folder: Path,
    url: str,
    *,
    limited: bool = True,
    fill: bool = True,
    own_prompts: bool = False,
    rng: np.random.Generator | None = None,
) -> FastAPI:
    """Create the application that serves one arena; load tests switch the rate limits off by ``limited``.

    Pairs are drawn by ``rng``; by default nobody can predict them.
    """
    app = FastAPI(title="beholder arena", version=__version__, docs_url=None, redoc_url=None)
    app.state.service = service = ArenaService(folder, url, own_prompts=own_prompts, rng=rng)
    if fill:
        service.served.fill()
        service.measure_styles()
    for router in (arena.router, arena.image_router):
        app.router.routes.extend(router.routes)
    app.mount("/static", pages.static_files(), name="static")
    handle_errors(app)
    app.add_middleware(HeadRequests)
    app.add_middleware(TimeLimit, seconds=LONGEST_SECONDS)
    app.add_middleware(Guard, key=service.key, limited=limited)
    return app


def serve_arena(
    folder: Path, url: str, *, host: str, port: int, say: Callable[[str], None], own_prompts: bool = False
) -> None:
    """Serve until interrupted."""
    listening = listen(host, port)
    app = create_arena(folder, url, fill=False, own_prompts=own_prompts)
    address = address_of(listening)
    say(f"voters: {address}/\nboard:  {address}/board\nStop with Ctrl-C; nothing is lost.")
    signal.signal(signal.SIGTERM, lambda *_: None)
    service: ArenaService = app.state.service
    stop = threading.Event()
    renewing = threading.Thread(target=keep_renewing, args=(service, stop), daemon=True)
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        log_level="warning",
        access_log=False,
        ws="none",
        lifespan="off",
        timeout_graceful_shutdown=GRACE_SECONDS,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
    )
    renewing.start()
    try:
        with filling(service.served), disk_watched(folder), suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listening])
    finally:
        stop.set()
        renewing.join(timeout=GRACE_SECONDS)
        service.database.engine.dispose()
        if service.live is not None:
            service.live.close()
