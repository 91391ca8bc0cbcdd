"""Variances over raters and prompts from three sums of squares: components, degrees of freedom, half-widths.

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

Few raters who do not differ have an R that is noise alone, and V ≥ R, P is then too large. So a single interval
(:meth:`ContrastErrors.single`) does not count raters where R is what noise gives: with F = R over its
expectation without variance between raters, the variance is V, with ν degrees, above the 80 % quantile of F; P,
with n′ − 1 degrees, below the 65 % quantile; and in proportion in between. That holds up to a level of 95 %. Far
out it would be wrong too often: it fades out above, and from 98 % on raters always count.

Reference: A. C. Cameron, J. B. Gelbach and D. L. Miller (2011), *Robust inference with multiway clustering*,
Journal of Business & Economic Statistics 29(2).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

_STILL, _MOVING = 0.65, 0.8  # quantiles of F up to which raters do not count, and from which they do
_NEAR, _FAR = 0.05, 0.02  # 1 − level up to which that holds, and from which it does not


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
    still: NDArray[np.float64]  # how far raters do not count in single intervals, 0 … 1
    still_error: NDArray[np.float64]  # the standard error without them
    still_degrees: NDArray[np.float64]

    def reach(self, level: float) -> NDArray[np.float64]:
        """Return half the width of a single confidence interval of each contrast.

        Args:
            level: Of the interval.

        Returns:
            The half-widths (contrasts,).
        """
        error, degrees = self.single(level)
        return np.asarray(special.stdtrit(degrees, (1 + level) / 2) * error, np.float64)

    def single(self, level: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return standard errors and degrees of freedom for a single interval of each contrast.

        Args:
            level: Of the interval; all pairs at once have ``standard_error`` and ``tail_degrees`` instead.

        Returns:
            Standard errors and degrees of freedom, without raters as far as these do not vary.
        """
        far = np.clip(np.log((1 - level) / _FAR) / np.log(_NEAR / _FAR), 0.0, 1.0)
        weight = far * self.still
        variance = (1 - weight) * self.standard_error**2 + weight * self.still_error**2
        degrees = 1 / ((1 - weight) / self.degrees + weight / self.still_degrees)
        return np.sqrt(variance), np.asarray(degrees, np.float64)

    @property
    def uncorrected(self) -> NDArray[np.float64]:
        """√(R + P − E) as it comes out, 0 where it is below 0; the intervals use ``standard_error``."""
        rater_part = np.where(np.isnan(self.over_raters), self.independent, self.over_raters) ** 2
        return np.sqrt(np.maximum(rater_part + self.over_prompts**2 - self.independent**2, 0.0))


@dataclass(frozen=True, eq=False)
class Clusters:
    """Sums of squares over clusters, such as raters; every array is (contrasts,)."""

    squares: NDArray[np.float64]  # m/(m−1) Σ (sums within clusters)²; nan for one cluster
    count: NDArray[np.int64]  # m, clusters with answers behind the contrast
    kish: NDArray[np.float64]  # the effective number of clusters (Σx)²/Σx², x their answers


