"""Answers joined with their trials."""

import polars as pl

from beholder.tables.catalogue import TABLES
from beholder.tables.check import conform
from beholder.tables.store import Store

ANSWER_TEXT = pl.coalesce(
    "choice",
    pl.when(pl.col("value") == pl.col("value").round()).then(pl.col("value").cast(pl.Int64).cast(pl.String)),
    pl.col("value").cast(pl.String),
    pl.col("ranking").cast(pl.List(pl.String)).list.join(" "),
)
"""An answer as one text, as ``trials.expected`` holds it."""

WITHOUT_CONSENT = "no-consent"
"""Status of sessions whose answers are never used. Those of raters who withdrew are, unless they were deleted."""

TRIAL = ("slot", "position", "block", "role", "images", "prompt", "expected", "repeats")
"""The columns that an answer gets from its trial."""


def answered_trials(store: Store) -> pl.DataFrame:
    """Return every valid answer with the role, images and expected answer of its trial, and the answer as a text.

    Answers of raters who did not consent are left out.
    """
    joined = join_trials(store.read("answers"), store.read("trials"), store.read("sessions"))
    return joined.with_columns(answer_text=ANSWER_TEXT)


def join_trials(answers: pl.DataFrame, trials: pl.DataFrame, sessions: pl.DataFrame) -> pl.DataFrame:
    """Return the answers that count, in their order, each with what its trial showed and expected."""
    refused = sessions.filter(pl.col("status") == WITHOUT_CONSENT).select("session")
    counted = answers.filter(pl.col("valid")).join(refused, on="session", how="anti", maintain_order="left")
    return counted.join(trials.select("trial", *TRIAL), on="trial", how="left", maintain_order="left")


def skipped_trials(store: Store, question: str) -> pl.DataFrame:
    """Return every trial of a question that was left unanswered, with its role and expected answer."""
    skips = store.read_or_empty("skips").filter(pl.col("question") == question)
    rows = pl.scan_parquet(store.path("trials")).join(skips.lazy().select("trial"), on="trial", how="semi")
    trials = conform(rows.collect(), TABLES["trials"]).select("trial", "role", "expected")
    refused = store.read("sessions").filter(pl.col("status") == WITHOUT_CONSENT).select("session")
    return skips.join(refused, on="session", how="anti", maintain_order="left").join(
        trials, on="trial", how="left", maintain_order="left"
    )
