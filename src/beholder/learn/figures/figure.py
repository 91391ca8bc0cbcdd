"""A figure: one statistic of one aspect with its confidence intervals and bounds."""

from dataclasses import dataclass

import numpy as np

OVER_PROMPTS = "expanded BCa bootstrap over prompts"


@dataclass(frozen=True, slots=True)
class Figure:
    """One statistic of one aspect with its confidence intervals and bounds; what is not known is nan."""

    aspect: str
    statistic: str
    value: float
    low: float = np.nan
    high: float = np.nan
    """Ends of the confidence interval over prompts."""
    people_low: float = np.nan
    people_high: float = np.nan
    """Ends of the confidence interval over raters, images as they are."""
    floor: float = np.nan
    """Generator-mean baseline: the value of knowing the generator alone."""
    ceiling: float = np.nan
    """Human ceiling: the value that other raters reach."""
    items: int = 0
    prompts: int = 0
    ties: str = ""
    """How ties were counted."""
    interval: str = ""
    """Method of the confidence interval."""


@dataclass(frozen=True, slots=True)
class EvaluationSettings:
    """Level of the confidence intervals, number of bootstrap replicates and their seed."""

    level: float = 0.95
    replicates: int = 500
    seed: int = 0
