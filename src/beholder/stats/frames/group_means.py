"""Mean scores and proportions of generators (or other groups), with confidence intervals over raters."""

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from beholder.errors import StatisticsError
from beholder.stats.frames.columns import Columns, Frame, Label, code_labels, read_columns
from beholder.stats.frames.ratings import Ratings, each_its_own, ratings_table
from beholder.stats.intervals.clustered_t import ratio_influence

HINTS = {"rater": "or rater=None, if no rater answered twice"}

Weight = Literal["raters", "answers"]
"""What counts the same: every rater, with the mean of their answers, or every answer."""


def mean_scores(
    scores: Frame,
    *,
    group: str = "generator",
    score: str = "score",
    rater: str | None = "rater",
    weight: Weight = "raters",
    level: float = 0.95,
    higher_is_better: bool = True,
) -> Ratings:
    """Return the mean score of each group, with confidence intervals over raters: mean opinions of generators.

    Scores of one rater are correlated, so the interval is a t interval over raters, each with all their scores,
    as in ``beholder rank``, whose numbers for mean opinions these are. Raters need not all score all groups.

    Args:
        scores: A data frame with one row per score.
        group: The column that is compared, such as the generator.
        score: The column of numbers.
        rater: The column of raters; None takes all scores as independent.
        weight: What counts the same: ``"raters"`` is the mean over raters of each rater's mean, ``"answers"`` the
            mean of all scores. They differ where raters gave unequal numbers of scores.
        level: Nominal coverage of the confidence intervals.
        higher_is_better: Whether rank 1 has the highest mean.

    Returns:
        One row per group, the best first: ``estimate``, ``low``, ``high``, ``se``, ``rank_low``, ``rank_high``,
        ``raters``, ``answers``; :meth:`~beholder.stats.frames.ratings.Ratings.pairs` compares every two.

    Example:
        >>> from beholder.stats.frames.examples import example_ratings
        >>> mean_scores(example_ratings())
        mean score by generator
        generator  estimate       95 % CI    se  rank  raters  answers
        ──────────────────────────────────────────────────────────────
        ember          3.84  [3.55, 4.13]  0.13  1         12      120
        dune           3.09  [2.86, 3.33]  0.11  2         12      120
        cirrus         2.62  [2.35, 2.88]  0.12  3–4       12      120
        aurora         2.36  [2.11, 2.61]  0.11  3–4       12      120
        95 % CI: t over raters · 12 raters · 480 answers
    """
    columns = read_columns(scores, labels={"group": group, "rater": rater}, numbers={"score": score}, hints=HINTS)
    return _grouped(
        columns,
        columns.numbers["score"],
        group,
        f"mean {score} by {group}",
        f"mean {score}",
        weight,
        level,
        higher_is_better,
    )


def proportions(
    answers: Frame,
    *,
    group: str = "generator",
    answer: str = "answer",
    positive: Label | None = None,
    rater: str | None = "rater",
    weight: Weight = "raters",
    level: float = 0.95,
    higher_is_better: bool = True,
) -> Ratings:
    """Return the proportion of answers of one kind in each group, with confidence intervals over raters.

    The interval is a t interval over raters on the scale of arcsin √p, which keeps it between 0 and 1; where all
    raters answered alike it is Wilson's for as many answers as there are raters.

    Args:
        answers: A data frame with one row per answer.
        group: The column that is compared, such as the generator.
        answer: The column of answers: true and false, or labels.
        positive: Of labels, the one that is counted, such as ``"yes"``.
        rater: The column of raters; None takes all answers as independent.
        weight: What counts the same, raters or answers, as for :func:`mean_scores`.
        level: Nominal coverage of the confidence intervals.
        higher_is_better: Whether rank 1 has the highest proportion.

    Returns:
        One row per group, the best first, as for :func:`mean_scores`.

    Example:
        >>> from beholder.stats.frames.examples import example_ratings
        >>> flaws = proportions(example_ratings(), answer="flawed", positive="yes", higher_is_better=False)
        >>> "{} {:.2f}".format(*flaws.to_frame().select("generator", "estimate").row(0))
        'ember 0.25'
    """
    if positive is None:
        columns = read_columns(
            answers, labels={"group": group, "rater": rater}, flags={"answer": answer}, hints=HINTS
        )
        counted = columns.flags["answer"]
    else:
        labels = {"group": group, "rater": rater, "answer": answer}
        columns = read_columns(answers, labels=labels, hints=HINTS)
        counted = np.array([label == positive for label in columns.labels["answer"]], np.bool_)
        if not counted.any():
            others = sorted({str(label) for label in columns.labels["answer"]})
            raise StatisticsError(f"no answer is {positive!r}; found {', '.join(others[:8])}")
    words = f"proportion of {answer}" + ("" if positive is None else f" = {positive}")
    return _grouped(
        columns,
        counted.astype(np.float64),
        group,
        f"{words} by {group}",
        words,
        weight,
        level,
        higher_is_better,
        bounded=True,
    )


def _grouped(
    columns: Columns,
    values: NDArray[np.float64],
    group: str,
    title: str,
    unit: str,
    weight: Weight,
    level: float,
    higher_is_better: bool,
    *,
    bounded: bool = False,
) -> Ratings:
    """Return means over raters, or ratios of sums over them."""
    if weight not in get_args(Weight):
        raise StatisticsError(f"weight is 'raters' or 'answers'; found {weight!r}")
    names, (cell,) = code_labels(columns.labels["group"])
    independent = "rater" not in columns.labels
    who = each_its_own(columns.rows, len(names)) if independent else code_labels(columns.labels["rater"])[1][0]
    shape = (int(who.max()) + 1, len(names))
    place = who * len(names) + cell
    totals = np.bincount(place, values, shape[0] * shape[1]).reshape(shape)
    counts = np.bincount(place, minlength=shape[0] * shape[1]).reshape(shape).astype(np.float64)
    each = np.maximum(counts, 1.0) if weight == "raters" else np.ones(shape)
    return ratings_table(
        ratio_influence(totals / each, counts / each, proportions=bounded),
        names,
        counts.sum(axis=0).astype(np.int64),
        key=group,
        title=title,
        total=columns.rows,
        level=level,
        backend=columns.backend,
        independent=independent,
        unit=unit,
        higher_is_better=higher_is_better,
    )
