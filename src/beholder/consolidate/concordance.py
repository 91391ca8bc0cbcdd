"""How far raters put the same images in the same order: Kendall's W of a question's sets of images."""

import numpy as np
import polars as pl

from beholder.errors import StatisticsError
from beholder.judgements.rankings import rankings_of
from beholder.stats.agreement.kendall_w import concordance_of_sets
from beholder.study.kinds.catalogue import AnyQuestion

STATISTIC = "kendall-w"

Row = dict[str, object]


def concordance_rows(question: AnyQuestion, judgements: pl.DataFrame, used: set[str], level: float) -> list[Row]:
    """Return the ``agreement`` rows of W, the mean over sets of images that two raters or more ranked.

    A set is the same images in any order on the screen; of a rater's rankings of a set the first counts. The
    items of these rows are sets, and their answers are the ranks given.
    """
    rankings = (
        rankings_of(judgements)
        .select("rater", "images", "ranking", set=pl.col("images").list.sort().list.join("\n"))
        .unique(["rater", "set"], keep="first", maintain_order=True)
    )
    screened = rankings.filter(pl.col("rater").is_in(list(used)))
    common: Row = {"question": question.name, "aspect": "preference", "statistic": STATISTIC}
    by_raters = (("all", rankings), ("used", screened))
    return [common | {"people": raters} | _w(part, level) for raters, part in by_raters]


def _w(rankings: pl.DataFrame, level: float) -> Row:
    """Return W with its confidence interval over raters; empty where no set was ranked twice or all ranks tie."""
    ranks = rankings.explode("images", "ranking")
    shared = rankings.group_by("set").len().filter(pl.col("len") >= 2)
    counts: Row = {"answers": ranks.height, "items": shared.height, "raters": rankings["rater"].n_unique()}
    if shared.is_empty():
        return counts
    number = ranks.select(pl.col("rater", "set", "images").rank("dense").cast(pl.Int64) - 1)
    try:
        concordance = concordance_of_sets(
            number["rater"].to_numpy(),
            number["set"].to_numpy(),
            number["images"].to_numpy(),
            ranks["ranking"].to_numpy(),
            level=level,
        ).w
    except StatisticsError:
        return counts
    row: Row = {
        "value": concordance.value,
        "answers": concordance.answers,
        "items": concordance.items,
        "raters": concordance.raters,
    }
    return row if np.isnan(concordance.low) else row | {"low": concordance.low, "high": concordance.high}
