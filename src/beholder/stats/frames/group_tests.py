"""Tests of groups judged by different raters: analysis of variance, Kruskal–Wallis, Levene; t tests of two."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from beholder.errors import StatisticsError
from beholder.stats.frames.columns import Frame, Label, code_labels, read_columns
from beholder.stats.frames.result_table import ResultTable, frame_of
from beholder.stats.significance.group_pairs import games_howell, tukey_hsd
from beholder.stats.significance.group_tests import kruskal_wallis, levene, one_way_anova
from beholder.stats.significance.t_tests import paired_t, unpaired_t

PAIR_TESTS = {"games-howell": games_howell, "tukey": tukey_hsd}
"""Comparisons of all pairs of groups."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class GroupTests(ResultTable):
    """Tests that any groups differ; :meth:`pairs` says which."""

    scores: NDArray[np.float64]  # (raters,)
    cells: NDArray[np.int64]  # (raters,)
    names: tuple[Label, ...]
    group: str

    def pairs(
        self, method: Literal["games-howell", "tukey"] = "games-howell", *, level: float = 0.95
    ) -> ResultTable:
        """Compare every two groups, with simultaneous confidence intervals.

        Args:
            method: ``"games-howell"`` lets spreads differ; ``"tukey"`` (HSD) takes them as equal.
            level: Of all intervals together.

        Returns:
            One row per pair: ``difference``, ``low``, ``high``, ``se``, ``degrees``, ``p_adjusted``,
            ``separated``.
        """
        if method not in PAIR_TESTS:
            raise StatisticsError(f"pairs are compared by games-howell or tukey; found {method!r}")
        compared = PAIR_TESTS[method](self.scores, self.cells, level=level)
        return ResultTable(
            title=f"{self.title}: differences",
            rows=frame_of(
                {
                    self.group: [self.names[number] for number in compared.first],
                    "other": [self.names[number] for number in compared.second],
                    "difference": compared.difference,
                    "low": compared.low,
                    "high": compared.high,
                    "se": compared.standard_error,
                    "degrees": compared.degrees,
                    "p_adjusted": compared.p_value,
                    "separated": compared.separated,
                }
            ),
            method=f"{compared.method}, simultaneous for all pairs",
            keys=2,
            level=level,
            raters=self.raters,
            answers=self.answers,
            reference=0.0,
            signed=True,
            backend=self.backend,
        )


def group_tests(
    scores: Frame, *, group: str = "generator", score: str = "score", rater: str | None = "rater"
) -> GroupTests:
    """Test whether groups that were judged by different raters differ at all.

    The unit is the rater: several scores of one rater are averaged first, so that an analysis of variance of k
    groups and n raters has (k − 1, n − k) degrees of freedom. Where the same raters judged several groups, these
    tests do not apply: use ``.pairs()`` of :func:`~beholder.stats.frames.group_means.mean_scores`.

    Args:
        scores: A data frame with one row per score.
        group: The column of groups.
        score: The column of numbers.
        rater: The column of raters; None where each row is another rater's.

    Returns:
        One row per test: one-way analysis of variance (``statistic`` F), Kruskal–Wallis (H, by ranks) and Levene's
        test of equal spread around the median (Brown–Forsythe), with ``degrees``, ``degrees_within``, ``p_value``
        and ``eta_squared``. ``.pairs()`` compares every two groups.

    Example:
        >>> scores = {"generator": ["a"] * 4 + ["b"] * 4, "score": [1, 2, 3, 2, 4, 3, 5, 4]}
        >>> tests = group_tests(scores, rater=None)
        >>> tests.to_frame().select("test", "statistic", "degrees", "degrees_within").row(0)
        ('one-way ANOVA', 12.0, 1, 6)
    """
    read = _by_rater(scores, group, score, rater)
    if read.repeated:
        raise StatisticsError(
            f"{read.repeated:,} raters judged several groups, and these tests are for groups of different raters; "
            "use mean_scores(…).pairs(), which compares raters with themselves"
        )
    anova, spread = one_way_anova(read.scores, read.cells), levene(read.scores, read.cells)
    ranks = kruskal_wallis(read.scores, read.cells)
    return GroupTests(
        title=f"{score} by {group}",
        rows=frame_of(
            {
                "test": ["one-way ANOVA", "Kruskal–Wallis", "Levene (Brown–Forsythe)"],
                "statistic": [anova.statistic, ranks.statistic, spread.statistic],
                "degrees": [anova.between, ranks.degrees, spread.between],
                "degrees_within": [anova.within, None, spread.within],
                "p_value": [anova.p_value, ranks.p_value, spread.p_value],
                "eta_squared": [anova.eta_squared, None, None],
            }
        ),
        method="tests of one number per rater",
        raters=len(read.scores),
        answers=read.answers,
        backend=read.backend,
        scores=read.scores,
        cells=read.cells,
        names=tuple(read.names),
        group=group,
    )


