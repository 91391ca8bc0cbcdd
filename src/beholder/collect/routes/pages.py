"""The raters' page and its texts, which hold no data of the study, and the health checks."""

from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Request, Response
from fastapi import Path as PathParameter
from fastapi.responses import JSONResponse

from beholder.collect.server.error_replies import AGAIN
from beholder.collect.server.readiness import Readiness
from beholder.collect.server.static_files import PageFiles, page_file
from beholder.collect.server.threads import FILES
from beholder.collect.session.texts import texts

PAGES = Path(__file__).parent.parent / "pages"

router = APIRouter(tags=["pages"])


def static_files() -> PageFiles:
    """Return the application of scripts and styles."""
    return PageFiles(PAGES)


@router.get("/", include_in_schema=False)
@router.get("/q/{question}", include_in_schema=False)
@router.get("/i/{invitation}", include_in_schema=False)
@router.get("/r/{resume}", include_in_schema=False)
async def get_page() -> Response:
    """Return the raters' page; it requests everything else itself."""
    return await page_file(PAGES / "index.html", {"Cache-Control": "no-cache"})


@router.get("/api/texts/{language}")
async def get_texts(language: Annotated[str, PathParameter(pattern="^[a-z]{2}$")]) -> dict[str, Any]:
    """Return all texts of a language."""
    return await FILES.run(texts, language)


@router.get("/api/health")
async def get_health() -> dict[str, str]:
    """Report that the process lives, without touching database, disk or threads."""
    return {"status": "ok"}


@router.get("/api/ready")
async def get_ready(request: Request) -> Response:
    """Report whether the server can accept answers now; 503 with the faults if not."""
    readiness: Readiness = request.app.state.readiness
    faults = await readiness.faults()
    if not faults:
        return JSONResponse({"status": "ready"})
    message = "; ".join(f"{part}: {fault}" for part, fault in faults.items())
    detail = {"code": "not-ready", "message": message, "faults": faults}
    return JSONResponse({"detail": detail}, status_code=503, headers=AGAIN)
