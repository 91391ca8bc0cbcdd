"""Likely label errors: the probability that a majority vote is wrong, by a model of the raters who voted."""

import numpy as np
import polars as pl

from beholder.consolidate.items import JudgedItems
from beholder.judgements.coding import PAIRED
from beholder.stats.truth.majority_errors import majority_errors

METHOD = "preference"
"""The labels that can be wrong. Whether an image is real or generated is known by construction: no doubt."""

OPPOSITE = {"image": "other", "other": "image"}


def with_doubt(labels: pl.DataFrame, judged: JudgedItems) -> pl.DataFrame:
    """Add ``doubt``, the probability that the majority's choice is wrong, and a likelier one as ``suggested``.

    A choice is wrong where most raters of the population that reliable raters belong to would choose the other
    image (:mod:`beholder.stats.truth.majority_errors`). Where the vote is equal there is no choice to doubt.
    Labels of other methods stay as they are.
    """
    if METHOD not in labels["method"] or judged.value_kind not in PAIRED or judged.frame.is_empty():
        return labels
    who, what, _, _ = judged.arrays()
    fit = majority_errors(who, what, np.sign(judged.frame["value"].to_numpy()))
    pair = ["image", "other"]
    doubts = judged.frame.select("item", *pair).unique("item").sort("item").drop("item")  # in the order of `first`
    joined = labels.join(
        doubts.with_columns(_first=pl.Series(fit.first)), on=pair, how="left", maintain_order="left"
    )
    of_choice = pl.when(pl.col("choice") == "image").then(1 - pl.col("_first")).otherwise("_first")
    doubtable = (pl.col("method") == METHOD) & pl.col("choice").is_in(list(OPPOSITE))
    doubt = of_choice.clip(0.0, 1.0)
    other = pl.col("choice").replace_strict(OPPOSITE, default=None, return_dtype=pl.String)
    return joined.with_columns(
        doubt=pl.when(doubtable).then(doubt), suggested=pl.when(doubtable & (doubt > 0.5)).then(other)
    ).drop("_first")
