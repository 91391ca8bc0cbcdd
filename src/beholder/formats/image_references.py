"""How annotation tools refer to images: paths, addresses, uploads, and HTML; and what else a task says of them."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from beholder.formats.imported import UNKNOWN, ImageRecord
from beholder.images.formats import SUFFIXES

HTML_IMAGE = re.compile(r"<img\b[^>]*?\bsrc\s*=\s*[\"']([^\"']+)[\"']", re.IGNORECASE)
LOCAL_FILES, SERVED = "/data/local-files", "/data/"
PROMPTS = ("prompt", "caption", "text_prompt")
GENERATORS = ("generator", "model")
SUFFIXES_OF_SIDES = (("a", "b"), ("0", "1"), ("1", "2"), ("left", "right"))


def reference_in(content: object) -> str | None:
    """An image in a value of a task: a path or address with an image's ending, an upload, or an ``<img>``."""
    if not isinstance(content, str):
        return None
    html = HTML_IMAGE.search(content)
    reference = html.group(1) if html else content.strip()
    is_image = PurePosixPath(local_path(reference)).suffix.lower() in SUFFIXES and "\n" not in reference
    return reference if is_image else None


def local_path(reference: str) -> str:
    """Where the file of a reference lies below ``--images``: the path of an address, without its host."""
    parts = urlsplit(reference)
    if parts.path.rstrip("/") == LOCAL_FILES:
        return (parse_qs(parts.query).get("d") or [""])[0].lstrip("/")
    return unquote(parts.path).removeprefix(SERVED).lstrip("/")


def leaves_folder(reference: str) -> bool:
    """Whether its path leads out of the folder of images."""
    return ".." in PurePosixPath(local_path(reference)).parts


def references_in(values: Mapping[str, Any]) -> list[str]:
    """All images of a task, in the order of its fields; a list in a field counts value by value."""
    images = []
    for content in values.values():
        parts = content if isinstance(content, list) else [content]
        images += [reference for part in parts if (reference := reference_in(part)) is not None]
    return images


def prompt_in(values: Mapping[str, Any]) -> str | None:
    """The prompt of a task, if one of its fields is called so."""
    texts = (values.get(name) for name in PROMPTS)
    return next((text for text in texts if isinstance(text, str) and text), None)


def records_of(values: Mapping[str, Any], images: Sequence[str]) -> dict[str, ImageRecord]:
    """Prompt and generator of each image of a task."""
    prompt, generators = prompt_in(values), _generators(values, len(images))
    return {
        image: ImageRecord(prompt, generator=generator, path=local_path(image))
        for image, generator in zip(images, generators, strict=True)
    }


def default_folder(images: Path | None, project: Path, records: Mapping[str, ImageRecord]) -> Path | None:
    """Where the image files lie: as given, else next to the data if any of them is there."""
    if images is not None:
        return images
    return (
        project if any((project / (record.path or name)).is_file() for name, record in records.items()) else None
    )


def _generators(values: Mapping[str, Any], count: int) -> list[str]:
    """``generator`` or ``model``; of two images a list ``generators`` or fields ending in _a and _b, or so."""
    for name in GENERATORS:
        content = values.get(name)
        if isinstance(content, str) and content and count == 1:
            return [content]
        listed = values.get(f"{name}s")
        if isinstance(listed, list) and len(listed) == count and all(isinstance(part, str) for part in listed):
            return listed
        for suffixes in SUFFIXES_OF_SIDES:
            pair = [values.get(f"{name}_{suffix}") for suffix in suffixes]
            if count == len(pair) and all(isinstance(part, str) and part for part in pair):
                return [str(part) for part in pair]
    return [UNKNOWN] * count
