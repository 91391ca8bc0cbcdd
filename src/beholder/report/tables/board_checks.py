"""Marks on the board, what measures see of a controlled change, and the chroma of images by generator."""

from dataclasses import dataclass
from typing import Any

import polars as pl

CHROMA = "chroma-mean"
"""The scorer from which the distribution of chroma is shown."""

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True, slots=True)
class Response:
    """What one measure sees of a controlled change."""

    measure: str
    people: bool
    slope: float | None
    low: float | None
    high: float | None
    words: str
    steps: tuple[tuple[float, float, float | None, float | None], ...]
    """Dose, difference from the first variant in standard deviations, and its interval."""


@dataclass(frozen=True, slots=True)
class Family:
    """Variants that differ in one setting, with people first and then the measures that see most."""

    setting: str
    responses: tuple[Response, ...]
    level: float


@dataclass(frozen=True, slots=True)
class Chroma:
    """The distribution of the mean chroma of one generator's images: quantiles 5, 25, 50, 75 and 95 %."""

    generator: str
    quantiles: tuple[float, ...]
    images: int


@dataclass(frozen=True, slots=True)
class BoardChecks:
    """What the report shows of a board."""

    marks: tuple[tuple[str, str], ...]
    """Those that are raised: the check, and the words."""
    checked: int
    families: tuple[Family, ...]
    chroma: tuple[Chroma, ...]

    def __bool__(self) -> bool:
        return bool(self.checked or self.families or self.chroma)


def build_board_checks(
    marks: pl.DataFrame, responses: pl.DataFrame, steps: pl.DataFrame, chroma: pl.DataFrame
) -> BoardChecks:
    """Collect what is shown.

    Args:
        marks: The table ``board_marks``.
        responses: The table ``dose_responses``.
        steps: The table ``dose_steps``.
        chroma: ``generator`` and ``score`` of every generated image that the scorer ``chroma-mean`` scored.

    Returns:
        Marks that are raised, settings with their measures, and quantiles of chroma.
    """
    families = [
        Family(str(setting), _responses(part, steps.filter(pl.col("setting") == setting)), float(part["level"][0]))
        for (setting,), part in responses.group_by("setting", maintain_order=True)
    ]
    raised = marks.filter("raised").select("check", "words")
    return BoardChecks(tuple(raised.iter_rows()), marks.height, tuple(families), _chroma(chroma))


def _responses(responses: pl.DataFrame, steps: pl.DataFrame) -> tuple[Response, ...]:
    rows = [
        _response(row, steps.filter(pl.col("measure") == row["measure"]))
        for row in responses.iter_rows(named=True)
    ]
    return tuple(sorted(rows, key=lambda row: (not row.people, -abs(row.slope or 0.0))))


def _response(row: dict[str, Any], steps: pl.DataFrame) -> Response:
    differences = tuple(
        (float(dose), float(difference or 0.0), low, high)
        for dose, difference, low, high in steps.select(
            "dose", "difference", "difference_low", "difference_high"
        ).iter_rows()
    )
    people = row["source"] == "people"
    return Response(row["measure"], people, row["slope"], row["low"], row["high"], row["words"], differences)


def _chroma(chroma: pl.DataFrame) -> tuple[Chroma, ...]:
    return tuple(
        Chroma(
            str(generator),
            tuple(float(part["score"].quantile(q, "linear") or 0.0) for q in QUANTILES),
            part.height,
        )
        for (generator,), part in chroma.sort("generator").group_by("generator", maintain_order=True)
    )
