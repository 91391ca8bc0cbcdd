"""Taking images into a study that exists: those that were generated since, and nothing else changes."""

from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from beholder.design.intake import Sources, gather_images
from beholder.errors import StageError, StudyError
from beholder.study.study import load_study
from beholder.tables.provenance import Provenance
from beholder.tables.rehearsals import is_rehearsed
from beholder.tables.stages import NEW
from beholder.tables.store import Store


@dataclass(frozen=True, slots=True)
class Added:
    """How many images of each generator were added, and notes."""

    images: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def add_generations(folder: Path) -> Added:
    """Add the images of ``generations`` to ``images`` of the same study, and their prompts to ``prompts``.

    A study without any images gets its first. Rows that are there stay as they are. Once raters have answered,
    nothing is added: the trials were drawn from the images as they were.
    """
    store = Store(folder)
    images = store.read_or_empty("images")
    intake = gather_images(Sources(generations=(folder,)), folder)
    fresh = intake.images.join(images, on="image", how="anti")
    kept = intake.images.join(images, on="image", how="semi")
    faults = [fault for fault in intake.faults if "no generated images" not in fault]
    faults += [
        f"image '{image}' is in the study with other bytes; give its generator another name"
        for image in kept.join(images, on=["image", "sha256"], how="anti")["image"]
    ]
    foreign = fresh.join(images.filter(~pl.col("gold")), on="generator", how="semi")["generator"].unique().sort()
    own = set(kept["generator"])
    faults += [
        f"the study has images of '{name}' that were not generated here; give the generator another name"
        for name in foreign
        if name not in own
    ]
    if faults:
        raise StudyError(f"{folder}: no image was added", faults)
    if fresh.is_empty():
        return Added(notes=intake.notes)
    if not images.is_empty() and store.has("answers") and not is_rehearsed(store):
        raise StageError(
            f"{folder}: raters have answered, and their trials were drawn from the images as they were: the "
            f"{fresh.height:,} new images were generated, but not added. Make a new study of all of them: "
            f"beholder new PROTOCOL OTHER_FOLDER --from-generations {folder}"
        )
    prompts = store.read_or_empty("prompts")
    new_prompts = intake.prompts.join(prompts, on="prompt", how="anti")
    frames = {"images": pl.concat([images, fresh]), "prompts": pl.concat([prompts, new_prompts])}
    before = store.provenance("images")
    record = Provenance(
        "new",
        before.settings if before else {},
        before.seed if before else load_study(folder).seed,
        {**(before.inputs if before else {}), "generations": store.hash("generations")},
    )
    store.within(NEW).write(frames, record)
    counts = dict(fresh.group_by("generator").len().sort("generator").iter_rows())
    return Added(counts, intake.notes)