def t_test(
    scores: Frame,
    *,
    group: str = "condition",
    score: str = "score",
    rater: str | None = "rater",
    pooled: bool = False,
    level: float = 0.95,
) -> ResultTable:
    """Compare the means of two groups over raters: paired where the same raters judged both, Welch's otherwise.

    Args:
        scores: A data frame with one row per score; those of a rater in a group are averaged first.
        group: The column of two groups.
        score: The column of numbers.
        rater: The column of raters; None where each row is another rater's.
        pooled: Of different raters, whether both groups have one spread (Student's test instead of Welch's).
        level: Nominal coverage of the confidence interval.

    Returns:
        One row: ``difference`` of the first group in alphabetical order less the other, ``low``, ``high``,
        ``statistic`` (t), ``degrees``, ``p_value``.

    Example:
        >>> scores = {"rater": list("aabbcc"), "condition": ["new", "old"] * 3, "score": [4, 3, 5, 3, 4, 1]}
        >>> test = t_test(scores)  # differences 1, 2, 3: mean 2, standard error 1/√3
        >>> test["difference"].round(3).tolist(), test["statistic"].round(3).tolist(), test.method
        ([2.0], [3.464], 'paired t')
    """
    read = _by_rater(scores, group, score, rater)
    if len(read.names) != 2:
        raise StatisticsError(f"a t test compares two groups; found {len(read.names)} in column '{group}'")
    first, second = read.cells == 0, read.cells == 1
    if read.repeated:
        both = np.intersect1d(read.who[first], read.who[second])
        left, right = (
            np.array([read.scores[part & (read.who == who)][0] for who in both]) for part in (first, second)
        )
        test = paired_t(left, right, level=level)
        lone = len(np.unique(read.who)) - len(both)
        notes = [f"{lone:,} raters judged one of the two only and are left out."] if lone else []
    else:
        test = unpaired_t(read.scores[first], read.scores[second], pooled=pooled, level=level)
        notes = []
    return ResultTable(
        title=f"{score} by {group}",
        rows=frame_of(
            {
                group: [read.names[0]],
                "other": [read.names[1]],
                "difference": [test.difference],
                "low": [test.low],
                "high": [test.high],
                "statistic": [test.statistic],
                "degrees": [test.degrees],
                "p_value": [test.p_value],
            }
        ),
        method=test.method,
        keys=2,
        level=level,
        raters=test.raters,
        answers=read.answers,
        notes=tuple(notes),
        reference=0.0,
        signed=True,
        unit=f"difference in mean {score}",
        backend=read.backend,
    )


@dataclass(frozen=True, eq=False)
class _RaterMeans:
    """One mean for each rater and group."""

    scores: NDArray[np.float64]  # (means,)
    cells: NDArray[np.int64]  # (means,) group
    who: NDArray[np.int64]  # (means,) rater
    names: list[Label]
    repeated: int
    """Raters in several groups."""
    answers: int
    backend: str


def _by_rater(scores: Frame, group: str, score: str, rater: str | None) -> _RaterMeans:
    columns = read_columns(
        scores,
        labels={"group": group, "rater": rater},
        numbers={"score": score},
        hints={"rater": "or rater=None, if each row is another rater's"},
    )
    names, (cell,) = code_labels(columns.labels["group"])
    who = code_labels(columns.labels["rater"])[1][0] if rater else np.arange(columns.rows)
    keys, place = np.unique(who * len(names) + cell, return_inverse=True)
    means = np.bincount(place, columns.numbers["score"]) / np.bincount(place)
    rater_numbers, cells = np.divmod(keys, len(names))
    repeated = len(keys) - len(np.unique(rater_numbers))
    return _RaterMeans(means, cells, rater_numbers, names, repeated, columns.rows, columns.backend)
