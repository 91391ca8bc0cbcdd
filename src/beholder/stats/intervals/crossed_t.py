"""Standard errors and t intervals of ratings where raters and prompts are both samples, in closed form.

The answers of rater i to prompt j move the rating of a cell (an entry of a board, say) by the influence lᵢⱼ. With
the three sums of squares over m raters, n prompts and the N pairs of both that occur,

    R = m/(m−1) Σᵢ (Σⱼ lᵢⱼ)²,    P = n/(n−1) Σⱼ (Σᵢ lᵢⱼ)²,    E = N/(N−1) Σᵢⱼ lᵢⱼ²,

the variance of the rating over new raters *and* new prompts is R + P − E (Cameron, Gelbach and Miller 2011): what
is neither rater nor prompt is in R and in P, and is counted once. The same holds for every contrast of ratings, so
entries that answer to the same prompts and raters are compared with pairing.

Influences are centred, so E takes away more than what is counted twice: a fifth of the variance between prompts
with five raters who all judged every prompt. The variances between raters, between prompts and of what is neither
follow from the expectations of the three sums, where a proportion ρ = N/(mn) of all pairs occurs,

    N R = σ²_r N/m + σ²_p (1 − ρ) + σ²_e,    N P = σ²_p N/n + σ²_r (1 − ρ) + σ²_e,
    (N − 1) E = σ²_r (1 − 1/m) + σ²_p (1 − 1/n) + σ²_e (1 − 1/N),

and the variance is V = R + P − (σ²_e + (1 − ρ)(σ²_r + σ²_p))/N: exact where everybody judged everything, and
R + P − E where the crossing is thin. A variance that comes out below 0 is taken as 0, and V is at least R and P:
then the rating is as uncertain as over the other sample alone.

The degrees of freedom are Satterthwaite's for a crossed design,

    ν = V² / (R²/(m′−1) + P²/(n′−1) + (σ²_e/N)²/((m′−1)(n′−1))),

with m′ and n′ Kish's effective numbers, so that a few raters who gave most of the answers count as few. They fit
the middle of the distribution; far out, as for all pairs of a board at once, few raters weigh more, and

    1/ν = (R/(m′−1) + P/(n′−1)) / (R + P)

is used where it is smaller (``tail_degrees``; decision 055). Where nobody was asked and a program scored every
image, prompts are the only sample: V = P with n′ − 1 degrees.

Reference: A. C. Cameron, J. B. Gelbach and D. L. Miller (2011), *Robust inference with multiway clustering*,
Journal of Business & Economic Statistics 29(2).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from beholder.errors import StatisticsError
from beholder.stats.estimate import Estimates
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


@dataclass(frozen=True, eq=False)
class ContrastErrors:
    """The uncertainty of several contrasts of ratings; every array is (contrasts,)."""

    standard_error: NDArray[np.float64]
    degrees: NDArray[np.float64]
    tail_degrees: NDArray[np.float64]  # for levels far out, as where all pairs are compared at once
    over_raters: NDArray[np.float64]  # √R: as if the prompts were all there are; nan without raters
    over_prompts: NDArray[np.float64]  # √P: as if the raters were all there are
    independent: NDArray[np.float64]  # √E: as if every rater–prompt pair were independent
    rater_variance: NDArray[np.float64]  # σ²_r; 0 without raters
    prompt_variance: NDArray[np.float64]  # σ²_p; 0 without raters
    pair_variance: NDArray[np.float64]  # σ²_e: what is neither, of one pair; without raters, of one prompt
    raters: NDArray[np.int64]  # the fewer of the cells of the contrast; 0 without raters
    prompts: NDArray[np.int64]
    pairs: NDArray[np.int64]  # pairs of rater and prompt with an answer for the contrast

    @property
    def uncorrected(self) -> NDArray[np.float64]:
        """√(R + P − E) as it comes out, 0 where it is below 0; the intervals use ``standard_error``."""
        rater_part = np.where(np.isnan(self.over_raters), self.independent, self.over_raters) ** 2
        return np.sqrt(np.maximum(rater_part + self.over_prompts**2 - self.independent**2, 0.0))


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
    reach = special.stdtrit(errors.degrees, (1 + level) / 2) * errors.standard_error
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
    by_prompt = _clustered(pulls, support, cells.prompts)
    if cells.raters is None:
        by_pair, by_rater = by_prompt, None
    else:
        by_pair = _clustered(pulls, support, np.arange(len(pulls)))
        by_rater = _clustered(pulls, support, cells.raters)
    components = _components(by_rater, by_prompt, by_pair)
    variance, degrees = _variance(by_rater, by_prompt, by_pair, components)
    if cells.floor is not None:
        variance = np.maximum(variance, np.einsum("kc,cd,kd->k", weights, cells.floor, weights))
    return ContrastErrors(
        standard_error=np.sqrt(variance),
        degrees=degrees,
        tail_degrees=_tail_degrees(by_rater, by_prompt, degrees),
        over_raters=np.full(len(weights), np.nan) if by_rater is None else np.sqrt(by_rater.squares),
        over_prompts=np.sqrt(by_prompt.squares),
        independent=np.sqrt(by_pair.squares),
        rater_variance=components[0],
        prompt_variance=components[1],
        pair_variance=components[2],
        raters=_fewest_clusters(cells.answers, weights, cells.raters),
        prompts=_fewest_clusters(cells.answers, weights, cells.prompts),
        pairs=by_pair.count,
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


@dataclass(frozen=True, eq=False)
class _Clusters:
    """Sums of squares over clusters; every array is (contrasts,)."""

    squares: NDArray[np.float64]  # m/(m−1) Σ (sums within clusters)²; nan for one cluster
    count: NDArray[np.int64]  # m, clusters with answers behind the contrast
    kish: NDArray[np.float64]  # the effective number of clusters (Σx)²/Σx², x their answers


def _clustered(
    pulls: NDArray[np.float64], support: NDArray[np.float64], clusters: NDArray[np.integer]
) -> _Clusters:
    order = np.argsort(clusters, kind="stable")
    begin = np.flatnonzero(np.diff(clusters[order], prepend=-1))
    sums = np.add.reduceat(pulls[order], begin, axis=0)  # (clusters, contrasts)
    answers = np.add.reduceat(support[order], begin, axis=0)
    count = np.count_nonzero(answers, axis=0)
    factor = np.where(count > 1, count / np.maximum(count - 1, 1), np.nan)
    squares = (answers**2).sum(axis=0)
    kish = answers.sum(axis=0) ** 2 / np.where(squares > 0, squares, 1.0)
    return _Clusters(factor * (sums**2).sum(axis=0), count.astype(np.int64), np.asarray(kish, np.float64))


def _components(
    by_rater: _Clusters | None, by_prompt: _Clusters, by_pair: _Clusters
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return σ²_r, σ²_p and σ²_e (contrasts,), none below 0."""
    total = by_pair.count * by_pair.squares
    nothing = np.zeros(len(total))
    if by_rater is None:
        return nothing, nothing, total
    pairs, raters, prompts = (np.maximum(x.count, 2).astype(np.float64) for x in (by_pair, by_rater, by_prompt))
    apart = 1 - np.minimum(pairs / (raters * prompts), 1.0)
    rater_part, prompt_part = (pairs / (pairs - 1) * (1 - 1 / count) for count in (raters, prompts))
    a, b = pairs / raters - rater_part, apart - prompt_part
    c, d = apart - rater_part, pairs / prompts - prompt_part
    x, y = pairs * by_rater.squares - total, pairs * by_prompt.squares - total
    determinant = a * d - b * c
    solvable = (determinant > 1e-9) & np.isfinite(x) & np.isfinite(y)
    scale = np.where(solvable, determinant, 1.0)
    rater = np.where(solvable, np.maximum((d * x - b * y) / scale, 0.0), 0.0)
    prompt = np.where(solvable, np.maximum((a * y - c * x) / scale, 0.0), 0.0)
    return rater, prompt, np.maximum(total - rater_part * rater - prompt_part * prompt, 0.0)


