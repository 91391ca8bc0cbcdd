"""Answers beside the trials they answer, as the stages after collecting need them."""

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


def answered_trials(store: Store) -> pl.DataFrame:
    """Every valid answer with the role, images and expected answer of its trial, and the answer as a word.

    Answers of people who did not consent are left out.
    """
    columns = ["trial", "kind", "slot", "position", "block", "role", "images", "prompt", "expected", "repeats"]
    trials = store.read("trials").select(columns)
    gone = store.read("sessions").filter(pl.col("status") == WITHOUT_CONSENT).select("session")
    valid = store.read("answers").filter(pl.col("valid"))
    answers = valid.join(gone, on="session", how="anti", maintain_order="left")
    return answers.join(trials, on="trial", how="left", maintain_order="left").with_columns(said=SAID)


def skipped_trials(store: Store, question: str) -> pl.DataFrame:
    """Every trial of a question that was left unanswered, with its role and expected answer."""
    trials = store.read("trials").select("trial", "role", "expected")
    gone = store.read("sessions").filter(pl.col("status") == WITHOUT_CONSENT).select("session")
    skips = store.read_or_empty("skips").filter(pl.col("question") == question)
    return skips.join(gone, on="session", how="anti", maintain_order="left").join(
        trials, on="trial", how="left", maintain_order="left"
    )


def screened_answers(store: Store) -> pl.DataFrame:
    """The valid answers to test trials by people who were screened, and whether theirs are ``used``."""
    raters = store.read("raters").select("question", "rater", "used")
    tests = answered_trials(store).filter(pl.col("role") == "test")
    return tests.join(raters, on=["question", "rater"], maintain_order="left")


def used_answers(store: Store) -> pl.DataFrame:
    """The valid answers to test trials by people whose answers are used."""
    return screened_answers(store).filter("used").drop("used")