def crossed_errors(
    by_rater: Clusters | None,
    by_prompt: Clusters,
    by_pair: Clusters,
    *,
    raters: NDArray[np.int64],
    prompts: NDArray[np.int64],
    least: NDArray[np.float64] | None = None,
) -> ContrastErrors:
    """Return the uncertainty of contrasts from their sums of squares.

    Args:
        by_rater: R, over raters; None where a program scored the images.
        by_prompt: P, over prompts.
        by_pair: E, over pairs of rater and prompt.
        raters: How many raters the cell of each contrast has that has the fewest.
        prompts: The same of prompts.
        least: Variances below which none is believed.

    Returns:
        Standard errors over raters and prompts, degrees of freedom, and the parts that they consist of.
    """
    floor = np.zeros(len(by_prompt.squares)) if least is None else least
    components = _components(by_rater, by_prompt, by_pair)
    variance, degrees = _variance(by_rater, by_prompt, by_pair, components)
    return ContrastErrors(
        standard_error=np.sqrt(np.maximum(variance, floor)),
        degrees=degrees,
        tail_degrees=_tail_degrees(by_rater, by_prompt, degrees),
        over_raters=np.full(len(floor), np.nan) if by_rater is None else np.sqrt(by_rater.squares),
        over_prompts=np.sqrt(by_prompt.squares),
        independent=np.sqrt(by_pair.squares),
        rater_variance=components[0],
        prompt_variance=components[1],
        pair_variance=components[2],
        raters=raters,
        prompts=prompts,
        pairs=by_pair.count,
        still=_still(by_rater, by_prompt, by_pair, components),
        still_error=np.sqrt(np.maximum(by_prompt.squares, floor)),
        still_degrees=np.maximum(by_prompt.kish - 1, 1.0),
    )


def clustered(pulls: NDArray[np.float64], support: NDArray[np.float64], clusters: NDArray[np.integer]) -> Clusters:
    """Return the sums of squares over clusters.

    Args:
        pulls: Influences on each contrast (rows, contrasts).
        support: Answers behind them (rows, contrasts).
        clusters: The cluster of each row (rows,).

    Returns:
        Sums of squares and numbers of clusters.
    """
    order = np.argsort(clusters, kind="stable")
    begin = np.flatnonzero(np.diff(clusters[order], prepend=-1))
    sums = np.add.reduceat(pulls[order], begin, axis=0)  # (clusters, contrasts)
    answers = np.add.reduceat(support[order], begin, axis=0)
    count = np.count_nonzero(answers, axis=0)
    factor = np.where(count > 1, count / np.maximum(count - 1, 1), np.nan)
    squares = (answers**2).sum(axis=0)
    kish = answers.sum(axis=0) ** 2 / np.where(squares > 0, squares, 1.0)
    return Clusters(factor * (sums**2).sum(axis=0), count.astype(np.int64), np.asarray(kish, np.float64))


def _components(
    by_rater: Clusters | None, by_prompt: Clusters, by_pair: Clusters
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
    by_rater: Clusters | None,
    by_prompt: Clusters,
    by_pair: Clusters,
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


def _still(
    by_rater: Clusters | None,
    by_prompt: Clusters,
    by_pair: Clusters,
    components: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]],
) -> NDArray[np.float64]:
    """Return 1 where R is what noise gives, 0 where raters certainly vary, and what is in between (contrasts,)."""
    if by_rater is None:
        return np.zeros(len(by_prompt.squares))
    _, prompt, rest = components
    pairs = np.maximum(by_pair.count, 1).astype(np.float64)
    apart = 1 - np.minimum(pairs / np.maximum(by_rater.count * by_prompt.count, 1), 1.0)
    expected = (rest + apart * prompt) / pairs
    spare = np.maximum(by_rater.kish - 1, 1.0)
    spare_rest = np.maximum(pairs - by_rater.count - by_prompt.count + 1, by_prompt.count - by_rater.count)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = by_rater.squares / expected
    low, high = (special.fdtri(spare, np.maximum(spare_rest, 1.0), q) for q in (_STILL, _MOVING))
    return np.asarray(np.clip(np.nan_to_num((high - ratio) / (high - low), nan=0.0), 0.0, 1.0), np.float64)


def _tail_degrees(
    by_rater: Clusters | None, by_prompt: Clusters, degrees: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the degrees of freedom for levels far out (contrasts,)."""
    if by_rater is None:
        return degrees
    total = by_rater.squares + by_prompt.squares
    spare = [np.maximum(clusters.kish - 1, 1.0) for clusters in (by_rater, by_prompt)]
    below = by_rater.squares / spare[0] + by_prompt.squares / spare[1]
    return np.asarray(np.fmin(degrees, total / np.where(below > 0, below, np.nan)), np.float64)
