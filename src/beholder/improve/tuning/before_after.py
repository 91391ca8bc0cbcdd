"""Images of a generator before and after a change, written down: files, changes, gains, alarms, ground truth."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image

from beholder.improve.alarms.alarm import Alarm
from beholder.improve.gains import Row, gain_row
from beholder.improve.improvement import Improvement
from beholder.improve.record import record_improvement
from beholder.improve.truth import UNDETECTED, write_truth
from beholder.improve.tuning.generators import KnowsTruth
from beholder.improve.tuning.reward import Reward, to_bytes
from beholder.models.pipelines.generator import TrainableGenerator
from beholder.models.pipelines.sampling import Sample
from beholder.simulate.painter import GroundTruth
from beholder.study.study import load_study
from beholder.tables.provenance import Plain

ASPECTS = ("overall", "plausibility", "alignment", "aesthetics")


@dataclass(frozen=True, eq=False)
class SavedImages:
    """Images as they are saved, with their ground truth where the generator knows it."""

    prompts: tuple[str, ...]
    seeds: tuple[int, ...]
    pixels: NDArray[np.uint8]  # (n, height, width, 3)
    truths: tuple[GroundTruth, ...] = ()


def save_sample(
    generator: TrainableGenerator, drawn: Sample, prompts: Sequence[str], seeds: Sequence[int]
) -> SavedImages:
    """The images of a sample as they are saved."""
    truths: tuple[GroundTruth, ...] = ()
    if isinstance(generator, KnowsTruth):
        pictures = generator.pictures(drawn.latents, generator.context(prompts, seeds))
        truths = tuple(picture.truth for picture in pictures)
    return SavedImages(tuple(prompts), tuple(seeds), to_bytes(drawn.images), truths)


def score_images(reward: Reward, images: SavedImages) -> NDArray[np.float64]:
    """The rewards of saved images."""
    return reward.plain(torch.from_numpy(images.pixels).movedim(-1, 1).float() / 255, images.prompts)


def truth_gains(before: SavedImages, after: SavedImages, measure: str = "ground truth") -> list[Row]:
    """Rows of gains by the ground truth, one per aspect; none where it is not known."""
    if not (before.truths and after.truths):
        return []
    rows = [
        gain_row(
            measure,
            aspect,
            [getattr(truth, aspect) for truth in before.truths],
            [getattr(truth, aspect) for truth in after.truths],
            before.prompts,
            possible=1 - float(np.mean([getattr(truth, aspect) for truth in before.truths])),
        )
        for aspect in ASPECTS
    ]
    first, second = ([-truth.detectability for truth in images.truths] for images in (before, after))
    hidden = gain_row(measure, UNDETECTED, first, second, before.prompts, possible=-float(np.mean(first)))
    return [*rows, hidden]


@dataclass(frozen=True, eq=False)
class BeforeAfter:
    """What a change of a generator comes to: rows of the tables, and the ground truth by path."""

    changes: list[Row]
    gains: list[Row]
    truths: list[tuple[str, GroundTruth]]


def save_before_after(
    improvement: Improvement,
    method: str,
    generator: TrainableGenerator,
    before: SavedImages,
    after: SavedImages,
    *,
    reward: Reward | None,
    held_out: Reward | None,
    place: str = "",
) -> BeforeAfter:
    """Write the images below ``place`` in the folder of the improvement, and compare them; no table is written."""
    folder, prefix = improvement.folder / place, f"{place}-" if place else ""
    paths = [
        _save(improvement, folder / when, images, prefix)
        for when, images in (("before", before), ("after", after))
    ]
    scores = {
        measure: (scorer, score_images(scorer, before), score_images(scorer, after))
        for measure, scorer in (("own", reward), ("held-out", held_out))
        if scorer is not None
    }
    gains = [
        gain_row(measure, scorer.name, first, second, before.prompts)
        for measure, (scorer, first, second) in scores.items()
    ]
    changes = [
        _change(number, method, generator, before.prompts[number], paths[0][number], paths[1][number])
        | _scored(scores, number)
        | _true(before, after, number)
        for number in range(len(before.prompts))
    ]
    truths = (
        list(zip((*paths[0], *paths[1]), (*before.truths, *after.truths), strict=True))
        if before.truths and after.truths
        else []
    )
    return BeforeAfter(changes, [*gains, *truth_gains(before, after)], truths)


def write_before_after(
    improvement: Improvement,
    method: str,
    generator: TrainableGenerator,
    before: SavedImages,
    after: SavedImages,
    *,
    reward: Reward | None,
    held_out: Reward | None,
    alarms: Sequence[tuple[int, Alarm]],
    settings: Mapping[str, Plain],
    more_gains: Sequence[Row] = (),
) -> list[Row]:
    """Write the images and the tables of an improvement, and return the rows of gains."""
    compared = save_before_after(improvement, method, generator, before, after, reward=reward, held_out=held_out)
    if compared.truths:
        write_truth(improvement, compared.truths)
    gains = [*compared.gains, *more_gains]
    findings = [alarm.row(step) for step, alarm in alarms]
    rows: dict[str, Sequence[Mapping[str, object]]] = {
        "changes": compared.changes,
        "gains": gains,
        "alarms": findings,
    }
    record_improvement(improvement, rows, settings=settings, seed=load_study(improvement.study).seed)
    return gains


def _save(improvement: Improvement, folder: Path, images: SavedImages, prefix: str) -> list[str]:
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for number, pixels in enumerate(images.pixels):
        path = folder / f"{prefix}{number:04d}.png"
        Image.fromarray(pixels).save(path, compress_level=1)
        paths.append(improvement.relative(path))
    return paths


def _change(
    number: int, method: str, generator: TrainableGenerator, prompt: str, before: str, after: str
) -> dict[str, object]:
    return {
        "change": f"{method}-{number:04d}",
        "method": method,
        "generator": generator.identity.name,
        "prompt": prompt,
        "before": before,
        "after": after,
        "kept": True,
        "reason": "generated again from the same noise",
    }


def _scored(
    scores: Mapping[str, tuple[Reward, NDArray[np.float64], NDArray[np.float64]]], number: int
) -> dict[str, object]:
    columns: dict[str, object] = {}
    for measure, name in (("own", "scorer"), ("held-out", "held_out_scorer")):
        if measure in scores:
            scorer, before, after = scores[measure]
            prefix = measure.replace("-", "_")
            columns |= {name: scorer.name, f"{prefix}_before": before[number], f"{prefix}_after": after[number]}
    return columns


def _true(before: SavedImages, after: SavedImages, number: int) -> dict[str, object]:
    if not (before.truths and after.truths):
        return {}
    return {"truth_before": before.truths[number].overall, "truth_after": after.truths[number].overall}
