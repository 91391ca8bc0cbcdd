"""Coverage of the forecast of what the best of n truly gains.

    python benchmarks/improve_filter.py FOLDER [--seeds 200] [--seed 0]

FOLDER is that of improve_world.py. A pool of unseen prompts is painted and scored once by both scorers; every
seed draws prompts to filter and other prompts of which raters labelled one image each (three simulated raters of
sixty, on the five-point scale of rich feedback). The forecast for the filtered images is compared with their
ground truth.
"""

import argparse
from pathlib import Path

import numpy as np
import torch
from improve_world import train_scorers
from numpy.typing import NDArray

from beholder.improve.critic import Critic, load_critic
from beholder.improve.selection import best_of
from beholder.simulate.grammar import draw_requests, prompt_text
from beholder.simulate.inpainting.origins import Origin
from beholder.simulate.painter import GroundTruth
from beholder.simulate.policies import GENERATORS
from beholder.simulate.raters import draw_raters
from beholder.simulate.sight import ASPECTS, View, sight_of
from beholder.stats.intervals.proportions import wilson
from beholder.stats.prediction.selected_gain import selected_gain
from beholder.study.kinds.rich_feedback import RichFeedbackQuestion

POLICY, SIZE, CANDIDATES = GENERATORS[2], 192, 4
PROMPTS, LABELLED = 150, 300
DRAWN, DRAWN_LABELLED, RATERS = 60, 150, 3
ASPECT = "plausibility"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--pool", type=int, default=0, help="another pool of prompts")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    file = arguments.folder / f"filter-pool-{arguments.pool}.npz"
    if not file.is_file():
        np.savez(file, **paint_pool(arguments.pool))  # type: ignore[arg-type]
    pool = dict(np.load(file))
    scored = arguments.folder / f"filter-scores-{arguments.pool}.npz"
    if not scored.is_file():
        critics = [load_critic(str(model)) for model in train_scorers(arguments.folder)]
        np.savez(scored, **score_pool(critics, pool))  # type: ignore[arg-type]
    pool |= dict(np.load(scored))
    ratings = expected_ratings(arguments.pool)
    rows = np.array(
        [forecast(pool, ratings, np.random.default_rng([arguments.seed, s])) for s in range(arguments.seeds)]
    )
    for name, column in (("raters' scale", 0), ("ground truth", 1)):
        covered = int(rows[:, column].sum())
        low, high = wilson(covered, len(rows))
        rate_text = f"{covered / len(rows):.1%} [{float(low):.1%}, {float(high):.1%}]"
        print(f"{name}: true gain covered for {rate_text} of {len(rows)} seeds")
    names = (
        *("half-width", "true gain on the raters' scale", "true gain in ground truth", "forecast"),
        *("by the scorer that chose", "by the held-out scorer"),
    )
    for name, column in zip(names, rows[:, 2:].T, strict=True):
        print(f"{name}: median {np.median(column):.4f}, mean {column.mean():.4f}")


