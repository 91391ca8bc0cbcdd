"""Where each person's staircase settled, block by block: HYPE_time's modal exposure and what stands beside it."""

import polars as pl

from beholder.study.kinds.timed_realism import TimedRealismQuestion

LAST_REVERSALS = 6
"""So many of the last turns, an even number, are averaged: as many upper as lower ones."""

LEAST_REVERSALS = 4
MOST_AT_AN_END = 0.5
"""A block with fewer turns than this, or a larger share of trials at one end, has not settled."""

BLOCK = ["rater", "session", "block"]


def threshold_rows(question: TimedRealismQuestion, tests: pl.DataFrame, images: pl.DataFrame) -> pl.DataFrame:
    """The ``thresholds`` rows of a question.

    The mode and the turns go by the exposure the staircase asked for; it has its steps, while what a screen
    really showed is in frames.
    """
    known = images.select("image", "generator", "real")
    trials = (
        tests.with_columns(image=pl.col("images").list.first())
        .join(known, on="image", maintain_order="left")
        .with_columns(
            asked=pl.coalesce("intended_ms", "exposure_ms"), right=pl.col("choice") == pl.col("expected")
        )
        .filter(pl.col("asked").is_not_null())
        .sort(*BLOCK, "position")
    )
    fake = pl.col("generator").filter(~pl.col("real"))
    blocks = trials.group_by(BLOCK, maintain_order=True).agg(
        generator=pl.when(fake.n_unique() == 1).then(fake.first()),
        answers=pl.len().cast(pl.Int64),
        right_share=pl.col("right").mean(),
        floor_share=(pl.col("asked") <= question.shortest_ms).mean(),
        ceiling_share=(pl.col("asked") >= question.longest_ms).mean(),
    )
    found = blocks.join(_modes(trials), on=BLOCK, maintain_order="left").join(
        _reversals(trials), on=BLOCK, how="left", maintain_order="left"
    )
    turned = pl.col("reversals").fill_null(0)
    settled = (
        (turned >= LEAST_REVERSALS)
        & (pl.col("floor_share") <= MOST_AT_AN_END)
        & (pl.col("ceiling_share") <= MOST_AT_AN_END)
    )
    return found.with_columns(question=pl.lit(question.name), reversals=turned, converged=settled)


def _modes(trials: pl.DataFrame) -> pl.DataFrame:
    """The most frequent exposure of each block; of several as frequent, their mean."""
    counts = trials.group_by(*BLOCK, "asked").len()
    most = counts.filter(pl.col("len") == pl.col("len").max().over(BLOCK))
    return most.group_by(BLOCK).agg(modal_ms=pl.col("asked").mean())


def _reversals(trials: pl.DataFrame) -> pl.DataFrame:
    """How often each block turned, and the mean exposure at its last turns."""
    change = pl.col("asked").diff().over(BLOCK)
    steps = trials.with_columns(change=change, step=change.sign()).filter(pl.col("step") != 0)
    # a step against the one before it: the exposure it left was the turn
    turns = steps.with_columns(
        before=pl.col("step").shift().over(BLOCK), left=pl.col("asked") - pl.col("change")
    ).filter(pl.col("before").is_not_null() & (pl.col("before") != pl.col("step")))
    even = (pl.len().clip(upper_bound=LAST_REVERSALS) // 2) * 2
    return turns.group_by(BLOCK, maintain_order=True).agg(
        reversals=pl.len().cast(pl.Int64),
        reversal_ms=pl.when(even > 0).then(pl.col("left").tail(even).mean()),
    )
