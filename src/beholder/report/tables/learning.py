"""How models were trained: their curves, and the look at the validation that was best."""

from dataclasses import dataclass

import polars as pl

LOSS, RATE = "loss", "learning-rate"
"""Measures of a curve that do not decide which weights are best."""


@dataclass(frozen=True, slots=True)
class Learning:
    """The curve of one model over all its folds."""

    model: str
    folds: int
    steps: int
    measure: str
    """The measure on the validation that decides; more is better."""
    best: float
    """Its best value, averaged over folds."""
    curve: pl.DataFrame
    """``fold, step, split, measure, value``"""


def learnings(training: pl.DataFrame) -> tuple[Learning, ...]:
    """A part for each model that has looked at its validation, in the order of the table."""
    return tuple(
        found
        for (model,), rows in training.partition_by("model", as_dict=True, maintain_order=True).items()
        if (found := _learning(str(model), rows.drop("model").drop_nulls("value")))
    )


def _learning(model: str, rows: pl.DataFrame) -> Learning | None:
    deciding = rows.filter((pl.col("split") == "validation") & ~pl.col("measure").is_in([LOSS, RATE]))
    if deciding.is_empty():
        return None
    measure = str(deciding["measure"][0])
    looks = deciding.filter(pl.col("measure") == measure)
    best = looks.group_by("fold").agg(pl.col("value").max())["value"].mean()
    last = rows["step"].max()
    return Learning(
        model=model,
        folds=rows["fold"].n_unique(),
        steps=last if isinstance(last, int) else 0,
        measure=measure,
        best=best if isinstance(best, float) else float("nan"),
        curve=rows,
    )
