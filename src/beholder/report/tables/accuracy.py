"""How often each rater was right, where an answer can be right: from their answers, or from imported totals."""

from dataclasses import dataclass

import polars as pl


@dataclass(frozen=True, slots=True)
class Accuracy:
    """The answers of one rater to one question."""

    right: int
    answers: int
    seconds: float | None = None
    """Mean time per answer, where only totals are known."""

    @property
    def proportion(self) -> float:
        """Proportion of right answers."""
        return self.right / self.answers


def accuracies(checkable: pl.LazyFrame, totals: pl.DataFrame) -> dict[tuple[str, str], Accuracy]:
    """Accuracy by question and rater: ``checkable`` has one row per answer, ``totals`` is the table so named."""
    answered = (
        checkable.group_by("question", "rater")
        .agg(right=pl.col("right").sum().cast(pl.Int64), answers=pl.len().cast(pl.Int64))
        .collect(engine="streaming")
    )
    timed = pl.col("seconds").is_not_null().all()
    counted = totals.group_by("question", "rater").agg(
        right=(pl.col("answers") - pl.col("wrong")).sum().cast(pl.Int64),
        answers=pl.col("answers").sum().cast(pl.Int64),
        seconds=pl.when(timed).then(pl.col("seconds").sum() / pl.col("answers").sum()),
    )
    rows = pl.concat([counted, answered], how="diagonal").iter_rows()
    return {
        (question, rater): Accuracy(right, answers, seconds) for question, rater, right, answers, seconds in rows
    }