def expected_ratings(pool: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean rating, from 0 to 1, of all raters of images of each quality from 0 to 1."""
    raters = draw_raters(60, 0, np.random.default_rng(32_000 + pool))
    rng = np.random.default_rng(35_000)
    quality = np.linspace(0, 1, 101)
    means = []
    for rater in raters:
        noise = rng.normal(0, rater.noise * (1 + 0.5 * rater.drift), (400, 1))
        perceived = np.clip(quality + rater.leniency + noise, 0, 1)
        means.append((np.floor(4 * perceived + 0.5) / 4).mean(axis=0))
    return quality, np.mean(means, axis=0)


def paint_pool(pool: int) -> dict[str, NDArray[np.generic]]:
    """Paint candidates and labelled images, with their ground truth, and let raters label the latter."""
    requests = draw_requests(PROMPTS + LABELLED, np.random.default_rng(31_000 + pool))
    arrays: dict[str, NDArray[np.generic]] = {"prompts": np.array([prompt_text(r) for r in requests])}
    raters = draw_raters(60, 0, np.random.default_rng(32_000 + pool))
    rng = np.random.default_rng(33_000 + pool)
    labels = []
    for name, part, each in (("filter", requests[:PROMPTS], CANDIDATES), ("labelled", requests[PROMPTS:], 1)):
        truths, images = [], []
        for number, request in enumerate(part):
            seeds = [(34_000 + pool, len(name), number, which) for which in range(each)]
            pictures = [Origin(prompt_text(request), POLICY, seed, SIZE).paint().flatten() for seed in seeds]
            images.append([picture.pixels for picture in pictures])
            truths.append([picture.truth.plausibility for picture in pictures])
            if name == "labelled":
                who = rng.choice(len(raters), RATERS, replace=False)
                labels.append([rate(raters[r], pictures[0].truth, rng) for r in who])
        arrays[f"{name}-truth"], arrays[f"{name}-images"] = np.array(truths), np.array(images)
    return arrays | {"labels": np.array(labels)}


def score_pool(critics: list[Critic], pool: dict[str, NDArray[np.generic]]) -> dict[str, NDArray[np.float64]]:
    """Score all images by all scorers: arrays (prompts, n, scorers)."""
    scores: dict[str, NDArray[np.float64]] = {}
    prompts = pool["prompts"].tolist()
    for name, texts in (("filter", prompts[:PROMPTS]), ("labelled", prompts[PROMPTS:])):
        images = pool[f"{name}-images"].astype(np.uint8)
        each = images.shape[1]
        flat = list(images.reshape(-1, SIZE, SIZE, 3))
        repeated = [text for text in texts for _ in range(each)]
        columns = [critic.score(flat, repeated).reshape(-1, each) for critic in critics]
        scores[f"{name}-scores"] = np.stack(columns, axis=-1)
    return scores


def rate(rater: object, truth: GroundTruth, rng: np.random.Generator) -> float:
    """Return a simulated rater's rating of the aspect, from 0 to 1."""
    view = View(truth.detectability, {aspect: getattr(truth, aspect) for aspect in ASPECTS})
    sensed = rater.sense(sight_of([view]), progress=0.5, exposure_ms=None, rng=rng)  # type: ignore[attr-defined]
    question = RichFeedbackQuestion(name="rich")
    low, high = question.scale()
    return (question.place(float(sensed.quality[ASPECT][0])) - low) / (high - low)


def forecast(
    pool: dict[str, NDArray[np.float64]],
    expected: tuple[NDArray[np.float64], NDArray[np.float64]],
    rng: np.random.Generator,
) -> tuple[bool, bool, float, float, float, float, float, float]:
    """Filter some prompts, forecast by others, and compare with what all raters would say, and with the truth."""
    filtered = rng.choice(PROMPTS, DRAWN, replace=False)
    labelled = rng.choice(LABELLED, DRAWN_LABELLED, replace=False)
    scores, truth = pool["filter-scores"][filtered], pool["filter-truth"][filtered]
    ratings = pool["labels"][labelled]
    chosen = best_of(scores[..., 0])
    predicted = selected_gain(
        ratings.mean(axis=1),
        pool["labelled-scores"][labelled, 0],
        scores,
        chosen,
        label_variance=float((ratings.var(axis=1, ddof=1) / RATERS).mean()),
    )
    rows = np.arange(DRAWN)
    rated = np.interp(truth, *expected)
    by_raters = float(rated[rows, chosen].mean() - rated.mean())
    true = float(truth[rows, chosen].mean() - truth.mean())
    gain = predicted.gain
    own, other = predicted.naive.tolist()
    return (
        gain.low <= by_raters <= gain.high,
        gain.low <= true <= gain.high,
        (gain.high - gain.low) / 2,
        by_raters,
        true,
        gain.value,
        own,
        other,
    )


if __name__ == "__main__":
    main()
