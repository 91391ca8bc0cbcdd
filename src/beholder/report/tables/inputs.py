"""The tables that a report reads."""

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from beholder.report.tables.board_checks import CHROMA
from beholder.tables.stages import REPORT
from beholder.tables.store import TRUTH_ROOM, Store

READ = (
    "images",
    "prompts",
    "sessions",
    "totals",
    "raters",
    "thresholds",
    "agreement",
    "ratings",
    "separations",
    "comparisons",
    "correlations",
    "metric_separations",
    "powered_ratings",
    "training",
    "label_errors",
    "rounds",
    "board_marks",
    "dose_responses",
    "dose_steps",
)
READ_TRUTH = ("raters", "ratings")


@dataclass(frozen=True, slots=True)
class Inputs:
    """The tables of a study; absent ones are empty, and ground truth is ``None`` outside a synthetic world."""

    images: pl.DataFrame
    prompts: pl.DataFrame
    sessions: pl.DataFrame
    totals: pl.DataFrame
    raters: pl.DataFrame
    labels: pl.LazyFrame
    """There may be more than memory holds, so only the columns and rows that are shown are read."""
    thresholds: pl.DataFrame
    agreement: pl.DataFrame
    ratings: pl.DataFrame
    separations: pl.DataFrame
    comparisons: pl.DataFrame
    correlations: pl.DataFrame
    metric_separations: pl.DataFrame
    powered_ratings: pl.DataFrame
    training: pl.DataFrame
    label_errors: pl.DataFrame
    rounds: pl.DataFrame
    board_marks: pl.DataFrame
    dose_responses: pl.DataFrame
    dose_steps: pl.DataFrame
    true_raters: pl.DataFrame | None
    true_ratings: pl.DataFrame | None
    synthetic: bool
    """Whether the images come from a synthetic world, which knows their flaws."""
    checkable: pl.LazyFrame
    """Judgements that are right or wrong: ``question, rater, right``."""
    exposures: pl.DataFrame
    """Those of questions with staircases: ``question, rater, session, block, position, ms, right``."""
    chroma: pl.DataFrame
    """Mean chroma of generated images, where it was measured: ``generator`` and ``score``."""
    regions: Path
    """File of the heatmaps: there may be very many, so only those shown are read."""

    @property
    def simulated(self) -> bool:
        """Whether all raters are simulated."""
        return not self.sessions.is_empty() and bool(self.sessions["simulated"].all())


def read_inputs(folder: Path) -> Inputs:
    """The tables of a study folder; only ``images`` must be there."""
    store, truth = Store(folder).within(REPORT), Store(folder, TRUTH_ROOM)
    rest = {name: store.read_or_empty(name) for name in READ if name != "images"}
    true_tables = {name: truth.read(name) for name in READ_TRUTH if truth.has(name)}
    return Inputs(
        images=store.read("images"),
        **rest,
        true_raters=true_tables.get("raters"),
        true_ratings=true_tables.get("ratings"),
        synthetic=truth.has("scores"),
        labels=store.scan("labels"),
        checkable=_checkable(store).select("question", "rater", "right"),
        exposures=_exposures(store, rest["thresholds"]["question"].unique().to_list()),
        chroma=_chroma(store),
        regions=store.path("regions"),
    )


def _chroma(store: Store) -> pl.DataFrame:
    generated = store.read("images").filter(~pl.col("real") & ~pl.col("gold")).select("image", "generator")
    scores = store.read_or_empty("scores").filter(pl.col("scorer") == CHROMA)
    return scores.join(generated, on="image", maintain_order="left").select("generator", "score")


def _checkable(store: Store) -> pl.LazyFrame:
    """Judgements that are right or wrong."""
    checkable = (pl.col("value_kind") == "detection") & pl.col("expected").is_not_null()
    return store.scan("judgements").filter(checkable).with_columns(right=pl.col("value") == pl.col("expected"))


def _exposures(store: Store, questions: list[str]) -> pl.DataFrame:
    """Judgements of questions with staircases, with the places of their trials."""
    shape = {"question": pl.String, "rater": pl.String, "session": pl.String, "block": pl.Int64}
    shape |= {"position": pl.Int64, "ms": pl.Float64, "right": pl.Boolean}
    if not questions:
        return pl.DataFrame(schema=shape)
    trials = store.scan("trials").filter(pl.col("question").is_in(questions)).select("trial", "block", "position")
    return (
        _checkable(store)
        .filter(pl.col("question").is_in(questions))
        .join(trials, on="trial", maintain_order="left")
        .with_columns(ms="exposure_ms")
        .select(pl.col(name).cast(kind) for name, kind in shape.items())
        .collect()
    )
