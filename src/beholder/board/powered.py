"""Values from few raters and many scores, beside those from raters alone: the rows of ``board_powered``."""

from collections.abc import Mapping

import numpy as np
import polars as pl

from beholder.errors import UserError
from beholder.judgements.measures import Measure
from beholder.stats.intervals.crossed_t import crossed_means
from beholder.stats.prediction.crossed_powered import PoweredMeans, crossed_powered

FEWEST_PROMPTS = 5
"""Judged prompts of an entry, and further ones, with which it is rated by raters and scores."""

Row = dict[str, object]


def powered_rows(measures: Mapping[str, Measure], chosen: str, *, level: float) -> list[Row]:
    """Return one row per measure by people, automatic measure and entry.

    Both values are over the same sample of prompts and raters, and both intervals come from one method. Votes are
    not rated so: a scorer scores images, not comparisons (``rank --scores`` does this for win rates).

    Args:
        measures: Name -> measure, over all prompts.
        chosen: The automatic measure that the board prints; empty: the one that narrows the intervals most.
        level: Of the confidence intervals.

    Returns:
        The rows; none where raters judged all prompts that were scored.

    Raises:
        UserError: If there is no automatic measure of the name ``chosen``.
    """
    programs = {name: measure for name, measure in measures.items() if measure.source in ("scorer", "model")}
    if chosen and chosen not in programs:
        names = ", ".join(programs) or "none"
        raise UserError(f"[board] powered_by names '{chosen}'; the automatic measures are: {names}")
    rows: list[Row] = []
    for people in measures.values():
        if people.source != "people" or people.votes:
            continue
        by_scorer = {name: _rows(people, scorer, level) for name, scorer in programs.items()}
        ratios = {name: _median_ratio(part) for name, part in by_scorer.items() if part}
        best = chosen or min(ratios, key=ratios.__getitem__, default="")
        rows += [row | {"chosen": name == best} for name, part in by_scorer.items() for row in part]
    return rows


def _rows(people: Measure, scorer: Measure, level: float) -> list[Row]:
    scores = scorer.by_prompt.rename({"value": "score"})
    judged = people.rows.join(scores, on=["prompt", "entry"])
    further = scores.join(people.rows.select("prompt", "entry").unique(), on=["prompt", "entry"], how="anti")
    counts = judged.group_by("entry").agg(pl.col("prompt").n_unique()).filter(pl.col("prompt") >= FEWEST_PROMPTS)
    more = further.group_by("entry").len().filter(pl.col("len") >= FEWEST_PROMPTS)
    entries = sorted(set(counts["entry"]) & set(more["entry"]))
    judged = judged.filter(pl.col("entry").is_in(entries))
    if not entries:
        return []
    sign = scorer.sign if scorer.better is not None else _sign(judged)
    rater, prompt = (_codes(judged[name]) for name in ("rater", "prompt"))
    entry = judged["entry"].replace_strict(entries, list(range(len(entries))), return_dtype=pl.Int64).to_numpy()
    values, own = judged["value"].to_numpy(), sign * judged["score"].to_numpy()
    means = crossed_powered(
        crossed_means(rater, prompt, entry, values, cell_count=len(entries), proportions=people.proportion),
        crossed_means(rater, prompt, entry, own, cell_count=len(entries)),
        [sign * further.filter(pl.col("entry") == name)["score"].to_numpy() for name in entries],
        level=level,
    )
    raters = dict(judged.group_by("entry").agg(pl.col("rater").n_unique()).iter_rows())
    return [
        {"measure": people.name, "scorer": scorer.name, "entry": name, "raters": raters[name]} | _numbers(means, k)
        for k, name in enumerate(entries)
    ]


def _numbers(means: PoweredMeans, k: int) -> Row:
    columns = {
        "value": means.value,
        "low": means.low,
        "high": means.high,
        "se": means.standard_error,
        "people_value": means.classical,
        "people_low": means.classical_low,
        "people_high": means.classical_high,
        "width_ratio": means.width_ratio,
        "tuning": means.tuning,
    }
    numbers: Row = {name: float(column[k]) if np.isfinite(column[k]) else None for name, column in columns.items()}
    return numbers | {
        "level": means.level,
        "prompts": int(means.judged[k]),
        "further_prompts": int(means.further[k]),
    }


def _median_ratio(rows: list[Row]) -> float:
    ratios = [float(str(row["width_ratio"])) for row in rows if row["width_ratio"] is not None]
    return float(np.median(ratios)) if ratios else float("inf")


def _sign(judged: pl.DataFrame) -> float:
    """Return 1 where higher scores go with higher answers within entries, otherwise −1."""
    within = judged.select(
        (pl.col(name) - pl.col(name).mean()).over("entry").alias(name) for name in ("value", "score")
    )
    return 1.0 if float((within["value"] * within["score"]).sum()) >= 0 else -1.0


def _codes(names: pl.Series) -> np.ndarray:
    return (names.rank("dense").cast(pl.Int64) - 1).to_numpy()
