"""Whether automatic measures put the entries in the order in which people put them.

The metric that agrees best with people image by image may misorder the generators, and the other way round: so
both levels are given, and the words speak of the level at which a board ranks.
"""

from collections.abc import Mapping

import numpy as np
import polars as pl
from scipy import stats

from beholder.board.standings import Standings
from beholder.judgements.measures import Measure

Row = dict[str, object]


def agreement_rows(measures: Mapping[str, Measure], boards: Mapping[str, Standings]) -> list[Row]:
    """Return one row of ``board_agreement`` per automatic measure and measure by people.

    Args:
        measures: Name -> measure, over all prompts.
        boards: Name -> its standings.

    Returns:
        Kendall's τ over entries, significant pairs of people that the measure misorders, the correlation over
        single images, and a sentence.
    """
    people = [name for name, measure in measures.items() if measure.source == "people"]
    programs = [
        name for name, measure in measures.items() if measure.source != "people" and measure.better is not None
    ]
    rows = [
        row
        for judged in people
        for name in programs
        if (row := _agreement(name, judged, measures, boards)) is not None
    ]
    best_image = {
        judged: max(
            (row for row in rows if row["people"] == judged and row["image_pearson"] is not None),
            key=lambda row: float(str(row["image_pearson"])),
            default=None,
        )
        for judged in people
    }
    for row in rows:
        row["words"] = _words(row, best=row is best_image[str(row["people"])])
    return rows


def _agreement(
    name: str, judged: str, measures: Mapping[str, Measure], boards: Mapping[str, Standings]
) -> Row | None:
    metric, people = boards[name], boards[judged]
    shared = [entry for entry in people.entries if entry in metric.entries]
    if len(shared) < 2:
        return None
    sign = 1.0 if metric.better_up else -1.0
    by_metric = dict(zip(metric.entries, sign * metric.cells.values, strict=True))
    by_people = dict(zip(people.entries, people.cells.values, strict=True))
    tau = stats.kendalltau([by_metric[e] for e in shared], [by_people[e] for e in shared]).statistic
    misordered = 0
    for first, second, difference, separated in zip(
        people.pairs.first, people.pairs.second, people.pairs.difference, people.pairs.separated, strict=True
    ):
        a, b = people.entries[first], people.entries[second]
        if separated and a in by_metric and b in by_metric:
            misordered += bool((by_metric[a] - by_metric[b]) * difference < 0)
    pearson, images = _over_images(measures[name], measures[judged], sign)
    return {
        "measure": name,
        "people": judged,
        "kendall": float(tau) if np.isfinite(tau) else None,
        "entries": len(shared),
        "misordered": misordered,
        "image_pearson": pearson,
        "images": images,
    }


def _over_images(metric: Measure, people: Measure, sign: float) -> tuple[float | None, int | None]:
    """Return the correlation of scores with people's mean over prompts and entries; none for votes."""
    if people.votes:
        return None, None
    keys = ("prompt", "entry")
    both = (
        people.rows.group_by(keys)
        .agg(judged=pl.col("value").mean())
        .join(metric.rows.group_by(keys).agg(scored=pl.col("value").mean() * sign), on=keys)
        .sort(keys)  # in one order, so that sums are the same to the last bit
    )
    if both.height < 3 or both["judged"].std() == 0 or both["scored"].std() == 0:
        return None, None
    return float(np.corrcoef(both["judged"], both["scored"])[0, 1]), both.height


def _words(row: Row, *, best: bool) -> str:
    misordered = int(str(row["misordered"]))
    same = row["kendall"] is not None and float(str(row["kendall"])) > 1 - 1e-9
    image = "agrees best with people image by image" if best else ""
    if same:
        order = "has the entries in the same order as people"
    elif misordered:
        pairs = "1 pair" if misordered == 1 else f"{misordered} pairs"
        order = f"misorders the generators: {pairs} that people separate the other way"
    else:
        order = "orders the generators differently, but no pair that people separate"
    joined = f"{image} {'and' if same else 'but'} {order}" if image else order
    return f"{row['measure']} {joined}"
