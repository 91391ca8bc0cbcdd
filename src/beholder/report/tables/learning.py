"""How models were trained: their learning curves, and their best value on the validation set."""

from dataclasses import dataclass

import polars as pl

LOSS, RATE = "loss", "learning-rate"
"""Measures of a curve that do not select the best weights."""


@dataclass(frozen=True, slots=True)
class TrainingRun:
    """The learning curve of one model over all its folds."""

    model: str
    folds: int
    steps: int
    measure: str
    """The validation measure that selects the weights; more is better."""
    best: float
    """Its best value, averaged over folds."""
    curve: pl.DataFrame
    """``fold, step, split, measure, value``"""


def build_training_runs(training: pl.DataFrame) -> tuple[TrainingRun, ...]:
    """One run per model that was evaluated on its validation set, in the order of the table."""
    return tuple(
        run
        for (model,), rows in training.partition_by("model", as_dict=True, maintain_order=True).items()
        if (run := _run(str(model), rows.drop("model").drop_nulls("value")))
    )


def _run(model: str, rows: pl.DataFrame) -> TrainingRun | None:
    selecting = rows.filter((pl.col("split") == "validation") & ~pl.col("measure").is_in([LOSS, RATE]))
    if selecting.is_empty():
        return None
    measure = str(selecting["measure"][0])
    evaluations = selecting.filter(pl.col("measure") == measure)
    best = evaluations.group_by("fold").agg(pl.col("value").max())["value"].mean()
    last = rows["step"].max()
    return TrainingRun(
        model=model,
        folds=rows["fold"].n_unique(),
        steps=last if isinstance(last, int) else 0,
        measure=measure,
        best=best if isinstance(best, float) else float("nan"),
        curve=rows,
    )
