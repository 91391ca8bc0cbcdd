"""Ratings in the form of published tables: HYPE's and Layer 6's."""

from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

from beholder.errors import StageError

BOTH, FAKE, REAL = "error-rate", "fake-error-rate", "real-error-rate"


@dataclass(frozen=True, slots=True)
class Cell:
    """A rating with its standard error and confidence interval, where it has them."""

    rating: float
    se: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Form:
    """How a published table writes a generator's row."""

    heads: tuple[str, ...]
    row: Callable[[Cell, Cell, Cell], tuple[str, ...]]
    """From the error rates on both, on generated and on real images."""


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f}"


def _hype(both: Cell, fake: Cell, real: Cell) -> tuple[str, ...]:
    numbers = (both.rating, fake.rating, real.rating, both.se)
    return (*(_percent(number) for number in numbers), f"{_percent(both.low)}–{_percent(both.high)}")


def _layer6(both: Cell, fake: Cell, real: Cell) -> tuple[str, ...]:
    return tuple(
        f"{cell.rating:.2f} ± {cell.se:.2f}" if cell.se is not None else f"{cell.rating:.2f}"
        for cell in (both, fake, real)
    )


FORMS: dict[str, Form] = {
    "hype": Form(("HYPE∞ (%)", "fakes error", "reals error", "SE", "CI"), _hype),
    "layer6": Form(("error rate", "fake", "real"), _layer6),
}
"""HYPE: Zhou et al., 2019, table 1. Layer 6: Stein et al., 2023, mean ± SE over participants."""


def published_table(ratings: pl.DataFrame, form: str) -> list[list[str]]:
    """Return head and rows, best generator first, of questions with error rates on real and generated images."""
    overall = ratings.filter((pl.col("slice") == "all") & pl.col("method").is_in([BOTH, FAKE, REAL]))
    lines: list[tuple[str, float, list[str]]] = []
    for (question, generator), part in overall.partition_by(
        "question", "generator", as_dict=True, maintain_order=True
    ).items():
        cells = {r["method"]: Cell(r["rating"], r["se"], r["low"], r["high"]) for r in part.to_dicts()}
        if len(cells) == 3:
            rater_count = str(part["raters"].max())
            formatted = FORMS[form].row(cells[BOTH], cells[FAKE], cells[REAL])
            lines.append(
                (str(question), -cells[BOTH].rating, [str(question), str(generator), rater_count, *formatted])
            )
    if not lines:
        raise StageError(
            f"no question of this study has errors on both real and generated images, which the table of {form} "
            "shows: it is for questions of the kind realism"
        )
    return [["question", "generator", "raters", *FORMS[form].heads], *(line for *_, line in sorted(lines))]
