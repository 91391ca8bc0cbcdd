"""Where each rater's staircase settled, block by block: HYPE_time's modal exposure and other thresholds."""

import numpy as np
import polars as pl

from beholder.errors import StatisticsError
from beholder.stats.psychophysics.psychometric import fit_psychometric
from beholder.stats.psychophysics.staircase_analysis import summarise_staircase
from beholder.study.kinds.traits import AdaptiveQuestion
from beholder.tables.catalogue import TABLES

LAPSE = 0.02
"""Lapse rate that the likelihood assumes at any exposure; a block is too short to estimate it."""

Row = dict[str, object]


def threshold_rows(question: AdaptiveQuestion, tests: pl.DataFrame, images: pl.DataFrame) -> pl.DataFrame:
    """Return the ``thresholds`` rows of a question.

    The mode and the reversals are of the intended exposures, which are the steps of the staircase, while what a
    screen showed is in whole frames. The threshold by likelihood is fitted to the exposures really shown.
    """
    origins = images.select("image", "generator", "real")
    trials = (
        tests.with_columns(image=pl.col("images").list.first())
        .join(origins, on="image", maintain_order="left")
        .with_columns(
            intended=pl.coalesce("intended_ms", "exposure_ms"),
            actual=pl.coalesce("exposure_ms", "intended_ms"),
            correct=pl.col("choice") == pl.col("expected"),
        )
        .filter(pl.col("intended").is_not_null())
    )
    fake = pl.col("generator").filter(~pl.col("real"))
    blocks = (
        trials.sort("rater", "session", "block", "position")
        .group_by("rater", "session", "block", maintain_order=True)
        .agg("intended", "actual", "correct", generator=pl.when(fake.n_unique() == 1).then(fake.first()))
    )
    return TABLES["thresholds"].frame([_row(question, block) for block in blocks.iter_rows(named=True)])


def _row(question: AdaptiveQuestion, block: Row) -> Row:
    correct = np.asarray(block["correct"], dtype=np.bool_)
    intended = np.asarray(block["intended"], dtype=np.float64)
    summary = summarise_staircase(intended, correct, floor=question.shortest_ms, ceiling=question.longest_ms)
    return {
        "question": question.name,
        **{name: block[name] for name in ("rater", "session", "block", "generator")},
        "answers": summary.trials,
        "right_share": summary.proportion_correct,
        "modal_ms": summary.mode,
        "reversal_ms": None if np.isnan(summary.reversal_mean) else summary.reversal_mean,
        "threshold_ms": _threshold(question, np.asarray(block["actual"], dtype=np.float64), correct),
        "reversals": summary.reversals,
        "floor_share": summary.floor_rate,
        "ceiling_share": summary.ceiling_rate,
        "converged": summary.converged,
    }


def _threshold(question: AdaptiveQuestion, exposures: np.ndarray, correct: np.ndarray) -> float | None:
    """Return the exposure at which the target proportion is correct; ``None`` where the fit is not reliable."""
    try:
        fit = fit_psychometric(exposures, correct.astype(np.float64), lapse=LAPSE)
        level = fit.level_at(question.target())
    except StatisticsError:
        return None
    settled = not fit.doubtful and np.isfinite(level)
    return float(np.clip(level, question.shortest_ms, question.longest_ms)) if settled else None
