"""How far people put the same images in the same order: Kendall's W of a question's sets of images."""

import numpy as np
import polars as pl

from beholder.errors import StatisticsError
from beholder.judgements.rankings import rankings_of
from beholder.stats.agreement.kendall_w import concordance_of_sets
from beholder.study.kinds.catalogue import AnyQuestion

STATISTIC = "kendall-w"

Row = dict[str, object]


def concordance_rows(question: AnyQuestion, judgements: pl.DataFrame, used: set[str], level: float) -> list[Row]:
    """The ``agreement`` rows of W, the mean over sets of images that two people or more ranked.

    A set is the same images in any order on the screen; of a person's rankings of a set the first counts. The
    items of these rows are sets, their answers ranks given.
    """
    rankings = (
        rankings_of(judgements)
        .select("rater", "images", "ranking", set=pl.col("images").list.sort().list.join("\n"))
        .unique(["rater", "set"], keep="first", maintain_order=True)
    )
    kept = rankings.filter(pl.col("rater").is_in(list(used)))
    common: Row = {"question": question.name, "aspect": "preference", "statistic": STATISTIC}
    return [common | {"people": people} | _w(part, level) for people, part in (("all", rankings), ("used", kept))]


def _w(rankings: pl.DataFrame, level: float) -> Row:
    """W with its interval over people; empty where no set was ranked twice, or all ranks are equal."""
    ranks = rankings.explode("images", "ranking")
    shared = rankings.group_by("set").len().filter(pl.col("len") >= 2)
    counts: Row = {"answers": ranks.height, "items": shared.height, "raters": rankings["rater"].n_unique()}
    if shared.is_empty():
        return counts
    number = ranks.select(pl.col("rater", "set", "images").rank("dense").cast(pl.Int64) - 1)
    try:
        found = concordance_of_sets(
            number["rater"].to_numpy(),
            number["set"].to_numpy(),
            number["images"].to_numpy(),
            ranks["ranking"].to_numpy(),
            level=level,
        ).w
    except StatisticsError:
        return counts
    row: Row = {"value": found.value, "answers": found.answers, "items": found.items, "raters": found.raters}
    return row if np.isnan(found.low) else row | {"low": found.low, "high": found.high}
