"""The repair of a study's images: settings chosen on some prompts, images of the others repaired and written."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np
from PIL import Image

from beholder.errors import UserError
from beholder.improve.choosing import RepairChoice, choose_repair
from beholder.improve.critic import MAP_OF, Critic, Heatmap, Pixels
from beholder.improve.gains import Row, gain_row
from beholder.improve.improvement import Improvement
from beholder.improve.masks import build_mask, shift_mask
from beholder.improve.pictures import SplitPictures, StudyPicture, split_pictures, study_pictures
from beholder.improve.record import record_improvement
from beholder.improve.repair import Repair, repair_images
from beholder.improve.truth import write_truth
from beholder.models.pipelines.inpainter import Inpainter
from beholder.scorers.rich.rater_feedback import open_rater_feedback
from beholder.simulate.inpainting.oracle import WorldInpainter
from beholder.simulate.inpainting.origins import Origin, study_origins
from beholder.simulate.painter import GroundTruth
from beholder.study.study import load_study
from beholder.study.words import split_words

Progress = Callable[[str, int, int], None]
"""Called with the part of the work, how much of it is done, and all."""


@dataclass(frozen=True, slots=True)
class RepairOptions:
    """What can be set of a repair."""

    generator: str | None = None
    by_raters: bool = False
    """Whether heatmaps are those that raters marked, instead of the scorer's."""
    tries: int = 4
    margin: float | None = None
    """In place of the one that follows from the scorer's interval."""
    images: int | None = None
    """At most so many are repaired."""
    control: bool = True
    """Whether masks of the same area at random places are repaired too, to compare with."""


@dataclass(frozen=True, eq=False)
class RepairRun:
    """Images that were repaired, by which settings, and what was gained."""

    pictures: tuple[StudyPicture, ...]
    heatmaps: tuple[Heatmap, ...]
    repairs: tuple[Repair, ...]
    choice: RepairChoice
    gains: tuple[Row, ...]
    settings: dict[str, object]


def run_repair(
    improvement: Improvement,
    critic: Critic,
    inpainter: Inpainter,
    *,
    held_out: Critic | None = None,
    options: RepairOptions | None = None,
    progress: Progress | None = None,
) -> RepairRun:
    """Repair images of a study, and write what came of it into the improvement's folder.

    Args:
        improvement: Where to.
        critic: Scores, and points at what is wrong.
        inpainter: Paints.
        held_out: A scorer that has no say in which changes are kept: it chooses settings on other images, and
            measures the gain.
        options: What can be set.
        progress: Called as work proceeds.

    Returns:
        The choice of settings, the repairs and the gains.
    """
    chosen, study = options or RepairOptions(), load_study(improvement.study)
    pictures = study_pictures(improvement.study, chosen.generator)
    split = split_pictures(pictures, np.random.default_rng([study.seed, 21]), most=chosen.images)
    introduce(inpainter, (*split.development, *split.improved), lambda: study_origins(improvement.study))
    run = repair_split(
        improvement.study, split, critic, inpainter, held_out=held_out, options=chosen, progress=progress
    )
    begin_folder(improvement)
    rows, truths = write_repairs(improvement, run, critic, inpainter, held_out)
    if truths:
        write_truth(improvement, truths)
    record_improvement(
        improvement,
        {"changes": rows, "gains": run.gains, "alarms": [], "proofs": []},
        settings=run.settings,  # type: ignore[arg-type]
        seed=study.seed,
    )
    return run


def repair_split(
    folder: Path,
    split: SplitPictures,
    critic: Critic,
    inpainter: Inpainter,
    *,
    held_out: Critic | None = None,
    options: RepairOptions,
    progress: Progress | None = None,
) -> RepairRun:
    """Choose settings on the development images and repair the others; nothing is written."""
    say, study = progress or (lambda _part, _done, _all: None), load_study(folder)
    both = (*split.development, *split.improved)
    images = [picture.read(study.images.background) for picture in both]
    prompts = [picture.prompt for picture in both]
    maps = find_heatmaps(folder, both, images, critic, by_raters=options.by_raters)
    count, rng = len(split.development), np.random.default_rng([study.seed, 22])
    choice = choose_repair(
        images[:count],
        prompts[:count],
        maps[:count],
        critic,
        inpainter,
        held_out=held_out,
        tries=options.tries,
        margin=options.margin,
        seed=study.seed,
        progress=partial(say, "settings"),
    )
    images, prompts, maps = images[count:], prompts[count:], maps[count:]
    masks = [build_mask(h, i.shape[:2], choice.masks) for h, i in zip(maps, images, strict=True)]
    parts = {"repair": masks, "control": [shift_mask(mask, rng) for mask in masks] if options.control else []}
    repairs, controls = (
        repair_images(
            images if part_masks else [],
            prompts if part_masks else [],
            part_masks,
            critic,
            inpainter,
            tries=options.tries,
            margin=choice.margin,
            seed=study.seed + 1,
            progress=partial(say, part),
        )
        for part, part_masks in parts.items()
    )
    gains = repair_gains(repairs, controls, prompts, critic, held_out, inpainter)
    settings: dict[str, object] = {
        "method": "repair",
        "scorer": critic.name,
        "held_out": None if held_out is None else held_out.name,
        "inpainter": inpainter.identity,
        "options": asdict(options),
        "choice": asdict(choice),
    }
    return RepairRun(split.improved, tuple(maps), tuple(repairs), choice, tuple(gains), settings)


