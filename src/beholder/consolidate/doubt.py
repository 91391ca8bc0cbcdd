"""Likely label errors: the probability that a majority vote is wrong, by a model of the raters who voted."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from beholder.consolidate.items import JudgedItems
from beholder.judgements.coding import PAIRED
from beholder.stats.truth.majority_errors import majority_errors

METHOD = "preference"
"""The labels that can be wrong. Whether an image is real or generated is known by construction: no doubt."""

SIDES = pl.Enum(["image", "other", "tie"])
"""What most chose: the first image of a pair, the other, or neither."""

OPPOSITE = {"image": "other", "other": "image"}


def with_doubt(labels: pl.DataFrame, judged: JudgedItems) -> pl.DataFrame:
    """Add ``doubt``, the probability that the majority's choice is wrong, and a likelier one as ``suggested``.

    A choice is wrong where most raters of the population that reliable raters belong to would choose the other
    image (:mod:`beholder.stats.truth.majority_errors`). Where the vote is equal there is no choice to doubt.
    Labels of other methods stay as they are.
    """
    if METHOD not in labels["method"] or judged.value_kind not in PAIRED or judged.frame.is_empty():
        return labels
    of_method = labels["method"] == METHOD
    first = np.full(labels.height, np.nan)
    first[of_method.to_numpy()] = _first(judged)  # both in the order of the pairs
    joined = labels.with_columns(_first=pl.Series(first, nan_to_null=True))
    of_choice = pl.when(pl.col("choice") == "image").then(1 - pl.col("_first")).otherwise("_first")
    doubtable = (pl.col("method") == METHOD) & pl.col("choice").is_in(list(OPPOSITE))
    doubt = of_choice.clip(0.0, 1.0)
    other = pl.col("choice").replace_strict(OPPOSITE, default=None, return_dtype=SIDES)
    return joined.with_columns(
        doubt=pl.when(doubtable).then(doubt), suggested=pl.when(doubtable & (doubt > 0.5)).then(other)
    ).drop("_first")


def _first(judged: JudgedItems) -> NDArray[np.float64]:
    """Return the probability that the first of each pair is preferred, in the order of the pairs."""
    who, what, _, _ = judged.arrays()
    fit = majority_errors(who, what, np.sign(judged.frame["value"].to_numpy()))
    del who, what
    pair = ["image", "other"]
    pairs = judged.frame.select("item", *pair).unique("item").sort("item").select(pair)  # as in `fit`
    return pairs.with_columns(first=pl.Series(fit.first)).sort(pair)["first"].to_numpy()
