"""How doubtful each hard label is, from what the answers say about the people who gave them."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from beholder.consolidate.items import JudgedItems
from beholder.errors import StatisticsError
from beholder.stats.truth.dawid_skene import dawid_skene
from beholder.stats.truth.one_coin import one_coin

CLASSES = {"share": ("real", "generated"), "preference": ("image", "other", "tie")}
"""Of each method of labels the hard label that a judgement of each class votes for."""


def with_doubt(labels: pl.DataFrame, judged: JudgedItems) -> pl.DataFrame:
    """The labels with ``doubt``, the chance that the hard label is wrong, and a likelier one as ``suggested``.

    A model of the people says how probable each class is for each item: Dawid and Skene's, with a confusion of
    their own for everyone, for *real* and *generated*; the one-coin model for votes on pairs, whose classes go by
    ids and mean nothing. Where most people are careless on an item but the careful ones agree, the label is
    doubtful. Labels of other methods stay as they are.
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
    found = items.drop("item").with_columns(
        pl.Series("_likely", [names[place] for place in likeliest]),
        *(pl.Series(f"_{name}", posterior[:, place]) for place, name in enumerate(names)),
    )
    joined = labels.join(found, on=what, how="left", maintain_order="left")
    mine = pl.col("method") == method
    of_label = pl.coalesce(pl.when(pl.col("choice") == name).then(pl.col(f"_{name}")) for name in names)
    doubt = (1 - of_label).clip(0.0, 1.0)
    return joined.with_columns(
        doubt=pl.when(mine).then(doubt),
        suggested=pl.when(mine & (doubt > 0.5)).then(pl.col("_likely")),
    ).drop("_likely", *(f"_{name}" for name in names))


def _posterior(judged: JudgedItems, method: str) -> NDArray[np.float64]:
    """How probable each class is for each item (items, classes)."""
    who, what, code, _ = judged.arrays()
    labels, classes = code.astype(np.int64), len(CLASSES[method])
    fit = dawid_skene if method == "share" else one_coin
    return fit(who, what, labels, classes=classes).posterior
