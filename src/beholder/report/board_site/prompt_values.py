"""What every measure says of every entry on every single prompt."""

import polars as pl

from beholder.judgements.measures import Measure, collect_measures
from beholder.tables.store import Store

SCHEMA = {
    "measure": pl.String(),
    "prompt": pl.String(),
    "entry": pl.String(),
    "value": pl.Float64(),
    "answers": pl.Int64(),
}


def prompt_values(store: Store) -> pl.DataFrame:
    """Return one row per measure, prompt and entry, from the judgements, scores and predictions of a study.

    Args:
        store: Of the study.

    Returns:
        ``measure``, ``prompt``, ``entry``; ``value``, the mean of answers or scores, or of votes the proportion
        that the entry won (a tie counts half); ``answers``, how many there are.
    """
    measures = collect_measures(
        store.read_or_empty("judgements"),
        store.read("images"),
        store.read_or_empty("scores"),
        store.read_or_empty("predictions"),
    )
    parts = [_by_prompt(measure).with_columns(measure=pl.lit(measure.name)) for measure in measures]
    if not parts:
        return pl.DataFrame(schema=SCHEMA)
    ordered = pl.concat(parts).select(pl.col(name).cast(kind) for name, kind in SCHEMA.items())
    return ordered.sort("measure", "prompt", "entry")


def _by_prompt(measure: Measure) -> pl.DataFrame:
    scores = won_votes(measure.rows) if measure.votes else measure.rows
    return scores.group_by("prompt", "entry").agg(value=pl.col("value").mean(), answers=pl.len())


def won_votes(votes: pl.DataFrame) -> pl.DataFrame:
    """Return both sides of every vote: 1 where the entry won, ½ of a tie, 0 where it lost.

    Args:
        votes: ``prompt``, ``entry``, ``other`` and ``value``, above 0 where ``entry`` won.

    Returns:
        ``prompt``, ``entry`` and ``value``, two rows per vote.
    """
    credit = (pl.col("value").sign() + 1) / 2
    return pl.concat(
        [
            votes.select("prompt", "entry", value=credit),
            votes.select("prompt", entry="other", value=1 - credit),
        ]
    )
