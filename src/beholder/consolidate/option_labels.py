"""Labels of images by named options: what most raters chose, and the probability that it is wrong."""

import numpy as np
import polars as pl

from beholder.consolidate.items import JudgedItems
from beholder.stats.intervals.proportions import wilson
from beholder.stats.truth.dawid_skene import dawid_skene

LEAST_ITEMS = 10
"""Images below which raters' confusions cannot be estimated: no doubt is given."""


def plurality(judged: JudgedItems, level: float) -> pl.DataFrame:
    """The option that most raters chose, its proportion with Wilson's interval, and the doubt beside it.

    Doubt is the probability, by Dawid and Skene's model of the raters, that the image is of another option than
    the one that most chose; ``suggested`` is a likelier one. Where two lead equally there is no choice to doubt.
    The interval is that of an option named beforehand: of the leading one it is somewhat too high.
    """
    who, what, values, _ = judged.arrays()
    chosen = values.astype(np.int64)
    counts = np.zeros((int(what.max(initial=-1)) + 1, len(judged.names)))  # (images, options)
    np.add.at(counts, (what, chosen), 1.0)
    answers = counts.sum(axis=1)
    leading = counts.argmax(axis=1)
    most = counts.max(axis=1, initial=0.0)
    alone = (counts == most[:, None]).sum(axis=1) == 1
    low, high = wilson(most, answers, level)
    names = np.array(judged.names)
    images = judged.frame.select("item", "image").unique("item").sort("item")["image"]
    raters = judged.frame.group_by("item").agg(pl.col("rater").n_unique()).sort("item")["rater"]
    doubt, likely = _doubts(who, what, chosen, leading, len(judged.names))
    return pl.DataFrame(
        {
            "image": images,
            "value": most / answers,
            "low": low,
            "high": high,
            "choice": [str(name) if clear else None for name, clear in zip(names[leading], alone, strict=True)],
            "answers": answers.astype(np.int64),
            "raters": raters.cast(pl.Int64),
            "method": ["plurality"] * len(images),
            "doubt": [float(d) if clear and d >= 0 else None for d, clear in zip(doubt, alone, strict=True)],
            "suggested": [
                str(names[other]) if clear and d > 0.5 else None
                for other, d, clear in zip(likely, doubt, alone, strict=True)
            ],
        },
        schema_overrides={"choice": pl.String, "doubt": pl.Float64, "suggested": pl.String, "method": pl.String},
    )


def _doubts(
    who: np.ndarray, what: np.ndarray, chosen: np.ndarray, leading: np.ndarray, options: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the doubt in each leading option, −1 where it is unknown, and the likeliest option."""
    if len(leading) < LEAST_ITEMS:
        return np.full(len(leading), -1.0), leading
    fit = dawid_skene(who, what, chosen, classes=options)
    return np.clip(1 - fit.posterior[np.arange(len(leading)), leading], 0.0, 1.0), fit.labels
