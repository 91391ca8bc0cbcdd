"""Prompts rewritten or as they are: what was sent to a generator, and whether that gave it a lead."""

from collections.abc import Mapping

import numpy as np
import polars as pl

from beholder.board.marks.overfitting import FEWEST_PROMPTS, scores_by_prompt
from beholder.judgements.measures import Measure
from beholder.stats.significance.holm import holm
from beholder.stats.significance.overfitting import PromptGap, prompt_gap

Row = dict[str, object]


def rewritten_rows(measures: Mapping[str, Measure], generations: pl.DataFrame, *, level: float) -> list[Row]:
    """Return rows of ``board_marks`` for entries that got, or used, another prompt than the others.

    A prompt is rewritten where it was sent in other words, or where the generator says that it used others.
    Where an entry has both kinds of prompts, its lead over the others is compared between them.

    Args:
        measures: Name -> measure, over all prompts.
        generations: The table ``generations``.
        level: 1 − the chance of any false lead of one entry.

    Returns:
        One row per entry with rewritten prompts, always raised, with their proportion; and one per measure for
        which at least 20 prompts of both kinds have all entries.
    """
    sent = generations.filter(pl.col("status") == "done").group_by("generator", "prompt", maintain_order=True)
    prompts = sent.agg(
        rewritten=(
            (pl.col("sent") != pl.col("text")) | (pl.col("rewritten").fill_null(pl.col("text")) != pl.col("text"))
        ).any()
    )
    rows: list[Row] = []
    for (entry,), own in prompts.group_by("generator", maintain_order=True):
        count = int(own["rewritten"].sum())
        if not count:
            continue
        words = f"{entry} was given rewritten prompts: {count:,} of {own.height:,} differ from those of the study"
        finding: Row = {"estimate": count / own.height, "raised": True, "words": words}
        rows.append({"check": "rewritten", "measure": "all", "entry": str(entry)} | finding)
        rows += _leads(str(entry), own, measures, level)
    return rows


def _leads(entry: str, own: pl.DataFrame, measures: Mapping[str, Measure], level: float) -> list[Row]:
    gaps: dict[str, tuple[PromptGap, int]] = {}
    for name, measure in measures.items():
        if measure.votes or measure.better is None:
            continue
        rewritten = own.select("prompt", "rewritten")
        table = scores_by_prompt(measure).join(rewritten, on="prompt", maintain_order="left")
        entries = [column for column in table.columns if column not in ("prompt", "rewritten")]
        parts = [
            table.filter(pl.col("rewritten") == part).select(entries).to_numpy().astype(np.float64)
            for part in (True, False)
        ]
        if len(entries) > 1 and entry in entries and min(len(part) for part in parts) >= FEWEST_PROMPTS:
            gaps[name] = prompt_gap(*parts, level=level), entries.index(entry)
    adjusted = holm([float(gap.p_value[k]) for gap, k in gaps.values()])
    rows: list[Row] = []
    for (name, (gap, k)), p in zip(gaps.items(), adjusted, strict=True):
        raised = bool(p < 1 - level)
        words = (
            f"{entry} leads by {gap.standardised[k]:.2f} standard deviations more by {name} where its "
            f"prompts were "
            "rewritten"
            if raised
            else f"no evidence that rewritten prompts gave {entry} a lead by {name}"
        )
        tested: Row = {"estimate": float(gap.gap[k]), "low": float(gap.low[k]), "p": float(gap.p_value[k])}
        rows.append(
            {"check": "rewritten", "measure": name, "entry": entry}
            | tested
            | {"p_adjusted": float(p), "raised": raised, "words": words}
        )
    return rows
