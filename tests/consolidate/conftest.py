"""Answers beside their trials, written by hand."""

from collections.abc import Callable, Sequence

import polars as pl
import pytest

SCHEMA: dict[str, pl.DataType] = {
    "trial": pl.String(),
    "rater": pl.String(),
    "aspect": pl.String(),
    "choice": pl.String(),
    "value": pl.Float64(),
    "said": pl.String(),
    "seconds": pl.Float64(),
    "role": pl.String(),
    "images": pl.List(pl.String),
    "expected": pl.String(),
    "repeats": pl.String(),
}

Said = tuple[str, Sequence[str], str | float]
"""Who, which images, and the choice or value."""


@pytest.fixture
def answered() -> Callable[..., pl.DataFrame]:
    """Make rows as :func:`beholder.tables.joined.answered_trials` gives them, one for each answer said."""

    def make(
        *said: Said,
        role: str = "test",
        aspect: str = "realism",
        expected: str | None = None,
        seconds: float = 1.0,
        trials: Sequence[str] = (),
        repeats: str | None = None,
    ) -> pl.DataFrame:
        rows = []
        for n, (rater, images, what) in enumerate(said):
            number = isinstance(what, float)
            rows.append(
                {
                    "trial": trials[n] if trials else f"{rater}-{role}-{'+'.join(images)}-{n}",
                    "rater": rater,
                    "aspect": aspect,
                    "choice": None if number else what,
                    "value": what if number else None,
                    "said": f"{what:g}" if isinstance(what, float) else what,
                    "seconds": seconds,
                    "role": role,
                    "images": list(images),
                    "expected": expected,
                    "repeats": repeats,
                }
            )
        return pl.DataFrame(rows, schema=SCHEMA)

    return make
