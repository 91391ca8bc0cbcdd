"""Ground-truth ratings: the expected ratings with infinitely many honest raters, which a study should estimate.

For each image (or pair) of the trials the probability of every answer is known in closed form for a given rater;
it is averaged over many honest raters, and the ratings are computed from these averages by the same formulas that
the rank stage applies to answers. Confidence intervals over raters should cover these values.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import ndtr

from beholder.simulate.raters import SimulatedRater, draw_raters
from beholder.simulate.sight import View
from beholder.stats.comparisons.bradley_terry import bradley_terry
from beholder.study.kinds.catalogue import AnyQuestion, kind_of
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.rating import FELT_AS, RatingQuestion
from beholder.study.kinds.realism import RealismQuestion

HONEST_RATERS = 2000
"""Number of honest raters over whom expectations are taken."""

BLOCK = 500
"""Images or pairs for which all raters' probabilities are computed at a time."""

Row = dict[str, object]


def expected_ratings(
    question: AnyQuestion,
    trials: pl.DataFrame,
    images: pl.DataFrame,
    views: Mapping[str, View],
    *,
    rng: np.random.Generator,
) -> list[Row]:
    """Return rows of ``ratings`` with each generator's expected rating; none for kinds without a closed form."""
    raters = draw_raters(HONEST_RATERS, 0, rng)
    expected_by = kind_of(question).traits.expected_by
    return [] if expected_by is None else EXPECTATIONS[expected_by](question, trials, images, views, raters)


def chance_of_generated(
    detectability: NDArray[np.float64], raters: tuple[SimulatedRater, ...]
) -> NDArray[np.float64]:
    """Return the mean probability of *generated*: Φ(d·acuity − criterion), or ½ after a lapse."""
    acuity, criterion, lapse = (_column(raters, name)[:, None] for name in ("acuity", "criterion", "lapse"))
    chance = ndtr(acuity * detectability[None, :] - criterion)  # (raters, images)
    return np.asarray(((1 - lapse) * chance + lapse * 0.5).mean(axis=0))


def expected_opinion(
    question: RatingQuestion, quality: NDArray[np.float64], raters: tuple[SimulatedRater, ...]
) -> NDArray[np.float64]:
    """Return the mean rating: 1 + Σ over the category boundaries (cuts) of P(perceived quality above the cut)."""
    leniency, noise, lapse = (_column(raters, name)[:, None] for name in ("leniency", "noise", "lapse"))
    low, high = question.scale()
    steps = question.points - 1 if question.points else 1000
    total = np.zeros((len(raters), len(quality)))
    for step in range(steps):
        cut = (step + 0.5) / steps
        total += ndtr((quality[None, :] + leniency - cut) / noise)
    felt = low + (high - low) * total / steps  # (raters, images)
    return np.asarray(((1 - lapse) * felt + lapse * (low + high) / 2).mean(axis=0))


def expected_votes(
    question: PairQuestion, gap: NDArray[np.float64], raters: tuple[SimulatedRater, ...]
) -> NDArray[np.float64]:
    """Return the mean probabilities of left, right, tie (pairs, 3); the left is better by ``gap`` (pairs,)."""
    noise, indifference, lapse = (_column(raters, name)[:, None] for name in ("noise", "indifference", "lapse"))
    spread = noise * np.sqrt(2)
    edge = indifference if question.ties else np.zeros_like(indifference)
    left = ndtr((gap[None, :] - edge) / spread)  # (raters, pairs)
    right = ndtr((-gap[None, :] - edge) / spread)
    tie = 1 - left - right if question.ties else np.zeros_like(left)
    votes = np.stack([left, right, tie], axis=-1)
    guess = np.asarray([1.0, 1.0, 1.0]) / 3 if question.ties else np.asarray([0.5, 0.5, 0.0])
    return np.asarray(((1 - lapse[..., None]) * votes + lapse[..., None] * guess).mean(axis=0))


