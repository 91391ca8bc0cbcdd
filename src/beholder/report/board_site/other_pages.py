"""The pages of slices and prompts, and that of the methods."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import polars as pl

from beholder.report.board_site.content import ALL, BoardSlice, Content, MeasureHead, Prompt
from beholder.report.board_site.figures import decimals_for, figure
from beholder.report.board_site.findings import lead_sentence
from beholder.report.board_site.pictures import Picture
from beholder.report.board_site.rendering import render
from beholder.report.tables.basis import build_basis
from beholder.report.text.words import count
from beholder.tables.store import Store

MOST_LISTED = 150
"""Prompts on the page of a slice."""


def slice_page(content: Content, part: BoardSlice) -> str:
    """Return the page of a slice: its board and its prompts."""
    own = [prompt for prompt in content.prompts if (part.family, part.name) in prompt.slices]
    return render(
        "slice.html.j2",
        content=content,
        root="../",
        here="slices",
        part=part,
        sentence=lead_sentence(content, part, content.leading),
        prompts=own[:MOST_LISTED],
        more=max(len(own) - MOST_LISTED, 0),
    )


def prompt_pages(
    content: Content, pictures: Mapping[tuple[str, str], Picture], illustrated: int
) -> Iterator[tuple[Prompt, str]]:
    """Yield the page of every prompt: the images of all entries side by side, with answers and scores.

    Args:
        content: Of the site.
        pictures: The images of the site by prompt and entry.
        illustrated: Number of prompts with images.

    Yields:
        A prompt and its HTML.
    """
    pages = {(part.family, part.name): part.page for part in content.slices if part.family != ALL}
    places = {measure.name: place for place, measure in enumerate(content.measures)}
    known = content.values.filter(pl.col("measure").is_in(list(places)))
    spreads = known.group_by("measure").agg(pl.col("value").std().fill_null(0.0))
    decimals = {measure: decimals_for([spread]) for measure, spread in spreads.iter_rows()}
    of_prompts = known.partition_by("prompt", as_dict=True)
    around = [None, *(prompt.page for prompt in content.prompts), None]
    for number, prompt in enumerate(content.prompts):
        values = of_prompts.get((prompt.key,))
        rows = [] if values is None else list(values.select("measure", "entry", "value", "answers").iter_rows())
        heads = _heads(content, rows)
        by_entry: dict[str, dict[str, float]] = {}
        for measure, entry, value, _ in rows:
            by_entry.setdefault(entry, {})[measure] = value
        entries = [
            entry for entry in content.entries if entry.name in by_entry or (prompt.key, entry.name) in pictures
        ]
        yield (
            prompt,
            render(
                "prompt.html.j2",
                content=content,
                prompt=prompt,
                slices=[(family, name, pages[family, name]) for family, name in prompt.slices],
                before=around[number],
                after=around[number + 2],
                entries=entries,
                pictures={
                    e.name: pictures[prompt.key, e.name] for e in entries if (prompt.key, e.name) in pictures
                },
                with_images=illustrated,
                heads=heads,
                rows=[
                    (
                        entry,
                        [
                            _text(by_entry.get(entry.name, {}).get(measure.name), decimals[measure.name])
                            for measure, _ in heads
                        ],
                    )
                    for entry in entries
                ],
            ),
        )


def _heads(content: Content, rows: list[tuple[str, str, float, int]]) -> list[tuple[MeasureHead, str]]:
    """Return the measures of a prompt, with how many answers an entry has."""
    answers: dict[str, list[int]] = {}
    for measure, _, _, number in rows:
        answers.setdefault(measure, []).append(number)
    return [
        (measure, _answers(answers[measure.name]) if measure.source == "people" else measure.origin)
        for measure in content.measures
        if measure.name in answers
    ]


def _answers(numbers: list[int]) -> str:
    low, high = min(numbers), max(numbers)
    return count(low, "answer") if low == high else f"{low}–{high} answers"


def _text(value: float | None, decimals: int) -> str:
    return "" if value is None else figure(value, decimals)


@dataclass(frozen=True, slots=True)
class MeasureBasis:
    """What a measure rests on, over all prompts."""

    measure: MeasureHead
    prompts: str
    raters: str
    answers: str


def methods_page(content: Content) -> str:
    """Return the page of the methods."""
    tables = content.tables
    return render(
        "methods.html.j2",
        content=content,
        root="",
        here="methods",
        measures=[_measure_basis(content, measure) for measure in content.measures],
        sets=tables["prompt_sets"].to_dicts(),
        raters=_raters(content),
        basis=build_basis(Store(content.folder), content.study),
    )


def _measure_basis(content: Content, measure: MeasureHead) -> MeasureBasis:
    cells = [cell for (name, _), cell in content.overall.cells.items() if name == measure.name]
    answers = sum(cell.answers or 0 for cell in cells)
    most = (
        max((number or 0 for number in numbers), default=0)
        for numbers in ([cell.prompts for cell in cells], [cell.raters for cell in cells])
    )
    return MeasureBasis(measure, *(f"{number:,}" if number else "–" for number in (*most, answers)))


def _raters(content: Content) -> str:
    """Return how many raters took part and how many were excluded."""
    raters, sessions = content.tables["raters"], content.tables["sessions"]
    if sessions.is_empty():
        return ""
    people = "simulated raters" if content.simulated else "raters"
    words = f"{sessions['rater'].n_unique():,} {people} took part."
    excluded = raters.filter(~pl.col("used"))["rater"].n_unique()
    return words + (f" The answers of {count(excluded, 'rater')} were excluded by screening." if excluded else "")
