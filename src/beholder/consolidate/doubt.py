"""How doubtful each hard label is, from what the answers say about the people who gave them."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from beholder.consolidate.coding import EVEN, FIRST, SECOND, Coded
from beholder.errors import StatisticsError
from beholder.stats.truth.dawid_skene import dawid_skene
from beholder.stats.truth.one_coin import one_coin

CLASSES: dict[str, dict[float, str]] = {
    "share": {0.0: "real", 1.0: "generated"},
    "preference": {FIRST: "image", SECOND: "other", EVEN: "tie"},
}
"""Of each method of labels the codes of the answers, and the hard label that each votes for."""


def with_doubt(labels: pl.DataFrame, coded: Coded) -> pl.DataFrame:
    """The labels with ``doubt``, the chance that the hard label is wrong, and a likelier one as ``suggested``.

    A model of the people says how probable each class is for each item: Dawid and Skene's, with a confusion of
    their own for everyone, for *real* and *generated*; the one-coin model for votes on pairs, whose classes go by
    ids and mean nothing. Where most people are careless on an item but the careful ones agree, the label is
    doubtful. Labels of other methods stay as they are.
    """
    method = next((name for name in CLASSES if coded.scale == "nominal" and name in labels["method"]), None)
    if method is None or coded.frame.is_empty():
        return labels
    names = list(CLASSES[method].values())
    try:
        posterior = _posterior(coded, method)
    except StatisticsError:
        return labels
    what = [name for name in ("image", "other") if name in coded.frame.columns]
    items = coded.frame.select("item", *what).unique("item").sort("item")  # in the order of the items' numbers
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


def _posterior(coded: Coded, method: str) -> NDArray[np.float64]:
    """How probable each class is for each item (items, classes)."""
    who, what, code, _ = coded.arrays()
    labels, classes = code.astype(np.int64), len(CLASSES[method])
    fit = dawid_skene if method == "share" else one_coin
    return fit(who, what, labels, classes=classes).posterior