def _error_rates(
    question: RealismQuestion,
    trials: pl.DataFrame,
    images: pl.DataFrame,
    views: Mapping[str, View],
    raters: tuple[SimulatedRater, ...],
) -> list[Row]:
    trial_images = trials.select("slot", pl.col("images").list.first().alias("image")).join(
        images.select("image", "generator", "real"), on="image"
    )
    detectability = np.asarray([views[image].detectability for image in trial_images["image"]])
    distinct, where = np.unique(detectability, return_inverse=True)
    generated = _in_blocks(distinct, lambda part: chance_of_generated(part, raters))[where]
    real = trial_images["real"].to_numpy()
    wrong = np.where(real, generated, 1 - generated)
    slots = trial_images["slot"].to_numpy()
    generators = trial_images["generator"].to_numpy()
    rows: list[Row] = []
    for generator in sorted(set(generators[~real])):
        fakes = (generators == generator) & ~real
        reals = real & np.isin(slots, np.unique(slots[fakes]))
        fake_error, real_error = float(wrong[fakes].mean()), float(wrong[reals].mean())
        values = {
            "error-rate": (fake_error + real_error) / 2,
            "fake-error-rate": fake_error,
            "real-error-rate": real_error,
        }
        rows += [_row(question.name, "realism", method, generator, value) for method, value in values.items()]
    return rows


def _bradley_terry(
    question: PairQuestion,
    trials: pl.DataFrame,
    images: pl.DataFrame,
    views: Mapping[str, View],
    raters: tuple[SimulatedRater, ...],
) -> list[Row]:
    generator_of = dict(images.select("image", "generator").iter_rows())
    names = sorted({generator_of[image] for pair in trials["images"] for image in pair})
    quality = np.asarray([[views[image].quality["overall"] for image in pair] for pair in trials["images"]])
    gaps, where = np.unique(quality[:, 0] - quality[:, 1], return_inverse=True)
    votes = _in_blocks(gaps, lambda part: expected_votes(question, part, raters))[where]
    pairs = np.asarray([[names.index(generator_of[image]) for image in pair] for pair in trials["images"]])
    fit = bradley_terry(pairs, votes, items=len(names))
    return [
        _row(question.name, "preference", "bradley-terry", name, float(rating))
        for name, rating in zip(names, fit.ratings, strict=True)
    ]


def _mean_opinions(
    question: RatingQuestion,
    trials: pl.DataFrame,
    images: pl.DataFrame,
    views: Mapping[str, View],
    raters: tuple[SimulatedRater, ...],
) -> list[Row]:
    generator_of = dict(images.select("image", "generator").iter_rows())
    rated_images = [images_of_trial[0] for images_of_trial in trials["images"]]
    generators = np.asarray([generator_of[image] for image in rated_images])
    rows: list[Row] = []
    for aspect in question.aspects:
        felt = FELT_AS.get(aspect.name, aspect.name)
        quality = np.asarray(
            [views[image].quality.get(felt, views[image].quality["overall"]) for image in rated_images]
        )
        distinct, where = np.unique(quality, return_inverse=True)
        opinion = _in_blocks(distinct, lambda part: expected_opinion(question, part, raters))[where]
        rows += [
            _row(question.name, aspect.name, "mean-opinion", name, float(opinion[generators == name].mean()))
            for name in sorted(set(generators))
        ]
    return rows


Expectation = Callable[
    [Any, pl.DataFrame, pl.DataFrame, Mapping[str, View], tuple[SimulatedRater, ...]], list[Row]
]
"""From a question, its trials, the images, their ground truth and the raters to rows of ``ratings``."""

EXPECTATIONS: dict[str, Expectation] = {
    "error-rate": _error_rates,
    "bradley-terry": _bradley_terry,
    "mean-opinion": _mean_opinions,
}
"""Closed forms, by the name that a question kind declares."""


def _in_blocks(
    values: NDArray[np.float64], expect: Callable[[NDArray[np.float64]], NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Apply ``expect`` to blocks of the values; raters × values at once might not fit into memory."""
    return np.concatenate([expect(values[start : start + BLOCK]) for start in range(0, len(values), BLOCK)])


def _column(raters: tuple[SimulatedRater, ...], name: str) -> NDArray[np.float64]:
    return np.asarray([getattr(rater, name) for rater in raters], dtype=np.float64)


def _row(question: str, aspect: str, method: str, generator: str, rating: float) -> Row:
    return {
        "question": question,
        "aspect": aspect,
        "method": method,
        "slice": "all",
        "generator": generator,
        "rating": rating,
        "level": 0.95,
        "rank_low": 1,
        "rank_high": 1,
        "answers": 0,
        "images": 0,
        "raters": 0,
    }
