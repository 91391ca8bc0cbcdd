"""Net preference: the proportion of answers *better* less that of *worse*, from five answers ≫ > ≈ < ≪.

An answer counts +1 where the image after is better or much better, −1 where it is worse or much worse, and 0
where both are about the same. The net preference is the mean; raters and prompts are both samples, so its
confidence interval is the t interval over both (:mod:`beholder.stats.intervals.crossed_t`), within −1 and 1.

Where a program scored more prompts than raters judged, the gain in score of every prompt says something about the
prompts that nobody judged (:mod:`beholder.stats.prediction.crossed_powered`).

Of published counts it is not known who gave which answer to which prompt. With proportions ρ_r and ρ_p of the
variance σ² of one answer between raters and between prompts, m raters who all judged n prompts have

    V = σ² (ρ_r/m + ρ_p/n + (1 − ρ_r − ρ_p)/(mn)),    σ² = p₊ + p₋ − (p₊ − p₋)²,

and the interval, by t with mn − 1 degrees of freedom, is a statement under these proportions.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from beholder.errors import StatisticsError
from beholder.stats.estimate import Estimate
from beholder.stats.intervals.crossed_t import crossed_means, crossed_t
from beholder.stats.prediction.crossed_powered import crossed_powered

ANSWERS = ("much better", "better", "about the same", "worse", "much worse")
"""The five answers, as they are counted: 2, 1, 0, −1, −2."""

POWERED = "t over raters and prompts, prediction-powered"


@dataclass(frozen=True)
class NetPreference:
    """How often images after were called better, and worse, than those before."""

    counts: tuple[int, int, int, int, int]
    """Of :data:`ANSWERS`."""
    net: Estimate

    @property
    def total(self) -> int:
        """All answers."""
        return sum(self.counts)

    @property
    def better(self) -> float:
        """Proportion of answers *better* and *much better*."""
        return (self.counts[0] + self.counts[1]) / self.total

    @property
    def worse(self) -> float:
        """Proportion of answers *worse* and *much worse*."""
        return (self.counts[3] + self.counts[4]) / self.total


def net_preference(
    answers: ArrayLike, raters: ArrayLike, prompts: ArrayLike, *, level: float = 0.95
) -> NetPreference:
    """Return the net preference with its confidence interval over raters and prompts.

    Args:
        answers: From 2 (after is much better) to −2 (much worse), (answers,).
        raters: Who gave each answer, as integers from 0.
        prompts: To which prompt, as integers from 0.
        level: Of the confidence interval.

    Returns:
        Counts, and the net preference; it has no interval (nan) with fewer than five raters or prompts.

    Example:
        >>> rater, prompt = np.divmod(np.arange(60), 10)  # six raters, ten prompts
        >>> answers = np.where(prompt < 6, 1, np.where(prompt < 9, 0, -1)) * (1 + (rater == 0))
        >>> preference = net_preference(answers, rater, prompt)
        >>> preference.counts, round(preference.better, 2), round(preference.worse, 2)
        ((6, 30, 18, 5, 1), 0.6, 0.1)
        >>> print(preference.net)  # all raters agree, so only prompts vary
        0.500 [-0.006, 1.000]
    """
    votes = _votes(answers)
    means = crossed_means(raters, prompts, np.zeros(len(votes), np.int64), np.sign(votes).astype(np.float64))
    return NetPreference(_counts(votes), _bounded(crossed_t(means, level=level)[0]))


def powered_net_preference(
    answers: ArrayLike,
    raters: ArrayLike,
    prompts: ArrayLike,
    gains: ArrayLike,
    further: ArrayLike,
    *,
    level: float = 0.95,
) -> NetPreference:
    """Return the net preference from raters' answers and a program's gains in score together.

    Args:
        answers: From 2 (after is much better) to −2 (much worse), (answers,).
        raters: Who gave each answer, as integers from 0.
        prompts: To which prompt, as integers from 0.
        gains: The score after less the score before of the prompt of each answer, (answers,).
        further: The same of prompts that nobody judged, one for each; drawn as the judged ones were.
        level: Of the confidence interval.

    Returns:
        The counts of the answers, and the net preference over all prompts.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> gain = rng.normal(0.3, 1, 300)  # of all prompts; ten raters judge the first sixty
        >>> rater, prompt = np.divmod(np.arange(600), 60)
        >>> answers = np.clip(np.rint(gain[prompt] + rng.normal(0, 0.5, 600)), -2, 2).astype(int)
        >>> plain = net_preference(answers, rater, prompt).net
        >>> powered = powered_net_preference(answers, rater, prompt, gain[prompt], gain[60:]).net
        >>> bool(powered.high - powered.low < plain.high - plain.low)
        True
    """
    votes = _votes(answers)
    cell = np.zeros(len(votes), np.int64)
    directions = crossed_means(raters, prompts, cell, np.sign(votes).astype(np.float64))
    scores = crossed_means(raters, prompts, cell, gains)
    means = crossed_powered(directions, scores, [np.asarray(further, np.float64)], level=level)
    plain = crossed_t(directions, level=level)[0]
    net = Estimate(
        value=float(np.clip(means.value[0], -1, 1)),
        low=float(means.low[0]),
        high=float(means.high[0]),
        level=level,
        method=POWERED,
        raters=plain.raters,
        items=int(means.judged[0] + means.further[0]),
        answers=plain.answers,
    )
    return NetPreference(_counts(votes), _bounded(net))


def net_preference_of_counts(
    counts: Sequence[int],
    *,
    raters: int,
    prompts: int,
    rater_share: float = 0.0,
    prompt_share: float = 0.0,
    level: float = 0.95,
) -> NetPreference:
    """Return the net preference of published counts, under stated proportions of the variance.

    Args:
        counts: How many gave each of the five answers, from much better to much worse.
        raters: How many judged; each of them every prompt.
        prompts: How many prompts.
        rater_share: Proportion of the variance of an answer that lies between raters.
        prompt_share: Proportion that lies between prompts.
        level: Of the confidence interval.

    Returns:
        The net preference; its method states the proportions.

    Example:
        >>> published = (129, 182, 188, 76, 25)  # Liang et al., CVPR 2024: 100 prompts, 6 raters
        >>> preference = net_preference_of_counts(published, raters=6, prompts=100)
        >>> round(preference.better, 3), round(preference.worse, 3)
        (0.518, 0.168)
        >>> print(preference.net)
        0.350 [0.290, 0.410]
    """
    five = [int(number) for number in counts]
    faults = [f"{len(five)} counts; five are expected"] if len(five) != len(ANSWERS) else []
    if min(five, default=0) < 0 or sum(five) != raters * prompts:
        faults.append(f"{sum(five)} answers; {raters} raters × {prompts} prompts are {raters * prompts}")
    if min(rater_share, prompt_share) < 0 or rater_share + prompt_share > 1:
        faults.append(f"proportions of variance of {rater_share} and {prompt_share}; at most 1 together")
    if faults:
        raise StatisticsError("; ".join(faults))
    better, worse = (five[0] + five[1]) / sum(five), (five[3] + five[4]) / sum(five)
    net, spread = better - worse, better + worse - (better - worse) ** 2
    rest = 1 - rater_share - prompt_share
    variance = spread * (rater_share / raters + prompt_share / prompts + rest / sum(five))
    reach = float(special.stdtrit(sum(five) - 1, (1 + level) / 2) * np.sqrt(variance))
    method = f"t, {rater_share:.0%} of the variance between raters and {prompt_share:.0%} between prompts assumed"
    estimate = Estimate(net, net - reach, net + reach, level, method, raters, prompts, sum(five))
    return NetPreference((five[0], five[1], five[2], five[3], five[4]), _bounded(estimate))


def _votes(answers: ArrayLike) -> NDArray[np.int64]:
    votes = np.asarray(answers)
    if votes.ndim != 1 or len(votes) == 0 or not np.all(np.isin(votes, (-2, -1, 0, 1, 2))):
        raise StatisticsError("net preference needs answers from −2 to 2, one-dimensional and at least one")
    return votes.astype(np.int64)


def _counts(votes: NDArray[np.int64]) -> tuple[int, int, int, int, int]:
    much_better, better, same, worse, much_worse = (int((votes == answer).sum()) for answer in (2, 1, 0, -1, -2))
    return much_better, better, same, worse, much_worse


def _bounded(net: Estimate) -> Estimate:
    """The same within −1 and 1."""
    low, high = np.clip([net.low, net.high], -1.0, 1.0).tolist()
    return Estimate(
        net.value, low, high, net.level, net.method, net.raters, net.items, net.answers, net.replicates
    )