def _variance(
    by_rater: _Clusters | None,
    by_prompt: _Clusters,
    by_pair: _Clusters,
    components: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the variance of each contrast and its degrees of freedom."""
    spare_prompts = np.maximum(by_prompt.kish - 1, 1.0)
    if by_rater is None:
        return by_prompt.squares, spare_prompts
    rater, prompt, rest = components
    pairs = np.maximum(by_pair.count, 1).astype(np.float64)
    apart = 1 - np.minimum(pairs / np.maximum(by_rater.count * by_prompt.count, 1), 1.0)
    both = by_rater.squares + by_prompt.squares - (rest + apart * (rater + prompt)) / pairs
    variance = np.maximum.reduce([both, by_rater.squares, by_prompt.squares])
    spare_raters = np.maximum(by_rater.kish - 1, 1.0)
    below = (
        by_rater.squares**2 / spare_raters
        + by_prompt.squares**2 / spare_prompts
        + (rest / pairs) ** 2 / (spare_raters * spare_prompts)
    )
    degrees = variance**2 / np.where(below > 0, below, np.inf)
    return variance, np.maximum(degrees, np.minimum(spare_raters, spare_prompts))


def _tail_degrees(
    by_rater: _Clusters | None, by_prompt: _Clusters, degrees: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the degrees of freedom for levels far out (contrasts,)."""
    if by_rater is None:
        return degrees
    total = by_rater.squares + by_prompt.squares
    spare = [np.maximum(clusters.kish - 1, 1.0) for clusters in (by_rater, by_prompt)]
    below = by_rater.squares / spare[0] + by_prompt.squares / spare[1]
    return np.asarray(np.fmin(degrees, total / np.where(below > 0, below, np.nan)), np.float64)


def _fewest_clusters(
    answers: NDArray[np.float64], weights: NDArray[np.float64], clusters: NDArray[np.int64] | None
) -> NDArray[np.int64]:
    """Return how many clusters stand behind the cell of each contrast that has the fewest (contrasts,)."""
    if clusters is None:
        return np.zeros(len(weights), np.int64)
    by_cell = np.array([len(np.unique(clusters[column > 0])) for column in answers.T], np.int64)
    behind = np.where(weights != 0, by_cell, np.iinfo(np.int64).max)
    return np.asarray(behind.min(axis=1), np.int64)
