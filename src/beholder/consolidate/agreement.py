"""How far people agree, before and after screening."""

import numpy as np
import polars as pl

from beholder.consolidate.coding import Coded
from beholder.errors import StatisticsError
from beholder.stats.bootstrap import person_weights
from beholder.stats.krippendorff import krippendorff_alpha

DRAWS = 1000


def agreement_rows(
    question: str, coded: Coded, used: set[str], level: float, rng: np.random.Generator
) -> list[dict[str, object]]:
    """Krippendorff's α of all people and of those used; empty values where it is not defined."""
    everyone = coded.frame
    screened = everyone.filter(pl.col("rater").is_in(list(used)))
    return [
        {"question": question, "aspect": coded.aspect, "people": people, **_alpha(part, level, rng)}
        for people, part in (
            ("all", coded),
            ("used", Coded(coded.aspect, coded.scale, screened)),
        )
    ]


def _alpha(coded: Coded, level: float, rng: np.random.Generator) -> dict[str, object]:
    row: dict[str, object] = {"statistic": f"krippendorff-alpha-{coded.scale}"}
    counts: dict[str, object] = {
        "answers": coded.frame.height,
        "items": coded.frame.group_by("item").len().filter(pl.col("len") >= 2).height,
        "raters": coded.frame["rater"].n_unique(),
    }
    if coded.frame.is_empty():
        return row | counts
    who, what, code, names = coded.arrays()
    weights = person_weights(np.zeros(len(names), dtype=np.int64), DRAWS, rng)
    try:
        alpha = krippendorff_alpha(who, what, code, weights, scale=coded.scale, level=level)
    except StatisticsError:
        return row | counts
    numbers = {"value": alpha.value, "low": alpha.low, "high": alpha.high}
    known = {name: None if np.isnan(number) else number for name, number in numbers.items()}
    return row | known | {"answers": alpha.answers, "items": alpha.items, "raters": alpha.raters}
