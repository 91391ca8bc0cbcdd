"""What a difference of scores means, and how true predictions are: calibration and conformal intervals."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from beholder.stats.estimate import Estimate
from beholder.stats.frames.columns import Frame, code_labels, read_columns
from beholder.stats.frames.result_table import ResultTable, frame_of
from beholder.stats.prediction.calibration import FOLDS, calibrate
from beholder.stats.prediction.conformal import conformal_width


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CalibrationTable(ResultTable):
    """A reliability diagram as a table, with the scale of the scores and the expected calibration error."""

    scale: Estimate
    """k of P(first preferred) = 1/(1 + e^(−k · difference of scores)), with its confidence interval."""
    ece: float
    """Expected calibration error on choices the scale was not fitted to."""
    ece_by_chance: float
    """What true chances would have with so few choices, on average."""


def calibration(
    pairs: Frame,
    *,
    first_score: str = "first_score",
    second_score: str = "second_score",
    proportion: str = "proportion",
    answers: str | None = None,
    prompt: str | None = None,
    bins: int = 10,
    folds: int = FOLDS,
    seed: int = 0,
) -> CalibrationTable:
    """Fit how scores become chances of being preferred, and say how true these chances are.

    P(first preferred) = 1/(1 + e^(−k · (score of the first − score of the second))), with one number k fitted to
    raters' choices. The reliability is judged fold by fold, on prompts that k was not fitted to.

    Args:
        pairs: A data frame with one row per pair of images (or per vote).
        first_score: The column of automatic scores of the first image.
        second_score: The column of scores of the second.
        proportion: The column of the proportion of raters who preferred the first: 1, 0, or between (½ a tie).
        answers: The column of how many raters that is a proportion of; one by default.
        prompt: The column of prompts, which are kept together in folds and in the interval of k.
        bins: Bins of chances from ½ to 1.
        folds: How many folds.
        seed: With which prompts are put into folds.

    Returns:
        One row per bin that is not empty: ``chance`` predicted, ``observed`` proportion with ``low`` and ``high``
        (Wilson), ``pairs``. ``.scale`` is k, ``.ece`` the expected calibration error, ``.ece_by_chance`` what
        true chances would have.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> first, second = rng.normal(size=(2, 500))
        >>> wins = rng.random(500) < 1 / (1 + np.exp(-2 * (first - second)))
        >>> table = calibration({"first_score": first, "second_score": second, "proportion": wins})
        >>> print(table.scale)
        2.182 [1.773, 2.592]
    """
    columns = read_columns(
        pairs,
        labels={"prompt": prompt},
        numbers={
            "first_score": first_score,
            "second_score": second_score,
            "proportion": proportion,
            "answers": answers,
        },
    )
    groups = code_labels(columns.labels["prompt"])[1][0] if prompt else None
    fit = calibrate(
        columns.numbers["first_score"] - columns.numbers["second_score"],
        columns.numbers["proportion"],
        answers=columns.numbers.get("answers"),
        groups=groups,
        folds=folds,
        bins=bins,
        rng=np.random.default_rng(seed),
    )
    reliability = fit.reliability
    filled = reliability.pairs > 0
    edges = np.linspace(0.5, 1, bins + 1)
    return CalibrationTable(
        title="reliability of predicted preferences",
        rows=frame_of(
            {
                "bin": [f"{low:.2f}–{high:.2f}" for low, high in pairwise(edges)],
                "chance": reliability.chance,
                "observed": reliability.observed,
                "observed_low": reliability.low,
                "observed_high": reliability.high,
                "pairs": reliability.pairs,
            }
        ).filter(filled),
        method="Wilson, choices taken as independent",
        estimate="observed",
        level=0.95,
        items=fit.pairs,
        answers=round(fit.choices),
        seed=seed,
        notes=(
            f"scale k {fit.scale}; expected calibration error {reliability.ece:.3f}, "
            f"true chances would have {reliability.ece_by_chance:.3f}",
        ),
        backend=columns.backend,
        scale=fit.scale,
        ece=reliability.ece,
        ece_by_chance=reliability.ece_by_chance,
    )


def conformal_interval(
    items: Frame,
    *,
    prediction: str = "prediction",
    label: str = "label",
    group: str | None = None,
    level: float = 0.95,
) -> ResultTable:
    """Return how far predictions must be widened to contain the label of a new item so often (split conformal).

    Whatever the scorer, prediction ± half width contains the label of a new item, drawn as these were, with a
    chance of at least ``level``. The items must not be among those that the scorer was trained on.

    Args:
        items: A data frame with one row per item.
        prediction: The column of predictions.
        label: The column of what raters said, as numbers.
        group: The column of groups that have a width of their own; all items are one by default.
        level: The chance.

    Returns:
        One row per group: ``half_width`` (infinite where there are too few items), ``items``.

    Example:
        >>> items = {"prediction": [3.0] * 39, "label": [3 + n / 10 for n in range(39)]}
        >>> next(iter(conformal_interval(items, level=0.9)))["half_width"]  # the 36th smallest of 39 errors
        3.5
    """
    columns = read_columns(items, labels={"group": group}, numbers={"prediction": prediction, "label": label})
    names, (cell,) = code_labels(columns.labels.get("group", ["all"] * columns.rows))
    errors = np.abs(columns.numbers["label"] - columns.numbers["prediction"])
    widths = [conformal_width(errors[cell == number], level=level) for number in range(len(names))]
    return ResultTable(
        title=f"half width of {100 * level:g} % prediction intervals of {label}",
        rows=frame_of({group or "group": names, "half_width": widths, "items": np.bincount(cell)}),
        method="split conformal",
        level=level,
        items=columns.rows,
        backend=columns.backend,
    )
