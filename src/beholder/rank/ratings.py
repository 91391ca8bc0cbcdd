"""Generators rated by one question, and the rows of ``ratings`` and ``separations`` that follow."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beholder.stats.estimate import Estimates
from beholder.stats.intervals.clustered_t import RaterInfluence, clustered_t, standard_errors
from beholder.stats.significance.separation import Separation, separate

ALL_IMAGES = "all"
"""Name of the slice that is not limited to one style."""

Row = dict[str, object]


@dataclass(frozen=True, eq=False)
class GeneratorRatings:
    """Ratings of all generators by one method, with what each rater contributes to them."""

    aspect: str
    method: str
    generators: tuple[str, ...]
    influence: RaterInfluence
    """The ratings, and how far each rater (or what else is a random sample, such as each prompt) moves them."""
    naive: tuple[NDArray[np.float64], NDArray[np.float64]]
    """The confidence interval if all answers were independent: (low, high), each (generators,)."""
    answers: NDArray[np.int64]  # (generators,)
    images: NDArray[np.int64]  # (generators,)
    ties: str | None = None
    rater_counts: NDArray[np.int64] | None = None  # (generators,)
    """Raters behind each rating where not raters but, for example, prompts are the sample."""
    higher_is_better: bool = True
    prior_used: bool | None = None
    """Of strengths fitted to votes: whether they needed pseudo-votes to be finite."""

    def estimates(self, level: float = 0.95) -> Estimates:
        """Return the ratings with their confidence intervals."""
        return clustered_t(self.influence, level=level)


def table_rows(
    question: str,
    slice_name: str,
    rated: GeneratorRatings,
    level: float,
    *,
    everyone: GeneratorRatings | None = None,
) -> tuple[list[Row], list[Row]]:
    """Return the rows of ``ratings`` and of ``separations`` for one slice.

    ``everyone`` are the ratings with no rater excluded by screening, where they are known.
    """
    separation = separate(rated.influence, level=level, higher_is_better=rated.higher_is_better)
    estimates, errors = rated.estimates(level), standard_errors(rated.influence)
    unscreened = _unscreened(everyone, level)
    common: Row = {"question": question, "aspect": rated.aspect, "method": rated.method, "slice": slice_name}
    ratings = [
        common
        | {
            "generator": generator,
            "rating": estimate.value,
            "low": _number_or_none(estimate.low),
            "high": _number_or_none(estimate.high),
            "se": _number_or_none(errors[cell]),
            "naive_low": _number_or_none(rated.naive[0][cell]),
            "naive_high": _number_or_none(rated.naive[1][cell]),
            "level": level,
            "rank_low": int(separation.rank_low[cell]),
            "rank_high": int(separation.rank_high[cell]),
            "ties": rated.ties,
            "answers": int(rated.answers[cell]),
            "images": int(rated.images[cell]),
            "raters": estimate.raters if rated.rater_counts is None else int(rated.rater_counts[cell]),
            "prior_used": rated.prior_used,
        }
        | unscreened.get(generator, {})
        for cell, (generator, estimate) in enumerate(zip(rated.generators, estimates, strict=True))
    ]
    pairs = separation.higher_first()
    separations = [common | _separation(rated, pairs, pair) for pair in range(len(pairs.first))]
    return ratings, separations


def _unscreened(everyone: GeneratorRatings | None, level: float) -> dict[str, Row]:
    """Return by generator the columns of the rating with no rater excluded."""
    if everyone is None:
        return {}
    return {
        generator: {
            "rating_all": _number_or_none(estimate.value),
            "low_all": _number_or_none(estimate.low),
            "high_all": _number_or_none(estimate.high),
            "raters_all": estimate.raters,
        }
        for generator, estimate in zip(everyone.generators, everyone.estimates(level), strict=True)
    }


def _separation(rated: GeneratorRatings, separation: Separation, pair: int) -> Row:
    """Return the row of one pair, the higher rated first."""
    more_raters = float(separation.more_raters[pair])
    return {
        "generator": rated.generators[int(separation.first[pair])],
        "other": rated.generators[int(separation.second[pair])],
        "difference": float(separation.difference[pair]),
        "low": _number_or_none(float(separation.low[pair])),
        "high": _number_or_none(float(separation.high[pair])),
        "se": _number_or_none(float(separation.standard_error[pair])),
        "degrees": _number_or_none(float(separation.degrees[pair])),
        "p": _number_or_none(float(separation.p_value[pair])),
        "p_adjusted": _number_or_none(float(separation.p_adjusted[pair])),
        "separated": bool(separation.separated[pair]),
        "more_raters": None if math.isnan(more_raters) or rated.rater_counts is not None else int(more_raters),
    }


def _number_or_none(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
