"""The study in a few numbers, for the head of the page."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import polars as pl


@dataclass(frozen=True, slots=True)
class Fact:
    """A number and what it counts."""

    number: str
    what: str


def build_facts(
    sessions: pl.DataFrame,
    raters: pl.DataFrame,
    images: pl.DataFrame,
    generators: Sequence[str],
    between: tuple[datetime, datetime] | None,
) -> tuple[Fact, ...]:
    """Raters, answers, generators, images, and dates; no raters where only published scores were imported."""
    took_part = sessions["rater"].n_unique() or raters["rater"].n_unique()
    used = raters.filter("used")
    judged = images.filter(~pl.col("gold"))
    generated = judged.filter(~pl.col("real"))
    number = len(generators) or generated["generator"].n_unique()
    listed_facts = (
        []
        if generators and not took_part
        else [
            Fact(f"{took_part:,}", "rater took part" if took_part == 1 else "raters took part"),
            Fact(f"{used['answers'].sum():,}", f"answers used, of {raters['answers'].sum():,}"),
        ]
    )
    listed_facts += [
        Fact(f"{number:,}", "generator" if number == 1 else "generators"),
        Fact(f"{generated.height:,}", "generated image" if generated.height == 1 else "generated images"),
    ]
    real = judged.filter("real").height
    if real:
        listed_facts.append(Fact(f"{real:,}", "real image" if real == 1 else "real images"))
    if between:
        listed_facts.append(Fact(_span(*between), "collected (UTC)"))
    return tuple(listed_facts)


def _span(first: datetime, last: datetime) -> str:
    """``5 January 2026``, ``5–7 January 2026``, or both days in full."""
    if first.date() == last.date():
        return _day(last)
    if (first.year, first.month) == (last.year, last.month):
        return f"{first.day}–{_day(last)}"
    return f"{_day(first)} – {_day(last)}"


def _day(moment: datetime) -> str:
    return f"{moment.day} {moment:%B %Y}"
