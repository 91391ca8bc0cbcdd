"""Every text of the pages, by language; and which text of a study's own is in a language."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from beholder.errors import RefusedError

TEXTS = Path(__file__).parent.parent / "texts"


@cache
def texts(language: str) -> dict[str, Any]:
    """Load the texts of a language; refuse an unknown one."""
    path = TEXTS / f"{language}.json"
    if not path.is_file():
        raise RefusedError(404, "no-such-language", f"there are no texts in '{language}'")
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


@cache
def panel_texts(language: str) -> dict[str, Any]:
    """Load the texts of a panel's pages, with those that they share with a study's."""
    common = texts(language)  # refuses an unknown one
    path = TEXTS / "panel" / f"{language}.json"
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return common | content


@cache
def researcher_texts(language: str) -> dict[str, Any]:
    """Load the texts of the researcher's pages, of a study and of a panel; refuse an unknown language."""
    paths = [TEXTS / room / f"{language}.json" for room in ("researcher", "panel/researcher")]
    if not paths[0].is_file():
        raise RefusedError(404, "no-such-language", f"there are no texts in '{language}'")
    content: dict[str, Any] = {}
    for path in paths:
        content |= json.loads(path.read_text(encoding="utf-8"))
    return content


def text_in(language: str, by_language: Mapping[Any, str]) -> str:
    """Return a study's own text in a language; else in English, else in any; empty if there is none."""
    choices = {str(code): text for code, text in by_language.items()}
    return choices.get(language) or choices.get("en") or next(iter(choices.values()), "")
