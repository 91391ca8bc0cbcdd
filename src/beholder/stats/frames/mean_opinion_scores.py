"""Mean opinion scores of images: plain, standardised by rater, or by ITU-T P.910, after screening of raters."""

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from beholder.errors import StatisticsError
from beholder.stats.frames.columns import Frame, Label, code_labels, read_columns
from beholder.stats.frames.result_table import ResultTable, frame_of
from beholder.stats.truth.bt500 import bt500
from beholder.stats.truth.correlation_screening import correlation_screening
from beholder.stats.truth.p910 import ITERATIONS, p910

Method = Literal["mean", "z-mean", "p910"]
"""How opinions are taken together: see :func:`mean_opinion_scores`."""

Screening = Literal["bt500", "p913"]
"""By which rule raters are rejected: see :func:`mean_opinion_scores`."""

Array = NDArray[np.float64]
Codes = NDArray[np.int64]


class Opinions(NamedTuple):
    """A mean opinion of each item with its confidence interval, each (items,)."""

    value: Array
    low: Array
    high: Array


def mean_opinion_scores(
    ratings: Frame,
    *,
    item: str = "image",
    score: str = "score",
    rater: str = "rater",
    method: Method = "mean",
    screening: Screening | None = None,
    level: float = 0.95,
) -> ResultTable:
    """Return the mean opinion score (MOS) of each image, with a confidence interval over its raters.

    Methods:

    - ``"mean"``: the mean, with a t interval over raters (one score of each); no interval for a single score.
    - ``"z-mean"``: the same after each rater's scores are standardised to mean 0 and standard deviation 1, which
      removes differences in how raters use the scale.
    - ``"p910"``: ITU-T P.910's alternating projection. Raters have a bias and an inconsistency of their own, and
      careless ones weigh little. With about a dozen raters or fewer it may collapse onto one of them, which is
      an error.

    Screening excludes raters first: ``"bt500"`` by ITU-R BT.500 (scores that stray often, to both sides), or
    ``"p913"`` by ITU-T P.913 (a correlation below .75 with the mean of the others, the worst first).

    Args:
        ratings: A data frame with one row per rater and image.
        item: The column of what was rated.
        score: The column of numbers.
        rater: The column of raters; each rates an image at most once.
        method: How opinions are taken together.
        screening: By which rule raters are rejected, if any.
        level: Nominal coverage of the confidence intervals.

    Returns:
        One row per image, in the order of their names: ``estimate``, ``low``, ``high``, ``raters``. A note says
        who was rejected.

    Example:
        >>> from beholder.stats.frames.examples import example_ratings
        >>> scores = mean_opinion_scores(example_ratings())
        >>> print(*scores.to_frame().row(0))
        aurora-00 2.6666666666666665 2.252825643387785 3.080507689945548 12
    """
    if method not in METHODS:
        raise StatisticsError(f"a method is one of {', '.join(METHODS)}; found {method!r}")
    columns = read_columns(ratings, labels={"item": item, "rater": rater}, numbers={"score": score})
    names, (what,) = code_labels(columns.labels["item"])
    raters, (who,) = code_labels(columns.labels["rater"])
    scores = columns.numbers["score"]
    rejected = _rejected(screening, who, what, scores)
    used = ~rejected[who]
    present, dense = np.unique(who[used], return_inverse=True)
    opinions = METHODS[method](dense, what[used], scores[used], len(names), level)
    notes = [f"Rejected by {screening}: {_listed(raters, rejected)}."] if screening else []
    return ResultTable(
        title=f"mean opinion scores ({method})",
        rows=frame_of(
            {
                item: names,
                "estimate": opinions.value,
                "low": opinions.low,
                "high": opinions.high,
                "raters": np.bincount(what[used], minlength=len(names)),
            }
        ),
        method="ITU-T P.910" if method == "p910" else "t over the raters of each item",
        level=level,
        raters=len(present),
        items=len(names),
        answers=int(used.sum()),
        notes=tuple(notes),
        unit=f"mean {score}",
        backend=columns.backend,
    )


def _rejected(screening: str | None, who: Codes, what: Codes, scores: Array) -> NDArray[np.bool_]:
    if screening is None:
        return np.zeros(int(who.max()) + 1, np.bool_)
    if screening == "bt500":
        return bt500(who, what, scores).rejected
    if screening == "p913":
        return correlation_screening(who, what, scores).rejected
    raise StatisticsError(f"screening is by bt500 or p913; found {screening!r}")


def _listed(raters: list[Label], rejected: NDArray[np.bool_]) -> str:
    names = [str(raters[number]) for number in np.flatnonzero(rejected)]
    return ", ".join(names) or "nobody"


def _mean(who: Codes, what: Codes, scores: Array, items: int, level: float) -> Opinions:
    del who  # every score of an item is by another rater
    n = np.bincount(what, minlength=items).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.bincount(what, scores, items) / n
        variance = np.bincount(what, (scores - mean[what]) ** 2, items) / (n - 1)
        reach = special.stdtrit(np.maximum(n - 1, 1), (1 + level) / 2) * np.sqrt(variance / n)
    reach = np.where(n >= 2, reach, np.nan)
    return Opinions(mean, mean - reach, mean + reach)


def _z_mean(who: Codes, what: Codes, scores: Array, items: int, level: float) -> Opinions:
    n = np.bincount(who).astype(np.float64)
    off = scores - (np.bincount(who, scores) / n)[who]
    spread = np.sqrt(np.bincount(who, off**2) / np.maximum(n - 1, 1))[who]
    z = np.where(spread > 0, off / np.where(spread > 0, spread, 1.0), 0.0)
    return _mean(who, what, z, items, level)


def _p910(who: Codes, what: Codes, scores: Array, items: int, level: float) -> Opinions:
    fit = p910(who, what, scores, level=level, give_up=True)
    if fit.collapsed:
        raise StatisticsError(
            "P.910's model collapsed onto one rater, whose opinions it would repeat: too few raters; use the mean"
        )
    if not fit.converged:
        raise StatisticsError(f"P.910's model does not converge in {ITERATIONS:,} iterations; use the mean")
    blank = np.full(items - len(fit.opinion), np.nan)  # items whose raters were all rejected
    return Opinions(*(np.concatenate([column, blank]) for column in (fit.opinion, fit.low, fit.high)))


METHODS: dict[str, Callable[[Codes, Codes, Array, int, float], Opinions]] = {
    "mean": _mean,
    "z-mean": _z_mean,
    "p910": _p910,
}
