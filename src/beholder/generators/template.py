"""Placeholders of commands and requests: prompt, seed, size and the file to be written."""

import re
from collections.abc import Mapping

from beholder.workers.messages import ImageRequest


def fill(text: str, filling: Mapping[str, str]) -> str:
    """Replace the placeholders of a text in one pass: what is filled in is never taken for a placeholder.

    >>> fill("{prompt} {seed}", {"{prompt}": "a {seed}", "{seed}": "3"})
    'a {seed} 3'
    """
    return re.sub("|".join(map(re.escape, filling)), lambda match: filling[match[0]], text)


def filling_of(request: ImageRequest, output: str = "") -> dict[str, str]:
    """Return what stands for each placeholder; a size that was left out is empty."""
    return {
        "{prompt}": request.prompt,
        "{seed}": "" if request.seed is None else str(request.seed),
        "{width}": str(request.width or ""),
        "{height}": str(request.height or ""),
        "{output}": output,
    }
