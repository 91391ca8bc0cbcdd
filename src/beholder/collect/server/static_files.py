"""Static files of the pages, read in separate threads so that they are served while the database is down."""

import errno
import os
import stat
from pathlib import Path

from fastapi.staticfiles import StaticFiles
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, Response
from starlette.staticfiles import NotModifiedResponse
from starlette.types import Scope

from beholder.collect.server.threads import FILES


class PageFiles(StaticFiles):
    """Scripts and styles; small enough to be read in one piece."""

    def __init__(self, folder: Path) -> None:
        super().__init__(directory=folder)
        self.config_checked = True  # the folder is part of the package

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Return the file; 404 for anything else, and for paths outside the folder."""
        if scope["method"] not in ("GET", "HEAD"):
            raise HTTPException(405, headers={"Allow": "GET, HEAD"})
        try:
            response = await FILES.run(self._read, path)
        except ValueError as error:  # a NUL in the path
            raise HTTPException(404) from error
        except OSError as error:
            if error.errno not in (errno.ENAMETOOLONG, errno.EACCES):
                raise
            raise HTTPException(404) from error
        if response is None:
            raise HTTPException(404)
        if self.is_not_modified(response.headers, Headers(scope=scope)):
            return NotModifiedResponse(response.headers)
        return response

    def _read(self, path: str) -> Response | None:
        file_path, status = self.lookup_path(path)
        if status is None or not stat.S_ISREG(status.st_mode):
            return None
        return _response(Path(file_path), status, {})


async def page_file(path: Path, headers: dict[str, str]) -> Response:
    """Return one page with additional headers."""
    return await FILES.run(lambda: _response(path, path.stat(), headers))


def _response(path: Path, status: os.stat_result, headers: dict[str, str]) -> Response:
    """Return the content with the validators ETag and Last-Modified."""
    described = FileResponse(path, stat_result=status, headers=headers)
    response = Response(path.read_bytes(), headers=headers, media_type=described.media_type)
    for name in ("etag", "last-modified"):
        response.headers[name] = described.headers[name]
    return response
