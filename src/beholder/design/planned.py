"""The images that generators are going to make: known by generator and prompt before any of them exists.

A study can so be designed, and its numbers fitted, before its images are generated.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

import polars as pl

from beholder.design.intake import Intake
from beholder.images.folders import ImageEntry
from beholder.study.generating import AnyGenerator
from beholder.tables.prompt_id import prompt_id
from beholder.tables.schemas.new import IMAGES, PROMPTS
from beholder.tables.store import Store

NO_IMAGES = Intake(IMAGES.empty(), PROMPTS.empty(), (), {}, (), ())


def with_planned_images(intake: Intake, generators: Sequence[AnyGenerator], folder: Path) -> Intake:
    """Return images that exist together with one planned image per generator and curated prompt.

    Args:
        intake: images that exist, such as real ones.
        generators: what is going to make the others.
        folder: where prompts were curated.
    """
    store = Store(folder)
    if not store.has("curated_prompts"):
        fault = f"no prompts to generate from; choose some first: beholder curate {folder} --prompts FILE"
        return replace(intake, faults=(*intake.faults, fault))
    prompts = store.read("curated_prompts").select("text", "category").rows()
    entries = [_entry(generator.name, text, style) for generator in generators for text, style in prompts]
    rows: list[dict[str, object]] = [
        {
            "image": entry.image,
            "path": str(entry.file),
            "generator": entry.generator,
            "real": False,
            "gold": False,
            "prompt": prompt_id(entry.prompt or ""),
            "style": entry.style,
            "width": 1,
            "height": 1,
            "sha256": "",
        }
        for entry in entries
    ]
    present = {entry.generator for entry in intake.entries}
    twice = [
        f"generator '{generator.name}' has images already" for generator in generators if generator.name in present
    ]
    return replace(
        intake,
        images=pl.concat([intake.images, IMAGES.frame(rows)]),
        entries=(*intake.entries, *entries),
        faults=(*(fault for fault in intake.faults if "no generated images" not in fault), *twice),
    )


def _entry(generator: str, text: str, style: str | None) -> ImageEntry:
    below = PurePosixPath(f"{prompt_id(text)}-0")
    file = Path("generations", generator, below)
    return ImageEntry(f"{generator}/{below}", file, generator, False, False, text, style, below)
