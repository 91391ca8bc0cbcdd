"""How generators are rated. A question kind declares which of the ``METHODS`` rates by its judgements."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import polars as pl

from beholder.judgements.generator_values import counts
from beholder.rank.counted_options import rate_by_counted_options
from beholder.rank.error_rate import rate_by_errors
from beholder.rank.exposure import rate_by_exposure
from beholder.rank.opinion import rate_by_mean_opinion
from beholder.rank.preference import rate_by_bradley_terry
from beholder.rank.ranking import rate_by_plackett_luce
from beholder.rank.ratings import GeneratorRatings
from beholder.rank.side_by_side import rate_by_mean_preference
from beholder.rank.sweep import rate_by_pass_rate
from beholder.study.kinds.catalogue import AnyQuestion, kind_of
from beholder.study.study import Analysis
from beholder.tables.store import Store

Rate = Callable[[pl.DataFrame, pl.DataFrame, Analysis], Iterator[GeneratorRatings]]
"""From judgements, the images and the settings to ratings of generators."""

Prepare = Callable[[AnyQuestion, pl.DataFrame, Store], pl.DataFrame]
"""Adds to the judgements the columns that the method needs besides."""


def _unchanged(question: AnyQuestion, judgements: pl.DataFrame, store: Store) -> pl.DataFrame:  # noqa: ARG001
    return judgements


def _with_thresholds(question: AnyQuestion, judgements: pl.DataFrame, store: Store) -> pl.DataFrame:
    """Add where the staircase of each judgement's block settled, and for which generator."""
    thresholds = store.read("thresholds").filter(pl.col("question") == question.name)
    settled = thresholds.select("session", "block", "modal_ms", "threshold_ms", judged="generator")
    blocks = judgements.join(store.read("trials").select("trial", "block"), on="trial", maintain_order="left")
    return blocks.join(settled, on=["session", "block"], how="left", maintain_order="left")


def _counted(question: AnyQuestion, judgements: pl.DataFrame, store: Store) -> pl.DataFrame:  # noqa: ARG001
    """Judgements as 1 where the option that was chosen counts, else 0."""
    return judgements.with_columns(value=counts(kind_of(question).coding(question)).cast(pl.Float64))


@dataclass(frozen=True, slots=True)
class Method:
    """How judgements rate generators."""

    rate: Rate
    prepare: Prepare = _unchanged
    sliced: bool = True
    """Whether the judgements of some of the images can be rated by themselves: not those of one staircase."""
    single: bool = False
    """Whether it matters which judgements are of one answer."""


METHODS: dict[str, Method] = {
    "error-rate": Method(rate_by_errors),
    "modal-exposure": Method(rate_by_exposure, prepare=_with_thresholds, sliced=False, single=True),
    "bradley-terry": Method(rate_by_bradley_terry),
    "plackett-luce": Method(rate_by_plackett_luce, single=True),
    "mean-preference": Method(rate_by_mean_preference),
    "mean-opinion": Method(rate_by_mean_opinion),
    "pass-rate": Method(rate_by_pass_rate),
    "option-share": Method(rate_by_counted_options, prepare=_counted),
}
"""The methods, by the name that a question kind declares."""
