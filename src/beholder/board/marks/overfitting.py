"""Overfitting: does an entry do better on the public prompts than on held-out ones, compared with the others?"""

import numpy as np
import polars as pl

from beholder.judgements.measures import Measure
from beholder.stats.significance.overfitting import prompt_gap

FEWEST_PROMPTS = 20
"""Of the public and of the held-out prompts, below which entries are not tested for overfitting."""

Row = dict[str, object]


def overfitting_rows(measure: Measure, held_out: pl.DataFrame, *, level: float) -> list[Row]:
    """Return one row of ``board_marks`` per entry: does it do better on the public prompts than on held-out ones?

    Every entry's lead over the others is compared between both sets of prompts, so prompts that are harder for all
    raise no mark. Prompts are held out by a hash of their text, so both sets come from one source, and the others
    count as far as prompts are hard for all.

    Args:
        measure: Scores by prompt; votes have no scores of single entries.
        held_out: ``prompt`` and ``held_out`` of the curated prompts.
        level: 1 − the chance of any false mark of this measure.

    Returns:
        The rows; none where a set has fewer than 20 prompts with all entries, or nothing is better.
    """
    if measure.votes or measure.better is None:
        return []
    by_prompt = scores_by_prompt(measure).join(
        held_out.select("prompt", "held_out"), on="prompt", maintain_order="left"
    )
    entries = [name for name in by_prompt.columns if name not in ("prompt", "held_out")]
    public, fresh = (
        by_prompt.filter(pl.col("held_out") == part).select(entries).to_numpy().astype(np.float64)
        for part in (False, True)
    )
    if len(entries) < 2 or min(len(public), len(fresh)) < FEWEST_PROMPTS:
        return []
    gaps = prompt_gap(public, fresh, level=level, same_source=True)
    return [
        {
            "check": "overfitting",
            "measure": measure.name,
            "entry": entry,
            "estimate": float(gaps.gap[k]),
            "low": float(gaps.low[k]),
            "p": float(gaps.p_value[k]),
            "p_adjusted": float(gaps.p_adjusted[k]),
            "raised": bool(gaps.flagged[k]),
            "words": _words(entry, float(gaps.standardised[k]), raised=bool(gaps.flagged[k])),
        }
        for k, entry in enumerate(entries)
    ]


def scores_by_prompt(measure: Measure) -> pl.DataFrame:
    """Return one row per prompt that has all entries, with the mean score of each; higher is better."""
    return (
        measure.by_prompt.with_columns(pl.col("value") * measure.sign)
        .sort("entry", "prompt")
        .pivot(on="entry", index="prompt", values="value")
        .drop_nulls()
        .sort("prompt")  # in one order, so that sums are the same to the last bit
    )


def _words(entry: str, size: float, *, raised: bool) -> str:
    if raised:
        return (
            f"{entry} leads by {size:.2f} standard deviations more on the public prompts than on the held-out ones"
        )
    return f"no evidence that {entry} is overfitted to the public prompts"
