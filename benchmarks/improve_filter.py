"""Coverage of the forecast of what the best of n truly gains.

    python benchmarks/improve_filter.py FOLDER [--pool 0] [--seeds 200] [--seed 0]

FOLDER is that of improve_world.py. A pool of 800 unseen prompts with four images each is painted and scored once
by both scorers. Every seed draws 60 prompts to filter and 150 others, of which three simulated raters of 60 rate
the first image on the five points of rich feedback; so seeds share few images. The forecast for the filtered
images is compared with their ground truth, and so is that from mean ratings as if these were the quality itself.
"""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from improve_world import train_scorers
from numpy.typing import NDArray

from beholder.improve.critic import Critic, load_critic
from beholder.improve.selection import best_of
from beholder.simulate.grammar import draw_requests, prompt_text
from beholder.simulate.inpainting.origins import Origin
from beholder.simulate.policies import GENERATORS
from beholder.simulate.raters import SimulatedRater, draw_raters
from beholder.simulate.sight import ASPECTS, View, sight_of
from beholder.stats.intervals.proportions import wilson
from beholder.stats.prediction.selected_gain import selected_gain, selected_gain_of_ratings
from beholder.study.kinds.rich_feedback import RichFeedbackQuestion

POLICY, SIZE, CANDIDATES, PROMPTS = GENERATORS[2], 192, 4, 800
DRAWN, DRAWN_RATED, RATERS, PEOPLE = 60, 150, 3, 60
ASPECT = "plausibility"
BATCH = 40
QUESTION = RichFeedbackQuestion(name="rich")

Pool = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Ground truth (prompts, candidates), and scores (prompts, candidates, scorers)."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--pool", type=int, default=0, help="another pool of prompts and of raters")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    truth, scores = make_pool(arguments.folder, arguments.pool)
    raters = draw_raters(PEOPLE, 0, np.random.default_rng(42_000 + arguments.pool))
    rows = np.array(
        [
            forecast(truth, scores, raters, np.random.default_rng([arguments.seed, arguments.pool, seed]))
            for seed in range(arguments.seeds)
        ]
    )
    for name, column in (("forecast", 0), ("from mean ratings", 1)):
        covered = int(rows[:, column].sum())
        low, high = wilson(covered, len(rows))
        rate_text = f"{covered / len(rows):.1%} [{float(low):.1%}, {float(high):.1%}]"
        print(f"{name}: true gain covered for {rate_text} of {len(rows)} seeds")
    names = (
        *("half-width", "true gain", "forecast", "from mean ratings"),
        *("by the scorer that chose", "by the held-out scorer"),
    )
    for name, column in zip(names, rows[:, 2:].T, strict=True):
        print(f"{name}: median {np.median(column):.4f}, mean {column.mean():.4f}")


def make_pool(folder: Path, pool: int) -> Pool:
    """Paint and score a pool of prompts, unless that is done."""
    file = folder / f"filter-{pool}.npz"
    if not file.is_file():
        began = time.process_time()
        critics = [load_critic(str(model)) for model in train_scorers(folder)]
        requests = draw_requests(PROMPTS, np.random.default_rng(41_000 + pool))
        prompts = [prompt_text(request) for request in requests]
        parts = [
            paint_and_score(critics, prompts[start : start + BATCH], (44_000 + pool, start))
            for start in range(0, PROMPTS, BATCH)
        ]
        truth, scores = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        np.savez(file, truth=truth, scores=scores)
        print(f"painted and scored: {time.process_time() - began:.0f} CPU s", flush=True)
    arrays = np.load(file)
    return arrays["truth"], arrays["scores"]


def paint_and_score(critics: list[Critic], prompts: list[str], seed: tuple[int, int]) -> Pool:
    """Ground truth and scores of some prompts' candidates."""
    places = [(number, which) for number in range(len(prompts)) for which in range(CANDIDATES)]
    pictures = [
        Origin(prompts[number], POLICY, (*seed, number, which), SIZE).paint().flatten() for number, which in places
    ]
    images, texts = [picture.pixels for picture in pictures], [prompts[number] for number, _ in places]
    truth = np.array([getattr(picture.truth, ASPECT) for picture in pictures]).reshape(-1, CANDIDATES)
    columns = [critic.score(images, texts).reshape(-1, CANDIDATES) for critic in critics]
    return truth, np.stack(columns, axis=-1)


def rate(rater: SimulatedRater, quality: float, rng: np.random.Generator) -> float:
    """Return a simulated rater's rating of the aspect, from 0 to 1."""
    view = View(1.0, dict.fromkeys(ASPECTS, quality))
    sensed = rater.sense(sight_of([view]), progress=0.5, exposure_ms=None, rng=rng)
    low, high = QUESTION.scale()
    return (QUESTION.place(float(sensed.quality[ASPECT][0])) - low) / (high - low)


def forecast(
    truth: NDArray[np.float64],
    scores: NDArray[np.float64],
    raters: Sequence[SimulatedRater],
    rng: np.random.Generator,
) -> tuple[bool, bool, float, float, float, float, float, float]:
    """Filter some prompts, forecast by ratings of others, and compare with the truth."""
    order = rng.permutation(len(truth))
    filtered, rated = order[:DRAWN], order[DRAWN : DRAWN + DRAWN_RATED]
    ratings = np.array(
        [
            [rate(raters[who], float(truth[place, 0]), rng) for who in rng.choice(PEOPLE, RATERS, replace=False)]
            for place in rated
        ]
    )
    chosen, others = best_of(scores[filtered, :, 0]), scores[rated, 0]
    rows = np.repeat(np.arange(DRAWN_RATED), RATERS)
    ahead = selected_gain_of_ratings(ratings.ravel(), rows, QUESTION.points, others, scores[filtered], chosen)
    noise = float((ratings.var(axis=1, ddof=1) / RATERS).mean())
    plain = selected_gain(ratings.mean(axis=1), others, scores[filtered], chosen, label_variance=noise).gain
    true = float(truth[filtered, chosen].mean() - truth[filtered].mean())
    gain = ahead.gain
    own, other = ahead.naive.tolist()
    return (
        gain.low <= true <= gain.high,
        plain.low <= true <= plain.high,
        (gain.high - gain.low) / 2,
        true,
        gain.value,
        plain.value,
        own,
        other,
    )


if __name__ == "__main__":
    main()
