"""How much better images are after an improvement, with confidence intervals over prompts."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.stats.estimate import Estimate
from beholder.stats.intervals.crossed_t import crossed_means, crossed_t

Row = dict[str, object]

NOTICEABLE = 1e-9
"""A loss above rounding."""


def mean_gain(gains: ArrayLike, prompts: Sequence[str], *, level: float = 0.95) -> Estimate:
    """Return the mean gain with its t interval over prompts; images of a prompt are one cluster."""
    values = np.asarray(gains, np.float64)
    numbers = prompt_numbers(prompts)
    means = crossed_means(None, numbers, np.zeros(len(values), np.int64), values)
    return crossed_t(means, level=level)[0]


def prompt_numbers(prompts: Sequence[str]) -> NDArray[np.int64]:
    """Return the prompts as numbers, equal ones alike."""
    order = {prompt: number for number, prompt in enumerate(dict.fromkeys(prompts))}
    return np.array([order[prompt] for prompt in prompts], np.int64)


def gain_row(
    measure: str,
    name: str,
    before: ArrayLike,
    after: ArrayLike,
    prompts: Sequence[str],
    *,
    level: float = 0.95,
    possible: float | None = None,
) -> Row:
    """Return the row of the table ``gains`` of one measure.

    Args:
        measure: One of those of the table: own, held-out, ground truth, control.
        name: Scorer, or aspect of the ground truth.
        before: Scores before (images,).
        after: Scores after, in the same order.
        prompts: The prompt of each image.
        level: Of the confidence interval.
        possible: The mean gain if nothing were wrong any more.

    Returns:
        The row, without the name of the improvement.
    """
    first, second = np.asarray(before, np.float64), np.asarray(after, np.float64)
    estimate = mean_gain(second - first, prompts, level=level)
    return {
        "measure": measure,
        "name": name,
        "before": float(first.mean()),
        "after": float(second.mean()),
        "gain": estimate.value,
        "low": _or_none(estimate.low),
        "high": _or_none(estimate.high),
        "level": level,
        "method": estimate.method,
        "possible": possible,
        "worse": float((second < first - NOTICEABLE).mean()),
        "images": len(first),
        "prompts": len(set(prompts)),
    }


def _or_none(number: float) -> float | None:
    return None if np.isnan(number) else float(number)
