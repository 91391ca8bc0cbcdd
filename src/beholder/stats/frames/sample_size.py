"""How many raters a study needs, its power, and how narrow its intervals would be."""

import math
from collections.abc import Sequence

import numpy as np

from beholder.errors import StatisticsError
from beholder.stats.frames.columns import Frame, code_labels, read_columns
from beholder.stats.frames.result_table import ResultTable, frame_of
from beholder.stats.intervals.interval_width import width_by_raters
from beholder.stats.significance.power import (
    design_effect,
    means_group,
    means_power,
    preference_power,
    preference_votes,
    proportions_group,
    proportions_power,
)


def raters_needed(
    *,
    preference: float | None = None,
    proportions: tuple[float, float] | None = None,
    difference: float | None = None,
    sd: float | None = None,
    answers_each: int = 1,
    correlation: float = 0.0,
    power: float = 0.8,
    alpha: float = 0.05,
) -> ResultTable:
    """Return how many raters it takes to show a difference, by formula.

    Say what is to be shown in one of three ways: ``preference``, the proportion of votes for one of two
    generators, against ½; ``proportions``, two rates, such as error rates, each by raters of its own; or
    ``difference`` with ``sd``, two means. For designs that formulas do not describe, ``beholder plan`` simulates.

    Args:
        preference: The proportion of votes for one of two generators, such as .55.
        proportions: Two rates, such as (.4, .45).
        difference: The difference of two means.
        sd: The standard deviation of a score, with ``difference``.
        answers_each: How many answers each rater gives.
        correlation: How far answers of one rater are correlated (intraclass correlation), such as .05. Of
            m answers each, the variance is 1 + (m − 1)ρ times that of as many independent answers.
        power: The chance of showing the difference.
        alpha: The chance of showing one where there is none, two-sided.

    Returns:
        One row: ``independent_answers`` (if none were correlated), ``design_effect``, ``answers`` and ``raters``;
        of each group where two are compared.

    Example:
        >>> raters_needed(preference=0.55, answers_each=20, correlation=0.05)
        raters needed for a power of 80%
        difference                 independent answers  design effect  answers  raters
        ──────────────────────────────────────────────────────────────────────────────
        0.55 of votes against 0.5                  783           1.95    1,527      77
        normal approximation, two-sided α = 0.05
    """
    independent, words = _answers(preference, proportions, difference, sd, power, alpha)
    factor = design_effect(answers_each, correlation)
    answers = math.ceil(independent * factor - 1e-9)
    rows = {
        "difference": [words],
        "independent_answers": [independent],
        "design_effect": [factor],
        "answers": [answers],
        "raters": [math.ceil(answers / answers_each - 1e-9)],
    }
    return ResultTable(
        title=f"raters needed for a power of {power:.0%}",
        rows=frame_of(rows),
        method=f"normal approximation, two-sided α = {alpha:g}",
        estimate="raters",
        notes=() if preference is not None else ("Answers and raters are of each of the two groups.",),
    )


def power(
    raters: int | Sequence[int],
    *,
    preference: float | None = None,
    proportions: tuple[float, float] | None = None,
    difference: float | None = None,
    sd: float | None = None,
    answers_each: int = 1,
    correlation: float = 0.0,
    alpha: float = 0.05,
) -> ResultTable:
    """Return the chance of showing a difference with so many raters, by formula.

    Args:
        raters: A number of raters, or several; of each group where two are compared.
        preference: As for :func:`raters_needed`.
        proportions: As for :func:`raters_needed`.
        difference: As for :func:`raters_needed`.
        sd: As for :func:`raters_needed`.
        answers_each: How many answers each rater gives.
        correlation: How far answers of one rater are correlated.
        alpha: The chance of showing a difference where there is none, two-sided.

    Returns:
        One row per number of raters: ``raters``, ``power``, ``answers``.

    Example:
        >>> power([50, 100, 150], preference=0.55, answers_each=20, correlation=0.05)["power"].round(2).tolist()
        [0.62, 0.89, 0.98]
    """
    counts = [raters] if isinstance(raters, int) else list(raters)
    factor = design_effect(answers_each, correlation)
    _answers(preference, proportions, difference, sd, 0.8, alpha)  # says what is wrong with the request
    powers = []
    for count in counts:
        effective = count * answers_each / factor
        if preference is not None:
            powers.append(preference_power(preference, effective, alpha=alpha))
        elif proportions is not None:
            powers.append(proportions_power(*proportions, effective, alpha=alpha))
        else:
            powers.append(means_power(difference or 0.0, sd or 0.0, effective, alpha=alpha))
    return ResultTable(
        title="power by number of raters",
        rows=frame_of({"raters": counts, "power": powers, "answers": [count * answers_each for count in counts]}),
        method=f"normal approximation, two-sided α = {alpha:g}",
        notes=() if preference is not None else ("Raters and answers are of each of the two groups.",),
    )


def interval_widths(
    scores: Frame,
    *,
    raters: Sequence[int],
    score: str = "score",
    rater: str = "rater",
    level: float = 0.95,
    replicates: int = 2000,
    seed: int = 0,
) -> ResultTable:
    """Return how wide the confidence interval of a mean would be with fewer or more raters like these.

    Args:
        scores: A data frame with one row per score, as of a pilot study.
        raters: Numbers of raters to try.
        score: The column of numbers (or of true and false).
        rater: The column of raters; each counts with the mean of their scores.
        level: Nominal coverage of the interval.
        replicates: Bootstrap replicates.
        seed: With which raters are resampled.

    Returns:
        One row per number of raters: ``raters`` and ``width``.

    Example:
        >>> from beholder.stats.frames.examples import example_ratings
        >>> interval_widths(example_ratings(), raters=[10, 40])["width"].round(2).tolist()
        [0.47, 0.21]
    """
    columns = read_columns(scores, labels={"rater": rater}, numbers={"score": score})
    _, (who,) = code_labels(columns.labels["rater"])
    means = np.bincount(who, columns.numbers["score"]) / np.bincount(who)
    widths = width_by_raters(means, list(raters), replicates, np.random.default_rng(seed), level=level)
    return ResultTable(
        title=f"width of the {100 * level:g} % confidence interval of mean {score}",
        rows=frame_of({"raters": list(raters), "width": widths}),
        method="expanded percentile bootstrap over raters",
        raters=len(means),
        answers=columns.rows,
        replicates=replicates,
        seed=seed,
        backend=columns.backend,
    )


def _answers(
    preference: float | None,
    proportions: tuple[float, float] | None,
    difference: float | None,
    sd: float | None,
    power: float,
    alpha: float,
) -> tuple[int, str]:
    """Return the independent answers needed, and the difference in words."""
    ways = [way is not None for way in (preference, proportions, difference)]
    if sum(ways) != 1 or (sd is not None) != (difference is not None):
        raise StatisticsError(
            "say what is to be shown in one way: preference=, proportions=, or difference= with sd="
        )
    if preference is not None:
        return preference_votes(preference, alpha=alpha, power=power), f"{preference:g} of votes against 0.5"
    if proportions is not None:
        first, second = proportions
        return proportions_group(first, second, alpha=alpha, power=power), f"{first:g} against {second:g}"
    return means_group(difference or 0.0, sd or 0.0, alpha=alpha, power=power), f"{difference:g} with sd {sd:g}"
