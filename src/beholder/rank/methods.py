"""How generators are rated. A question kind declares which of the ``METHODS`` rates by its judgements."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from beholder.rank.error_rate import error_rates
from beholder.rank.exposure import exposures
from beholder.rank.opinion import mean_opinions
from beholder.rank.preference import preferences
from beholder.rank.ranking import rankings
from beholder.rank.rated import Rated
from beholder.rank.side_by_side import leanings
from beholder.rank.sweep import pass_rates
from beholder.study.kinds.catalogue import AnyQuestion
from beholder.study.study import Analysis
from beholder.tables.store import Store

Rater = Callable[[pl.DataFrame, pl.DataFrame, Analysis, np.random.Generator], Iterator[Rated]]
"""From judgements, the images and the settings to ratings."""

Prepare = Callable[[AnyQuestion, pl.DataFrame, Store], pl.DataFrame]
"""From the judgements to those with what else the rating needs."""


def _as_given(question: AnyQuestion, judgements: pl.DataFrame, store: Store) -> pl.DataFrame:  # noqa: ARG001
    return judgements


def _with_thresholds(question: AnyQuestion, judgements: pl.DataFrame, store: Store) -> pl.DataFrame:
    """Judgements with where the staircase of their block settled, and for which generator."""
    thresholds = store.read("thresholds").filter(pl.col("question") == question.name)
    settled = thresholds.select("session", "block", "modal_ms", "threshold_ms", judged="generator")
    blocks = judgements.join(store.read("trials").select("trial", "block"), on="trial", maintain_order="left")
    return blocks.join(settled, on=["session", "block"], how="left", maintain_order="left")


@dataclass(frozen=True, slots=True)
class Method:
    """How judgements rate generators."""

    rate: Rater
    prepare: Prepare = _as_given
    sliced: bool = True
    """Whether the judgements of some of the images can be rated by themselves: not those of one staircase."""


METHODS: dict[str, Method] = {
    "error-rate": Method(error_rates),
    "modal-exposure": Method(exposures, prepare=_with_thresholds, sliced=False),
    "bradley-terry": Method(preferences),
    "plackett-luce": Method(rankings),
    "mean-preference": Method(leanings),
    "mean-opinion": Method(mean_opinions),
    "pass-rate": Method(pass_rates),
}
"""The methods, by the name that a question kind declares."""
