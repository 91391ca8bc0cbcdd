"""What honest people would say on average, were there endlessly many: the value that a study should recover.

For each image (or pair) of the trials the chance of every answer is known in closed form for a given person; it is
averaged over a large crowd of honest people, and the ratings are computed from these averages by the same formulas
that the rank stage applies to answers. Intervals that resample people should cover these values.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import ndtr

from beholder.simulate.people import Person, draw_people
from beholder.simulate.sight import View
from beholder.stats.comparisons.bradley_terry import bradley_terry
from beholder.study.kinds.catalogue import AnyQuestion, kind_of
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.rating import FELT_AS, RatingQuestion
from beholder.study.kinds.realism import RealismQuestion

CROWD = 2000
"""Honest people over which expectations are taken."""

BLOCK = 500
"""Images or pairs that the whole crowd judges at a time."""

Row = dict[str, object]


def planted_ratings(
    question: AnyQuestion,
    trials: pl.DataFrame,
    images: pl.DataFrame,
    views: Mapping[str, View],
    *,
    rng: np.random.Generator,
) -> list[Row]:
    """Rows of ``ratings`` with the expected value of each generator; none for kinds without a closed form."""
    crowd = draw_people(CROWD, 0, rng)
    expected_by = kind_of(question).traits.expected_by
    return [] if expected_by is None else EXPECTATIONS[expected_by](question, trials, images, views, crowd)


def chance_of_generated(detectability: NDArray[np.float64], crowd: tuple[Person, ...]) -> NDArray[np.float64]:
    """Mean chance that a person calls an image generated: Φ(d·acuity − criterion), or a coin after a lapse."""
    acuity, criterion, lapse = (_column(crowd, name)[:, None] for name in ("acuity", "criterion", "lapse"))
    chance = ndtr(acuity * detectability[None, :] - criterion)  # (people, images)
    return np.asarray(((1 - lapse) * chance + lapse * 0.5).mean(axis=0))


def expected_opinion(
    question: RatingQuestion, quality: NDArray[np.float64], crowd: tuple[Person, ...]
) -> NDArray[np.float64]:
    """Mean rating on a scale of points: 1 + Σ over the cuts between points of the chance to feel above the cut."""
    leniency, noise, lapse = (_column(crowd, name)[:, None] for name in ("leniency", "noise", "lapse"))
    low, high = question.scale()
    steps = question.points - 1 if question.points else 1000
    total = np.zeros((len(crowd), len(quality)))
    for step in range(steps):
        cut = (step + 0.5) / steps
        total += ndtr((quality[None, :] + leniency - cut) / noise)
    felt = low + (high - low) * total / steps  # (people, images)
    return np.asarray(((1 - lapse) * felt + lapse * (low + high) / 2).mean(axis=0))


def expected_votes(
    question: PairQuestion, gap: NDArray[np.float64], crowd: tuple[Person, ...]
) -> NDArray[np.float64]:
    """Mean chances of left, right and tie (pairs, 3) where the left image is better by ``gap`` (pairs,)."""
    noise, indifference, lapse = (_column(crowd, name)[:, None] for name in ("noise", "indifference", "lapse"))
    spread = noise * np.sqrt(2)
    edge = indifference if question.ties else np.zeros_like(indifference)
    left = ndtr((gap[None, :] - edge) / spread)  # (people, pairs)
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
    crowd: tuple[Person, ...],
) -> list[Row]:
    shown = trials.select("slot", pl.col("images").list.first().alias("image")).join(
        images.select("image", "generator", "real"), on="image"
    )
    seen = np.asarray([views[image].detectability for image in shown["image"]])
    distinct, where = np.unique(seen, return_inverse=True)
    generated = _in_blocks(distinct, lambda part: chance_of_generated(part, crowd))[where]
    real = shown["real"].to_numpy()
    wrong = np.where(real, generated, 1 - generated)
    slots = shown["slot"].to_numpy()
    generators = shown["generator"].to_numpy()
    rows: list[Row] = []
    for generator in sorted(set(generators[~real])):
        mine = (generators == generator) & ~real
        reals = real & np.isin(slots, np.unique(slots[mine]))
        fake_error, real_error = float(wrong[mine].mean()), float(wrong[reals].mean())
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
    crowd: tuple[Person, ...],
) -> list[Row]:
    generator_of = dict(images.select("image", "generator").iter_rows())
    names = sorted({generator_of[image] for pair in trials["images"] for image in pair})
    quality = np.asarray([[views[image].quality["overall"] for image in pair] for pair in trials["images"]])
    gaps, where = np.unique(quality[:, 0] - quality[:, 1], return_inverse=True)
    votes = _in_blocks(gaps, lambda part: expected_votes(question, part, crowd))[where]
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
    crowd: tuple[Person, ...],
) -> list[Row]:
    generator_of = dict(images.select("image", "generator").iter_rows())
    shown = [pair[0] for pair in trials["images"]]
    generators = np.asarray([generator_of[image] for image in shown])
    rows: list[Row] = []
    for aspect in question.aspects:
        felt = FELT_AS.get(aspect.name, aspect.name)
        quality = np.asarray([views[image].quality.get(felt, views[image].quality["overall"]) for image in shown])
        distinct, where = np.unique(quality, return_inverse=True)
        opinion = _in_blocks(distinct, lambda part: expected_opinion(question, part, crowd))[where]
        rows += [
            _row(question.name, aspect.name, "mean-opinion", name, float(opinion[generators == name].mean()))
            for name in sorted(set(generators))
        ]
    return rows


Expectation = Callable[[Any, pl.DataFrame, pl.DataFrame, Mapping[str, View], tuple[Person, ...]], list[Row]]
"""From a question, its trials, the images, what is seen in them and the raters to rows of ``ratings``."""

EXPECTATIONS: dict[str, Expectation] = {
    "error-rate": _error_rates,
    "bradley-terry": _bradley_terry,
    "mean-opinion": _mean_opinions,
}
"""Closed forms, by the name that a question kind declares."""


def _in_blocks(
    values: NDArray[np.float64], expect: Callable[[NDArray[np.float64]], NDArray[np.float64]]
) -> NDArray[np.float64]:
    """What ``expect`` gives for all values; people × values at once might not fit into memory."""
    return np.concatenate([expect(values[start : start + BLOCK]) for start in range(0, len(values), BLOCK)])


def _column(crowd: tuple[Person, ...], name: str) -> NDArray[np.float64]:
    return np.asarray([getattr(person, name) for person in crowd], dtype=np.float64)


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
