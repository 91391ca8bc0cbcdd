"""Answers beside the trials they answer."""

import polars as pl

from beholder.tables.store import Store

SAID = pl.coalesce(
    "choice",
    pl.when(pl.col("value") == pl.col("value").round()).then(pl.col("value").cast(pl.Int64).cast(pl.String)),
    pl.col("value").cast(pl.String),
    pl.col("ranking").cast(pl.List(pl.String)).list.join(" "),
)
"""An answer as one word, as ``trials.expected`` holds it."""

WITHOUT_CONSENT = "no-consent"
"""Status of sessions whose answers count nowhere. Who withdraws may have them deleted; what they leave counts."""

TRIAL = ("slot", "position", "block", "role", "images", "prompt", "expected", "repeats")
"""What an answer has from its trial."""


def answered_trials(store: Store) -> pl.DataFrame:
    """Every valid answer with the role, images and expected answer of its trial, and the answer as a word.

    Answers of people who did not consent are left out.
    """
    joined = join_trials(store.read("answers"), store.read("trials"), store.read("sessions"))
    return joined.with_columns(said=SAID)


def join_trials(answers: pl.DataFrame, trials: pl.DataFrame, sessions: pl.DataFrame) -> pl.DataFrame:
    """The answers that count, in their order, each with what its trial showed and expected."""
    gone = sessions.filter(pl.col("status") == WITHOUT_CONSENT).select("session")
    counted = answers.filter(pl.col("valid")).join(gone, on="session", how="anti", maintain_order="left")
    return counted.join(trials.select("trial", *TRIAL), on="trial", how="left", maintain_order="left")


def skipped_trials(store: Store, question: str) -> pl.DataFrame:
    """Every trial of a question that was left unanswered, with its role and expected answer."""
    trials = store.read("trials").select("trial", "role", "expected")
    gone = store.read("sessions").filter(pl.col("status") == WITHOUT_CONSENT).select("session")
    skips = store.read_or_empty("skips").filter(pl.col("question") == question)
    return skips.join(gone, on="session", how="anti", maintain_order="left").join(
        trials, on="trial", how="left", maintain_order="left"
    )
