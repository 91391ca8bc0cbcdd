"""Ratings with t intervals where raters and prompts are both samples, in closed form.

The answers of rater i to prompt j move the rating of a cell (an entry of a board, say) by an influence. From the
influences follow the variance over new raters *and* new prompts, and its degrees of freedom
(:mod:`beholder.stats.intervals.crossed_variance`); the same holds for every contrast of ratings, so entries that
answer to the same prompts and raters are compared with pairing.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.errors import StatisticsError
from beholder.stats.estimate import Estimates
from beholder.stats.intervals.crossed_variance import ContrastErrors, clustered, crossed_errors
from beholder.stats.intervals.proportions import arcsine_interval

BOTH, PROMPTS = "t over raters and prompts", "t over prompts"

FEWEST = 5
"""With fewer raters, or fewer prompts, no interval is given."""


@dataclass(frozen=True, eq=False)
class CrossedInfluence:
    """Ratings of cells, and how far the answers of each rater to each prompt move each of them."""

    values: NDArray[np.float64]  # (cells,)
    influence: NDArray[np.float64]  # (rows, cells), one row per rater and prompt
    answers: NDArray[np.float64]  # (rows, cells) how many answers stand behind it; 0 where there is none
    prompts: NDArray[np.int64]  # (rows,)
    raters: NDArray[np.int64] | None = None  # (rows,); None where a program scored the images
    proportions: bool = False
    """Whether the ratings lie between 0 and 1, so that their intervals have to."""
    floor: NDArray[np.float64] | None = None
    """Covariance (cells, cells) below which no variance is believed, as where votes have no finite maximum."""

    def __post_init__(self) -> None:
        shape = self.influence.shape
        rows = [self.prompts] if self.raters is None else [self.prompts, self.raters]
        if len(shape) != 2 or self.answers.shape != shape or self.values.shape != shape[1:]:
            raise StatisticsError(
                "an influence needs (rows, cells) arrays of one shape and values (cells,); found "
                f"{shape}, {self.answers.shape} and {self.values.shape}"
            )
        if any(column.shape != shape[:1] or column.dtype.kind not in "iu" for column in rows):
            raise StatisticsError(f"raters and prompts must be integers, one for each of the {shape[0]} rows")


def crossed_means(
    raters: ArrayLike | None,
    prompts: ArrayLike,
    cells: ArrayLike,
    scores: ArrayLike,
    *,
    cell_count: int | None = None,
    proportions: bool = False,
) -> CrossedInfluence:
    """Return the mean score of each cell, with the influence of every rater and prompt on it.

    Args:
        raters: Who gave each score, as integers (answers,); None where a program gave it.
        prompts: Of which prompt the image was, as integers (answers,).
        cells: Which cell (entry) the image counts for, 0…cells−1 (answers,).
        scores: The scores (answers,).
        cell_count: The number of cells, by default one more than the largest of ``cells``.
        proportions: Whether all scores lie between 0 and 1.

    Returns:
        The means and influences, for :func:`crossed_t` and :func:`contrast_errors`.

    Example:
        >>> means = crossed_means([0, 1, 0, 1], [0, 0, 1, 1], [0, 0, 0, 0], [1.0, 2.0, 3.0, 6.0])
        >>> means.values.tolist(), means.influence.ravel().tolist()
        ([3.0], [-0.5, 0.0, -0.25, 0.75])
    """
    prompt, cell, score = np.asarray(prompts), np.asarray(cells), np.asarray(scores, np.float64)
    who = None if raters is None else np.asarray(raters)
    columns = [prompt, cell, *([] if who is None else [who])]
    if (
        score.ndim != 1
        or len(score) == 0
        or any(c.shape != score.shape or c.dtype.kind not in "iu" for c in columns)
    ):
        found = ", ".join(f"{column.dtype} {column.shape}" for column in (*columns, score))
        raise StatisticsError(
            f"means need integer prompts, cells and raters and scores of one length; found {found}"
        )
    if min(int(column.min()) for column in columns) < 0 or not np.all(np.isfinite(score)):
        raise StatisticsError("means need indices of at least 0 and finite scores")
    count = int(cell.max()) + 1 if cell_count is None else cell_count
    row_of, row_raters, row_prompts = _rows(who, prompt)
    place = row_of * count + cell
    shape = (len(row_prompts), count)
    total = np.bincount(place, score, minlength=shape[0] * count).reshape(shape)
    answers = np.bincount(place, minlength=shape[0] * count).reshape(shape).astype(np.float64)
    by_cell = answers.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = total.sum(axis=0) / by_cell
        influence = np.nan_to_num((total - answers * values) / by_cell)
    influence[np.abs(influence) <= 1e-14 * np.abs(np.nan_to_num(values))] = 0.0  # rounding
    return CrossedInfluence(values, influence, answers, row_prompts, row_raters, proportions=proportions)


def crossed_t(cells: CrossedInfluence, *, level: float = 0.95, fewest: int = FEWEST) -> Estimates:
    """Return every rating with its t interval over raters and prompts.

    A proportion has the interval on the scale of arcsin √p; at 0 or 1 it is Wilson's for as many answers as the
    fewer of raters and prompts.

    Args:
        cells: The ratings and influences.
        level: The level of each interval.
        fewest: Cells of fewer raters, or of fewer prompts, have no interval (nan).

    Returns:
        One estimate per cell; ``items`` are prompts.

    Example:
        >>> rater, prompt = np.divmod(np.arange(30), 6)  # five raters, six prompts
        >>> scores = 3 + 0.1 * rater + 0.5 * (prompt % 3) + 0.01 * (rater * prompt % 7)
        >>> print(crossed_t(crossed_means(rater, prompt, np.zeros(30, int), scores))[0])
        3.722 [3.244, 4.200]
    """
    if not 0 < level < 1:
        raise StatisticsError(f"an interval needs a level between 0 and 1; found {level}")
    contrasts = np.eye(len(cells.values))
    errors = contrast_errors(cells, contrasts)
    reach = errors.reach(level)
    low, high = cells.values - reach, cells.values + reach
    sample = errors.prompts if cells.raters is None else np.minimum(errors.raters, errors.prompts)
    if cells.proportions:
        low, high = arcsine_interval(cells.values, reach, sample, level)
    enough = sample >= max(fewest, 2)
    return Estimates(
        value=cells.values,
        low=np.where(enough, low, np.nan),
        high=np.where(enough, high, np.nan),
        level=level,
        method=PROMPTS if cells.raters is None else BOTH,
        raters=errors.raters,
        items=errors.prompts,
        answers=np.rint(cells.answers.sum(axis=0)).astype(np.int64),
    )


def contrast_errors(cells: CrossedInfluence, contrasts: ArrayLike) -> ContrastErrors:
    """Return the uncertainty of contrasts of ratings, such as the difference of two.

    Args:
        cells: The ratings and influences.
        contrasts: What each cell is multiplied by, (contrasts, cells).

    Returns:
        Standard errors over raters and prompts, degrees of freedom, and the parts that they consist of.

    Example:
        >>> rater, prompt = np.divmod(np.arange(30), 6)
        >>> scores = 3 + 0.1 * rater + 0.5 * (prompt % 3) + 0.01 * (rater * prompt % 7)
        >>> errors = contrast_errors(crossed_means(rater, prompt, np.zeros(30, int), scores), [[1.0]])
        >>> errors.over_raters.round(3).tolist(), errors.over_prompts.round(3).tolist(), errors.prompts.tolist()
        ([0.075], [0.185], [6])
    """
    weights = np.atleast_2d(np.asarray(contrasts, np.float64))
    if weights.shape[1:] != cells.values.shape:
        raise StatisticsError(f"contrasts must be (contrasts, {len(cells.values)} cells); found {weights.shape}")
    support = np.abs(cells.answers) @ (weights != 0).T  # (rows, contrasts) answers behind each contrast
    pulls = cells.influence @ weights.T  # (rows, contrasts)
    by_prompt = clustered(pulls, support, cells.prompts)
    if cells.raters is None:
        by_pair, by_rater = by_prompt, None
    else:
        by_pair = clustered(pulls, support, np.arange(len(pulls)))
        by_rater = clustered(pulls, support, cells.raters)
    least = None if cells.floor is None else np.einsum("kc,cd,kd->k", weights, cells.floor, weights)
    return crossed_errors(
        by_rater,
        by_prompt,
        by_pair,
        raters=_fewest_clusters(cells.answers, weights, cells.raters),
        prompts=_fewest_clusters(cells.answers, weights, cells.prompts),
        least=least,
    )


def difference_contrasts(cells: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return the two cells of every pair (pairs,), and the contrast first − second of each (pairs, cells).

    Args:
        cells: The number of cells.

    Returns:
        The first cells, the second cells, and the contrasts.

    Example:
        >>> difference_contrasts(2)[2].tolist()
        [[1.0, -1.0]]
    """
    first, second = np.triu_indices(cells, k=1)
    weights = np.zeros((len(first), cells))
    weights[np.arange(len(first)), first] = 1.0
    weights[np.arange(len(first)), second] = -1.0
    return first.astype(np.int64), second.astype(np.int64), weights