def find_heatmaps(
    folder: Path, pictures: Sequence[StudyPicture], images: Sequence[Pixels], critic: Critic, *, by_raters: bool
) -> list[Heatmap]:
    """Return where each image is wrong, by the scorer or by the raters of the study."""
    if not by_raters:
        if critic.heatmaps is None:
            raise UserError(
                f"{critic.name} does not say where an image is wrong: name a rich-feedback model with --scorer, "
                "or use what raters marked with --by-raters"
            )
        return critic.heatmaps(images, [picture.prompt for picture in pictures])
    feedback, aspect = open_rater_feedback(folder).labels, MAP_OF.get(critic.aspect, "implausibility")
    maps = []
    for picture, image in zip(pictures, images, strict=True):
        of_image = feedback.feedback(picture.image, len(split_words(picture.prompt)))
        marked = None if of_image is None else of_image.heatmaps.get(aspect)
        maps.append(np.zeros(image.shape[:2], np.float32) if marked is None else marked)
    return maps


def repair_gains(
    repairs: Sequence[Repair],
    controls: Sequence[Repair],
    prompts: Sequence[str],
    critic: Critic,
    held_out: Critic | None,
    inpainter: Inpainter,
) -> list[Row]:
    """Return the gain by the scorer that chose, a held-out one, and the ground truth with its control."""
    before, after = [repair.before for repair in repairs], [repair.after for repair in repairs]
    own = [repair.own_before for repair in repairs], [repair.own_after for repair in repairs]
    rows = [gain_row("own", critic.name, *own, prompts)]
    if held_out is not None:
        scores = held_out.score(before, prompts), held_out.score(after, prompts)
        rows.append(gain_row("held-out", held_out.name, *scores, prompts))
    if isinstance(inpainter, WorldInpainter):
        aspect = critic.aspect
        truth = [getattr(inpainter.truth(image), aspect) for image in before]
        best = [getattr(inpainter.possible(image), aspect) for image in before]
        possible = float(np.mean(best) - np.mean(truth))
        true_after = [getattr(inpainter.truth(image), aspect) for image in after]
        rows.append(gain_row("ground truth", aspect, truth, true_after, prompts, possible=possible))
        if controls:
            elsewhere = [getattr(inpainter.truth(repair.after), aspect) for repair in controls]
            rows.append(gain_row("control", aspect, truth, elsewhere, prompts, possible=possible))
    return rows


def introduce(
    inpainter: Inpainter, pictures: Sequence[StudyPicture], origins: Callable[[], Mapping[str, Origin]]
) -> None:
    """Let an inpainter of the synthetic world know how the images were painted."""
    if isinstance(inpainter, WorldInpainter):
        by_image = origins()
        for picture in pictures:
            inpainter.know(by_image[picture.image])


def write_repairs(
    improvement: Improvement, run: RepairRun, critic: Critic, inpainter: Inpainter, held_out: Critic | None
) -> tuple[list[Row], list[tuple[str, GroundTruth]]]:
    """Write images, masks and heatmaps; return the rows of the changes, and the ground truth by path."""
    prompts = [picture.prompt for picture in run.pictures]
    before, after = ([getattr(repair, when) for repair in run.repairs] for when in ("before", "after"))
    scores = None if held_out is None else (held_out.score(before, prompts), held_out.score(after, prompts))
    rows: list[Row] = []
    truths: list[tuple[str, GroundTruth]] = []
    for number, (picture, heatmap, repair) in enumerate(zip(run.pictures, run.heatmaps, run.repairs, strict=True)):
        row = _repair_row(improvement, number, picture, heatmap, repair)
        row |= {"scorer": critic.name, "margin": run.choice.margin}
        if held_out is not None and scores is not None:
            row |= {"held_out_scorer": held_out.name}
            row |= {"held_out_before": float(scores[0][number]), "held_out_after": float(scores[1][number])}
        if isinstance(inpainter, WorldInpainter):
            pair = inpainter.truth(repair.before), inpainter.truth(repair.after)
            row["truth_before"], row["truth_after"] = (getattr(truth, critic.aspect) for truth in pair)
            truths += zip((str(row["before"]), str(row["after"])), pair, strict=True)
        rows.append(row)
    return rows, truths


def begin_folder(improvement: Improvement) -> None:
    """Make the folder of an improvement, empty."""
    if improvement.folder.exists():
        shutil.rmtree(improvement.folder)
    improvement.after.mkdir(parents=True)
    improvement.masks.mkdir()


def _repair_row(
    improvement: Improvement, number: int, picture: StudyPicture, heatmap: Heatmap, repair: Repair
) -> Row:
    """Write the files of one repair, and return its row."""
    after = picture.path
    if repair.accepted:
        after = improvement.after / f"repaired-{number:04d}.png"
        Image.fromarray(repair.after).save(after)
    mask, levels = (improvement.masks / f"{number:04d}-{part}.png" for part in ("mask", "heatmap"))
    Image.fromarray(repair.mask).save(mask)
    Image.fromarray(np.rint(np.clip(heatmap, 0, 1) * 255).astype(np.uint8)).save(levels)
    return {
        "change": f"repair-{number:04d}",
        "method": "repair",
        "generator": picture.generator,
        "prompt": picture.prompt,
        "image": picture.image or None,
        "before": improvement.relative(picture.path),
        "after": improvement.relative(after),
        "mask": improvement.relative(mask),
        "heatmap": improvement.relative(levels),
        "area": repair.area,
        "tries": repair.tries,
        "own_before": repair.own_before,
        "own_after": repair.own_after,
        "kept": repair.accepted,
        "reason": repair.reason,
    }
