"""The best of n images per prompt, which of them are good enough to train on, and what that truly gains."""

import csv
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from beholder.errors import StatisticsError
from beholder.generators.generator import Generator
from beholder.improve.calibration import Calibration, calibrate
from beholder.improve.candidates import Candidate, generate_candidates
from beholder.improve.critic import BATCH, Critic, Pixels
from beholder.improve.gains import Row, gain_row
from beholder.improve.improvement import Improvement
from beholder.improve.labelled import labelled_pictures
from beholder.improve.pictures import study_pictures
from beholder.improve.selection import ScoreThreshold, best_of, choose_threshold
from beholder.improve.truth import true_aspect, true_score
from beholder.improve.unseen import not_trained_on
from beholder.simulate.painter import GroundTruth
from beholder.study.study import load_study

Progress = Callable[[str, int, int], None]

Truth = Callable[[str, int], GroundTruth]
"""The ground truth of the image of a prompt and a seed."""

AT_ONCE = 2 * BATCH
"""Images that are scored between two reports."""


@dataclass(frozen=True, slots=True)
class FilterOptions:
    """What can be set of a filter."""

    candidates: int = 4
    prompts: int | None = None
    """At most so many of the study's prompts."""
    precision: float | None = 0.8
    """Proportion of good images among those kept, that the lower end of its confidence interval must reach;
    ``None``: the best of every prompt is kept."""
    good: float | None = None
    """The label, from 0 to 1, from which an image is good; the upper third by default."""


@dataclass(frozen=True, eq=False)
class FilterRun:
    """The candidates of each prompt, which were chosen, and what was gained."""

    candidates: tuple[tuple[Candidate, ...], ...]
    scores: NDArray[np.float64]  # (prompts, n)
    held_out: NDArray[np.float64] | None
    chosen: NDArray[np.int64]
    threshold: ScoreThreshold | None
    gains: tuple[Row, ...]
    truths: Mapping[Path, GroundTruth]
    settings: dict[str, object]


def run_filter(
    improvement: Improvement,
    generator: Generator,
    name: str,
    critic: Critic,
    *,
    held_out: Critic | None = None,
    options: FilterOptions,
    size: tuple[int | None, int | None] = (None, None),
    truth: Truth | None = None,
    progress: Progress | None = None,
) -> FilterRun:
    """Generate several images per prompt of the study, and choose the best; images are written, tables are not."""
    say, study = progress or (lambda _part, _done, _all: None), load_study(improvement.study)
    rng = np.random.default_rng([study.seed, 23])
    prompts = _prompts(improvement.study, options.prompts, rng)
    candidates = generate_candidates(
        improvement.folder,
        generator,
        name,
        prompts,
        options.candidates,
        size=size,
        seed=study.seed,
        progress=partial(say, "candidates"),
    )
    background = study.images.background
    images = [candidate.picture.read(background) for group in candidates for candidate in group]
    texts = [candidate.picture.prompt for group in candidates for candidate in group]
    shape = (len(candidates), options.candidates)
    own = _score(critic, images, texts, say, "scores").reshape(shape)
    other = None if held_out is None else _score(held_out, images, texts, say, "held-out scores").reshape(shape)
    chosen = best_of(own)
    say("labelled images", 0, 1)
    unseen = not_trained_on(improvement.study, study_pictures(improvement.study), (critic, held_out))
    labelled = labelled_pictures(improvement.study, critic.aspect, unseen)
    calibration = calibrate(labelled, critic, held_out, background, set(texts), rng)
    truths = (
        {}
        if truth is None
        else {c.picture.path: truth(c.picture.prompt, c.seed) for group in candidates for c in group}
    )
    scored = [array for array in (own, other) if array is not None]
    gains = _gains(candidates, scored, chosen, critic, held_out, calibration, truths)
    threshold = _threshold(calibration, options)
    settings: dict[str, object] = {
        "method": "filter",
        "generator": name,
        "identity": generator.identity.model_dump(mode="json"),
        "scorer": critic.name,
        "held_out": None if held_out is None else held_out.name,
        "options": asdict(options),
        "threshold": None if threshold is None else asdict(threshold),
    }
    groups = tuple(tuple(group) for group in candidates)
    return FilterRun(groups, own, other, chosen, threshold, tuple(gains), truths, settings)


def _score(
    critic: Critic, images: Sequence[Pixels], texts: Sequence[str], say: Progress, part: str
) -> NDArray[np.float64]:
    """Score images, and say how far it is."""
    parts = []
    for start in range(0, len(images), AT_ONCE):
        say(part, start, len(images))
        parts.append(critic.score(images[start : start + AT_ONCE], texts[start : start + AT_ONCE]))
    return np.concatenate(parts)


