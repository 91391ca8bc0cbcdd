"""The pages themselves and their texts: files that hold no data of the study."""

import json
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter
from fastapi import Path as PathParameter
from fastapi.responses import FileResponse
from fastapi.staticfiles import StaticFiles

from beholder.errors import RefusedError

HERE = Path(__file__).parent.parent
PAGES, TEXTS = HERE / "pages", HERE / "texts"

router = APIRouter(tags=["pages"])


def static_files() -> StaticFiles:
    """Scripts and styles."""
    return StaticFiles(directory=PAGES)


@router.get("/", include_in_schema=False)
@router.get("/q/{question}", include_in_schema=False)
@router.get("/i/{invitation}", include_in_schema=False)
@router.get("/r/{resume}", include_in_schema=False)
def get_page() -> FileResponse:
    """The page of people who judge; it asks for everything itself."""
    return FileResponse(PAGES / "index.html", headers={"Cache-Control": "no-cache"})


@router.get("/api/texts/{language}")
def get_texts(language: Annotated[str, PathParameter(pattern="^[a-z]{2}$")]) -> dict[str, Any]:
    """All texts of a language."""
    return texts(language)


@router.get("/api/health")
def get_health() -> dict[str, str]:
    """Whether the server answers."""
    return {"status": "ok"}


@cache
def texts(language: str) -> dict[str, Any]:
    """The texts of a language, or a refusal."""
    path = TEXTS / f"{language}.json"
    if not path.is_file():
        raise RefusedError(404, "no-such-language", f"there are no texts in '{language}'")
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content
