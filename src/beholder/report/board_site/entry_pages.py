"""A page for each entry: its numbers, its best and worst prompts, how its images were generated."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import polars as pl

from beholder.report.board_site.content import Cell, Content, Entry, MeasureHead, Prompt
from beholder.report.board_site.figures import figure
from beholder.report.board_site.findings import separated_from
from beholder.report.board_site.generation import describe_generation
from beholder.report.board_site.pictures import Picture
from beholder.report.board_site.rendering import render
from beholder.report.text.words import count, join_names

MOST_EXAMPLES = 6
MOST_NAMES = 8


@dataclass(frozen=True, slots=True)
class Example:
    """A prompt on which an entry did very well or badly, compared with the other entries."""

    prompt: Prompt
    value: str
    mean: str
    picture: Picture | None = None


@dataclass(frozen=True, slots=True)
class MeasureRow:
    """An entry by one measure over all prompts."""

    measure: MeasureHead
    cell: Cell
    ends: tuple[float, float] | None
    comparison: str


def entry_page(
    content: Content,
    entry: Entry,
    extremes: tuple[list["Extreme"], list["Extreme"]],
    pictures: Mapping[tuple[str, str], Picture],
) -> str:
    """Return the page of an entry.

    Args:
        content: Of the site.
        entry: The entry.
        extremes: Its best and its worst prompts.
        pictures: The images of the site by prompt and entry.

    Returns:
        HTML.
    """
    cells = [(m, content.overall.cells.get((m.name, entry.name))) for m in content.measures]
    prompts = {prompt.key: prompt for prompt in content.prompts}
    decimals = content.leading.decimals
    titles = ("Its best prompts", "Its worst prompts")
    return render(
        "entry.html.j2",
        content=content,
        root="../",
        here="entries",
        entry=entry,
        rows=[
            MeasureRow(m, cell, content.overall.ends(m.name), _comparison(content, entry.name, m))
            for m, cell in cells
            if cell is not None
        ],
        scales={m.name: _scale(content, entry.name, m.name) for m in content.measures},
        examples=[
            (
                title,
                [_example(prompts[e.prompt], e, decimals, pictures.get((e.prompt, entry.name))) for e in group],
            )
            for title, group in zip(titles, extremes, strict=True)
        ],
        with_images=bool(pictures),
        made=describe_generation(content, entry.name),
    )


@dataclass(frozen=True, slots=True)
class Extreme:
    """A prompt with an entry's value on it, and the mean of all entries."""

    prompt: str
    value: float
    mean: float


def extreme_prompts(content: Content) -> dict[str, tuple[list[Extreme], list[Extreme]]]:
    """Return the prompts on which each entry is furthest above and below the mean of all entries.

    Args:
        content: Of the site.

    Returns:
        Entry -> its best and its worst prompts by the leading measure; better is above, whatever its direction.
    """
    leading = content.leading
    sign = -1.0 if leading.better == "lower" else 1.0
    pages = pl.Series([prompt.key for prompt in content.prompts], dtype=pl.String)
    lead = (pl.col("value") - pl.col("mean")) * sign
    values = (
        content.values.filter((pl.col("measure") == leading.name) & pl.col("prompt").is_in(pages.implode()))
        .with_columns(mean=pl.col("value").mean().over("prompt"), entries=pl.len().over("prompt"))
        .filter(pl.col("entries") > 1)
        .with_columns(lead=lead)
    )
    extremes = {}
    for entry in content.entries:
        own = values.filter(pl.col("entry") == entry.name).sort("lead", "prompt", descending=[True, False])
        number = min(MOST_EXAMPLES, own.height // 2)
        extremes[entry.name] = (_extremes(own.head(number)), _extremes(own.tail(number).reverse()))
    return extremes


def _extremes(rows: pl.DataFrame) -> list[Extreme]:
    return [Extreme(*row) for row in rows.select("prompt", "value", "mean").iter_rows()]


def _example(prompt: Prompt, extreme: Extreme, decimals: int, picture: Picture | None) -> Example:
    return Example(prompt, figure(extreme.value, decimals), figure(extreme.mean, decimals), picture)


def _scale(content: Content, entry: str, measure: str) -> tuple[float, float] | None:
    """Return the range of an entry's values in all slices, so that they are drawn on one scale."""
    cells = [part.cells.get((measure, entry)) for part in content.slices]
    numbers = [n for cell in cells if cell for n in (cell.value, cell.low, cell.high) if n is not None]
    return (min(numbers), max(numbers)) if numbers else None


def _comparison(content: Content, entry: str, measure: MeasureHead) -> str:
    """Return which other entries it is significantly better and worse than, and how fragile that is."""
    if measure.better is None:
        return "not ranked: neither higher nor lower is better"
    better, worse, undecided = separated_from(content, entry, measure.name)
    parts = [
        f"{words} {_names(names)}"
        for words, names in (
            ("significantly better than", better),
            ("not significantly different from", undecided),
            ("significantly worse than", worse),
        )
        if names
    ]
    if not parts:
        return "pairs are not tested"
    return "; ".join(parts) + _fragility(content, entry, measure.name)


def _names(names: Iterable[str]) -> str:
    return join_names(list(names), most=MOST_NAMES)


def _fragility(content: Content, entry: str, measure: str) -> str:
    """Return how few prompts or raters the closest of its leads rests on."""
    leads = content.tables["board_pairs"].filter(
        (pl.col("measure") == measure)
        & (pl.col("family") == "all")
        & (pl.col("entry") == entry)
        & pl.col("separated")
    )
    fewest = [
        count(int(str(leads[column].min())), noun)
        for column, noun in (("fragile_prompts", "prompt"), ("fragile_raters", "rater"))
        if leads[column].drop_nulls().len()
    ]
    return f". Without {' or '.join(fewest)} one of these leads would not be significant" if fewest else ""