def _rows(
    raters: NDArray[np.integer] | None, prompts: NDArray[np.integer]
) -> tuple[NDArray[np.int64], NDArray[np.int64] | None, NDArray[np.int64]]:
    """Return the row of every answer, and the rater and the prompt of every row."""
    if raters is None:
        row_prompts, row_of = np.unique(prompts, return_inverse=True)
        return row_of.reshape(-1), None, row_prompts.astype(np.int64)
    wide = int(prompts.max()) + 1
    keys, row_of = np.unique(raters.astype(np.int64) * wide + prompts, return_inverse=True)
    who, what = np.divmod(keys, wide)
    return row_of.reshape(-1), who.astype(np.int64), what.astype(np.int64)


def _fewest_clusters(
    answers: NDArray[np.float64], weights: NDArray[np.float64], clusters: NDArray[np.int64] | None
) -> NDArray[np.int64]:
    """Return how many clusters stand behind the cell of each contrast that has the fewest (contrasts,)."""
    if clusters is None:
        return np.zeros(len(weights), np.int64)
    by_cell = np.array([len(np.unique(clusters[column > 0])) for column in answers.T], np.int64)
    behind = np.where(weights != 0, by_cell, np.iinfo(np.int64).max)
    return np.asarray(behind.min(axis=1), np.int64)
