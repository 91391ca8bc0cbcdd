"""Answers joined with their trials, a part of the raters at a time: studies too large to hold.

Answers and trials are first dealt into files by trial, so that each file of answers is joined with one file of
trials; what was joined is then dealt by rater. Every row is read and written twice, whatever their number.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl

from beholder.errors import TableError
from beholder.judgements.joined import ANSWER_TEXT, answered_trials, join_trials
from beholder.tables.keys import Keys
from beholder.tables.parts import shuffled
from beholder.tables.store import Store

ROW = "_row"
"""Place of an answer in the table of answers."""


def answered_parts(store: Store, scratch: Path, rows_held: int) -> Iterator[pl.DataFrame]:
    """Yield what :func:`~beholder.judgements.joined.answered_trials` returns, all answers of a rater in one part.

    The answers of a part are in their order, and the parts in the order of the raters' ids. A study of at most
    ``rows_held`` answers is one part. ``scratch`` is an empty folder for files in between.
    """
    total = store.rows("answers")
    if total <= rows_held:
        yield answered_trials(store)
        return
    parts = -(-total // rows_held)
    raters = store.read("sessions")["rater"].unique().sort()
    place = pl.int_range(len(raters), eager=True) * parts // max(len(raters), 1)
    bucket = pl.col("rater").replace_strict(raters, place, return_dtype=pl.Int64)
    by_rater = shuffled(_joined(store, scratch, parts, rows_held), bucket, scratch, "answered")
    for number in sorted(by_rater):
        rows = pl.concat(pl.read_parquet(file) for file in by_rater[number]).sort(ROW).drop(ROW)
        yield rows.with_columns(answer_text=ANSWER_TEXT)


def _joined(store: Store, scratch: Path, parts: int, rows_held: int) -> Iterator[pl.DataFrame]:
    """Yield the answers that count with their trials, in no order; every row is checked on the way."""
    bucket, sessions = pl.col("trial").hash() % parts, store.read("sessions")
    numbered = _numbered(store.batches("answers", rows_held))
    answers = shuffled(numbered, bucket, scratch, "answers")
    trials = shuffled(store.batches("trials", rows_held), bucket, scratch, "trials")
    of_trials = store.referenced("trials", frozenset({"trials"}))
    of_answers = store.referenced("answers", frozenset({"trials"}))
    for number in range(parts):
        own_trials = _together(trials.get(number, ()), store, "trials", of_trials)
        own_answers = _together(answers.get(number, ()), store, "answers", {**of_answers, "trials": own_trials})
        yield join_trials(own_answers, own_trials, sessions)
        for file in (*trials.get(number, ()), *answers.get(number, ())):
            file.unlink()


def _numbered(batches: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    before = 0
    for batch in batches:
        yield batch.with_row_index(ROW, offset=before)
        before += batch.height


def _together(
    files: tuple[Path, ...], store: Store, name: str, pending: Mapping[str, pl.DataFrame | Keys]
) -> pl.DataFrame:
    """Return the rows of the files, checked; that a repeated trial is in the table is not looked up again.

    ``pending`` are the tables that references are looked up in.
    """
    if not files:
        return next(store.batches(name, 1)).clear().with_columns(pl.lit(0, pl.UInt32).alias(ROW))
    frame = pl.concat(pl.read_parquet(file) for file in files)
    rows = frame.drop(ROW, strict=False)
    faults = store.faults(name, rows, pending, frozenset({"trials"}) if name == "trials" else frozenset())
    if faults:
        store.read(name)  # names the rows by their place in the whole table
        raise TableError(str(store.path(name)), faults)
    return frame
