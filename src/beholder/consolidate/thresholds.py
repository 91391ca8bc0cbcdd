"""Where each person's staircase settled, block by block: HYPE_time's modal exposure and what stands beside it."""

import numpy as np
import polars as pl

from beholder.errors import StatisticsError
from beholder.stats.psychophysics.psychometric import fit_psychometric
from beholder.stats.psychophysics.staircase_analysis import summarise_staircase
from beholder.study.kinds.traits import AdaptiveQuestion
from beholder.tables.catalogue import TABLES

LAPSE = 0.02
"""Share of slips that the likelihood allows for at any exposure; a block is too short to find it out."""

Row = dict[str, object]


def threshold_rows(question: AdaptiveQuestion, tests: pl.DataFrame, images: pl.DataFrame) -> pl.DataFrame:
    """The ``thresholds`` rows of a question.

    The mode and the turns go by the exposure the staircase asked for; it has its steps, while what a screen
    really showed is in frames. The threshold by likelihood goes by what was really shown.
    """
    known = images.select("image", "generator", "real")
    trials = (
        tests.with_columns(image=pl.col("images").list.first())
        .join(known, on="image", maintain_order="left")
        .with_columns(
            asked=pl.coalesce("intended_ms", "exposure_ms"),
            shown=pl.coalesce("exposure_ms", "intended_ms"),
            right=pl.col("choice") == pl.col("expected"),
        )
        .filter(pl.col("asked").is_not_null())
    )
    fake = pl.col("generator").filter(~pl.col("real"))
    blocks = (
        trials.sort("rater", "session", "block", "position")
        .group_by("rater", "session", "block", maintain_order=True)
        .agg("asked", "shown", "right", generator=pl.when(fake.n_unique() == 1).then(fake.first()))
    )
    return TABLES["thresholds"].frame([_row(question, block) for block in blocks.iter_rows(named=True)])


def _row(question: AdaptiveQuestion, block: Row) -> Row:
    right = np.asarray(block["right"], dtype=np.bool_)
    asked = np.asarray(block["asked"], dtype=np.float64)
    found = summarise_staircase(asked, right, floor=question.shortest_ms, ceiling=question.longest_ms)
    return {
        "question": question.name,
        **{name: block[name] for name in ("rater", "session", "block", "generator")},
        "answers": found.trials,
        "right_share": found.proportion_correct,
        "modal_ms": found.mode,
        "reversal_ms": None if np.isnan(found.reversal_mean) else found.reversal_mean,
        "threshold_ms": _threshold(question, np.asarray(block["shown"], dtype=np.float64), right),
        "reversals": found.reversals,
        "floor_share": found.floor_rate,
        "ceiling_share": found.ceiling_rate,
        "converged": found.converged,
    }


def _threshold(question: AdaptiveQuestion, shown: np.ndarray, right: np.ndarray) -> float | None:
    """The exposure at which the target share is right; empty where the answers do not tell."""
    try:
        fit = fit_psychometric(shown, right.astype(np.float64), lapse=LAPSE)
        level = fit.level_at(question.target())
    except StatisticsError:
        return None
    settled = not fit.doubtful and np.isfinite(level)
    return float(np.clip(level, question.shortest_ms, question.longest_ms)) if settled else None
