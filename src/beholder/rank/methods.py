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
from beholder.study.kinds.sweep import SweepQuestion
from beholder.study.study import Analysis
from beholder.tables.ranked_pairs import pairs_of_rankings
from beholder.tables.store import Store
from beholder.tables.sweep_credits import credits_of_sweeps

Rater = Callable[[pl.DataFrame, pl.DataFrame, Analysis, np.random.Generator], Iterator[Rated]]
"""From prepared answers, the images and the settings to ratings."""

Prepare = Callable[[AnyQuestion, pl.DataFrame, Store], pl.DataFrame]
"""From the answers to the test trials to the rows that are rated; each has ``rater``, ``used`` and ``images``."""


def _as_given(question: AnyQuestion, tests: pl.DataFrame, store: Store) -> pl.DataFrame:  # noqa: ARG001
    return tests


def _as_votes(tests: pl.DataFrame) -> pl.DataFrame:
    return tests


def _credits(question: AnyQuestion, tests: pl.DataFrame, store: Store) -> pl.DataFrame:
    """The images of a sweep, each with the credit it has from presses."""
    assert isinstance(question, SweepQuestion)
    return credits_of_sweeps(
        tests.select("rater", "used", "trial", "session", "images"),
        store.read_or_empty("marks"),
        each_ms=question.each_ms,
        latency_ms=question.latency_ms,
        latency_sd_ms=question.latency_sd_ms,
    )


def _with_thresholds(question: AnyQuestion, tests: pl.DataFrame, store: Store) -> pl.DataFrame:
    """Answers with where the staircase of their block settled, and for which generator."""
    thresholds = store.read("thresholds").filter(pl.col("question") == question.name)
    settled = thresholds.select("session", "block", "modal_ms", "threshold_ms", judged="generator")
    return tests.join(settled, on=["session", "block"], how="left", maintain_order="left")


@dataclass(frozen=True, slots=True)
class Method:
    """How the answers of a question kind rate generators."""

    rate: Rater
    prepare: Prepare = _as_given
    sliced: bool = True
    """Whether the answers to some of the images can be rated by themselves: not those of one staircase."""
    votes: Callable[[pl.DataFrame], pl.DataFrame] | None = None
    """Of rows that say which of two images is better, the votes; ``comparisons`` counts them."""


METHODS: dict[str, Method] = {
    "realism": Method(error_rates),
    "timed-realism": Method(exposures, prepare=_with_thresholds, sliced=False),
    "pair": Method(preferences, votes=_as_votes),
    "ranking": Method(rankings, votes=pairs_of_rankings),
    "side-by-side-5": Method(leanings, votes=_as_votes),
    "rating": Method(mean_opinions),
    "rich-feedback": Method(mean_opinions),
    "sweep": Method(pass_rates, prepare=_credits),
}
"""The kinds, and how each rates generators."""
