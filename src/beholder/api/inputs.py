"""Images and prompts as callers pass them: files, folders, images in memory; one prompt, or one for each."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from beholder.errors import UserError
from beholder.images.background import DEFAULT_BACKGROUND
from beholder.images.in_memory import InMemory, pixels_of
from beholder.images.lazy import Chained
from beholder.images.sources import ArrayImage, ImageSource, captions, find_images

Images: TypeAlias = str | Path | InMemory | Sequence[str | Path | InMemory]
"""Paths (files, folders, globs, manifests, tar files, arrays on disk), images in memory (Pillow, arrays, tensors,
one or a batch), or several of these."""

Prompts: TypeAlias = str | Sequence[str] | Mapping[str, str] | None
"""One for all images; one for each, in order; by the name of the image; or none."""


def sources_of(images: Images, background: str = DEFAULT_BACKGROUND) -> Sequence[ImageSource]:
    """Return the sources of files and folders and of images in memory, which are called ``image 1`` and so on."""
    several = images if isinstance(images, Sequence) and not isinstance(images, str) else [images]
    sources: list[Sequence[ImageSource]] = []
    before = 0
    paths: list[str | Path] = []
    for image in several:
        if isinstance(image, str | Path):
            paths.append(image)
            continue
        if paths:
            sources.append(find_images(*paths))
            before += len(sources[-1])
        paths = []
        pictures = enumerate(pixels_of(image, background), start=before + 1)
        sources.append([ArrayImage(f"image {number}", pixels) for number, pixels in pictures])
        before += len(sources[-1])
    return Chained([*sources, find_images(*paths)] if paths or not several else sources)


def prompts_of(prompts: Prompts, pictures: Sequence[ImageSource]) -> list[str | None]:
    """Return the prompt of each picture; without any, those that tar or Parquet files have."""
    if prompts is None:
        return list(captions(pictures))
    if isinstance(prompts, str):
        return [prompts] * len(pictures)
    if isinstance(prompts, Mapping):
        texts = [prompts.get(picture.name, prompts.get(Path(picture.name).name)) for picture in pictures]
        missing = [picture.name for picture, text in zip(pictures, texts, strict=True) if text is None]
        if missing:
            more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
            raise UserError(f"no prompt for {', '.join(missing[:5])}{more}")
        return texts
    if len(prompts) != len(pictures):
        raise UserError(f"{len(prompts)} prompts for {len(pictures)} images; give one for all, or one for each")
    return list(prompts)
