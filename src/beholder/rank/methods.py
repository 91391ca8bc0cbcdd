"""How each question kind rates generators. A new kind is a line in ``METHODS``."""

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
    """How the judgements of a question kind rate generators."""

    rate: Rater
    prepare: Prepare = _as_given
    sliced: bool = True
    """Whether the judgements of some of the images can be rated by themselves: not those of one staircase."""


METHODS: dict[str, Method] = {
    "realism": Method(error_rates),
    "timed-realism": Method(exposures, prepare=_with_thresholds, sliced=False),
    "pair": Method(preferences),
    "ranking": Method(rankings),
    "side-by-side-5": Method(leanings),
    "rating": Method(mean_opinions),
    "rich-feedback": Method(mean_opinions),
    "sweep": Method(pass_rates),
}
"""The kinds, and how each rates generators."""
