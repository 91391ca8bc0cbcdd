"""Likely label errors: the probability that a hard label is wrong, by a model of the raters who gave it."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from beholder.consolidate.items import JudgedItems
from beholder.errors import StatisticsError
from beholder.stats.truth.dawid_skene import dawid_skene
from beholder.stats.truth.one_coin import one_coin

CLASSES = {"share": ("real", "generated"), "preference": ("image", "other", "tie")}
"""For each labelling method, the hard label that a judgement of each class votes for."""


def with_doubt(labels: pl.DataFrame, judged: JudgedItems) -> pl.DataFrame:
    """Add ``doubt``, the probability that the hard label is wrong, and a likelier label as ``suggested``.

    A model of the raters gives the probability of each class for each item: Dawid and Skene's, with one confusion
    matrix per rater, for *real* and *generated*; the one-coin model for votes on pairs, whose classes follow from
    the order of ids and mean nothing. Where most raters of an item are careless but the careful ones agree, the
    label is a likely error. Labels of other methods stay as they are.
    """
    method = next((name for name in CLASSES if judged.scale == "nominal" and name in labels["method"]), None)
    if method is None or judged.frame.is_empty():
        return labels
    names = CLASSES[method]
    try:
        posterior = _posterior(judged, method)
    except StatisticsError:
        return labels
    what = [name for name in ("image", "other") if name in judged.frame.columns]
    items = judged.frame.select("item", *what).unique("item").sort("item")  # in the order of the items' numbers
    likeliest = posterior.argmax(axis=1)
    posteriors = items.drop("item").with_columns(
        pl.Series("_likely", [names[index] for index in likeliest]),
        *(pl.Series(f"_{name}", posterior[:, index]) for index, name in enumerate(names)),
    )
    joined = labels.join(posteriors, on=what, how="left", maintain_order="left")
    by_method = pl.col("method") == method
    of_label = pl.coalesce(pl.when(pl.col("choice") == name).then(pl.col(f"_{name}")) for name in names)
    doubt = (1 - of_label).clip(0.0, 1.0)
    return joined.with_columns(
        doubt=pl.when(by_method).then(doubt),
        suggested=pl.when(by_method & (doubt > 0.5)).then(pl.col("_likely")),
    ).drop("_likely", *(f"_{name}" for name in names))


def _posterior(judged: JudgedItems, method: str) -> NDArray[np.float64]:
    """Return the probability of each class for each item (items, classes)."""
    who, what, code, _ = judged.arrays()
    labels, classes = code.astype(np.int64), len(CLASSES[method])
    fit = dawid_skene if method == "share" else one_coin
    return fit(who, what, labels, classes=classes).posterior