def _prompts(folder: Path, most: int | None, rng: np.random.Generator) -> list[str]:
    pictures = study_pictures(folder)
    prompts = list(dict.fromkeys(picture.prompt for picture in pictures))
    if most is None or len(prompts) <= most:
        return prompts
    return [prompts[place] for place in sorted(rng.choice(len(prompts), most, replace=False).tolist())]


def _threshold(calibration: Calibration | None, options: FilterOptions) -> ScoreThreshold | None:
    if calibration is None or options.precision is None:
        return None
    try:
        return choose_threshold(
            calibration.scores[:, 0], calibration.labels, good=options.good, precision=options.precision
        )
    except StatisticsError:  # too few labels: nothing is left out
        return None


def _gains(
    candidates: Sequence[Sequence[Candidate]],
    scores: Sequence[NDArray[np.float64]],
    chosen: NDArray[np.int64],
    critic: Critic,
    held_out: Critic | None,
    calibration: Calibration | None,
    truths: Mapping[Path, GroundTruth],
) -> list[Row]:
    """Return what the chosen images gain over a random candidate, by every measure there is."""
    prompts = [group[0].picture.prompt for group in candidates]
    rows = np.arange(len(candidates))
    measures = [("own", critic.name)] + ([("held-out", held_out.name)] if held_out is not None else [])
    gains = [
        gain_row(measure, name, array.mean(axis=1), array[rows, chosen], prompts)
        for (measure, name), array in zip(measures, scores, strict=True)
    ]
    if calibration is not None:
        forecast = calibration.forecast(np.stack(scores, axis=-1), chosen)
        if forecast is not None:
            gains.append(
                {
                    **{"measure": "forecast", "name": f"raters’ {calibration.aspect}", "gain": forecast.value},
                    **{"low": forecast.low, "high": forecast.high, "level": forecast.level},
                    **{"method": forecast.method, "images": len(prompts), "prompts": len(set(prompts))},
                }
            )
    if truths:
        aspect = true_aspect(critic.aspect)
        true = np.array([[true_score(truths[c.picture.path], aspect) for c in group] for group in candidates])
        best = float((true.max(axis=1) - true.mean(axis=1)).mean())
        gains.append(
            gain_row("ground truth", aspect, true.mean(axis=1), true[rows, chosen], prompts, possible=best)
        )
    return gains


def write_selected(improvement: Improvement, run: FilterRun, critic: Critic, held_out: Critic | None) -> list[Row]:
    """Copy the chosen images that pass into ``after``, with a list of their prompts; return rows of changes."""
    improvement.after.mkdir(parents=True, exist_ok=True)
    rows: list[Row] = []
    listed: list[tuple[str, str]] = []
    for number, group in enumerate(run.candidates):
        place = int(run.chosen[number])
        first, best = group[0].picture, group[place].picture
        score = float(run.scores[number, place])
        passes = run.threshold is None or score >= run.threshold.threshold
        after = best.path
        if passes:
            after = improvement.after / f"{number:04d}{best.path.suffix}"
            shutil.copyfile(best.path, after)
            listed.append((after.name, best.prompt))
        row: Row = {
            "change": f"filter-{number:04d}",
            "method": "filter",
            "generator": best.generator,
            "prompt": best.prompt,
            "before": improvement.relative(first.path),
            "after": improvement.relative(after),
            "tries": len(group),
            "scorer": critic.name,
            "own_before": float(run.scores[number, 0]),
            "own_after": score,
            "margin": None if run.threshold is None else run.threshold.threshold,
            "kept": passes,
            "reason": _reason(score, place, len(group), run.threshold),
        }
        if held_out is not None and run.held_out is not None:
            row |= {"held_out_scorer": held_out.name, "held_out_before": float(run.held_out[number, 0])}
            row["held_out_after"] = float(run.held_out[number, place])
        if run.truths:
            row["truth_before"], row["truth_after"] = (
                true_score(run.truths[picture.path], true_aspect(critic.aspect)) for picture in (first, best)
            )
        rows.append(row)
    with (improvement.after / "prompts.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerows([("file", "prompt"), *listed])
    return rows


def selected_truths(run: FilterRun, rows: Sequence[Row]) -> list[tuple[str, GroundTruth]]:
    """Return the ground truth of the images before and after, by path in the study folder."""
    if not run.truths:
        return []
    pairs = []
    for number, row in enumerate(rows):
        group = run.candidates[number]
        chosen = group[int(run.chosen[number])].picture.path
        pairs.append((str(row["before"]), run.truths[group[0].picture.path]))
        pairs.append((str(row["after"]), run.truths[chosen]))
    return pairs


def _reason(score: float, place: int, count: int, threshold: ScoreThreshold | None) -> str:
    which = f"number {place + 1} of {count} is the best"
    if threshold is None:
        return f"{which}; no threshold"
    passed = score >= threshold.threshold
    return f"{which}: {score:.3f} is {'at least' if passed else 'below'} {threshold.threshold:.3f}"
