"""Thread limits for work that must not wait behind the database, one limit per kind of work.

Everything that FastAPI runs in a thread by itself, which is all work with the database, shares one common limit. A
hanging database can occupy all of those threads, but none of these.
"""

from collections.abc import Callable
from functools import partial, wraps
from typing import Any, ParamSpec, TypeVar

from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar
from fastapi.routing import APIRoute

P = ParamSpec("P")
T = TypeVar("T")


class Threads:
    """A limited number of threads for one kind of work, per event loop."""

    def __init__(self, name: str, most: int) -> None:
        self._most = most
        self._limiter: RunVar[CapacityLimiter] = RunVar(name)

    async def run(self, work: Callable[P, T], *arguments: P.args, **settings: P.kwargs) -> T:
        """Run the work in a thread of this kind and return its result."""
        try:
            limiter = self._limiter.get()
        except LookupError:
            limiter = CapacityLimiter(self._most)
            self._limiter.set(limiter)
        return await to_thread.run_sync(partial(work, *arguments, **settings), limiter=limiter)


FILES = Threads("files", 8)
IMAGES = Threads("images", 16)
PROBES = Threads("probes", 2)


class ImageRoute(APIRoute):
    """A route whose endpoint runs in the threads reserved for images."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **settings: Any) -> None:  # noqa: ANN401 - FastAPI's
        @wraps(endpoint)
        async def in_image_thread(*arguments: Any, **values: Any) -> Any:  # noqa: ANN401
            return await IMAGES.run(endpoint, *arguments, **values)

        super().__init__(path, in_image_thread, **settings)
