"""The tables that a report reads."""

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from beholder.study.study import Study
from beholder.tables.joined import answered_trials
from beholder.tables.stages import REPORT
from beholder.tables.store import TRUTH_ROOM, Store

READ = (
    "images",
    "prompts",
    "sessions",
    "totals",
    "raters",
    "labels",
    "thresholds",
    "agreement",
    "ratings",
    "separations",
    "comparisons",
    "correlations",
    "metric_separations",
    "training",
    "label_errors",
)
READ_TRUTH = ("raters", "ratings")

RIGHT_OR_WRONG = ("realism", "timed-realism")
"""Question kinds whose answers to test trials are right or wrong."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """The tables of a study; what is absent is empty, and what only a made-up world knows is ``None``."""

    images: pl.DataFrame
    prompts: pl.DataFrame
    sessions: pl.DataFrame
    totals: pl.DataFrame
    raters: pl.DataFrame
    labels: pl.DataFrame
    thresholds: pl.DataFrame
    agreement: pl.DataFrame
    ratings: pl.DataFrame
    separations: pl.DataFrame
    comparisons: pl.DataFrame
    correlations: pl.DataFrame
    metric_separations: pl.DataFrame
    training: pl.DataFrame
    label_errors: pl.DataFrame
    true_raters: pl.DataFrame | None
    true_ratings: pl.DataFrame | None
    planted: bool
    """Whether the images come from a made-up world that knows their flaws."""
    judged: pl.DataFrame
    """Answers to test trials that are right or wrong: ``question, rater, session, block, position, ms, right``."""
    regions: Path
    """Where the heatmaps lie: there may be very many, so only those shown are read."""

    @property
    def simulated(self) -> bool:
        """Whether all the people are made up."""
        return not self.sessions.is_empty() and bool(self.sessions["simulated"].all())


def read_inputs(folder: Path, study: Study) -> Inputs:
    """The tables of a study folder; only ``images`` must be there."""
    store, truth = Store(folder).within(REPORT), Store(folder, TRUTH_ROOM)
    rest = {name: store.read_or_empty(name) for name in READ if name != "images"}
    known = {name: truth.read(name) for name in READ_TRUTH if truth.has(name)}
    return Inputs(
        images=store.read("images"),
        **rest,
        true_raters=known.get("raters"),
        true_ratings=known.get("ratings"),
        planted=truth.has("scores"),
        judged=_judged(store, [q.name for q in study.questions if q.kind in RIGHT_OR_WRONG]),
        regions=store.path("regions"),
    )


def _judged(store: Store, questions: list[str]) -> pl.DataFrame:
    shape = {"question": pl.String, "rater": pl.String, "session": pl.String, "block": pl.Int64}
    shape |= {"position": pl.Int64, "ms": pl.Float64, "right": pl.Boolean}
    if not questions or not all(store.has(name) for name in ("trials", "sessions", "answers")):
        return pl.DataFrame(schema=shape)
    mine = pl.col("question").is_in(questions) & (pl.col("role") == "test") & pl.col("expected").is_not_null()
    return (
        answered_trials(store)
        .filter(mine)
        .with_columns(ms=pl.coalesce("intended_ms", "exposure_ms"), right=pl.col("said") == pl.col("expected"))
        .select(pl.col(name).cast(kind) for name, kind in shape.items())
    )
