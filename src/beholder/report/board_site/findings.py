"""What the board says, in sentences."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from beholder.report.board_site.content import BoardSlice, Content, MeasureHead
from beholder.report.board_site.figures import figure
from beholder.report.tables.facts import Fact

MOST_NAMES = 5


def lead_sentence(content: Content, part: BoardSlice, measure: MeasureHead) -> str:
    """Return who is first by a measure in a slice; empty where nothing is ranked.

    Args:
        content: Of the site.
        part: The slice.
        measure: The measure.

    Returns:
        One sentence; none where entries cost the same.
    """
    cells = {entry.name: part.cells.get((measure.name, entry.name)) for entry in content.entries}
    first = [name for name, cell in cells.items() if cell is not None and cell.rank_low == 1]
    if not first or len(cells) == 1:
        return ""
    ranked = sum(cell is not None and cell.rank_low is not None for cell in cells.values())
    if len(first) == 1:
        return f"By {measure.name}, the best is {first[0]}: significantly ahead of every other entry."
    if len(first) == ranked and measure.source == "cost":
        return ""
    if len(first) == ranked:
        return f"By {measure.name}, the best is not known yet: no entry can be excluded from first place."
    listed = (
        first if len(first) <= MOST_NAMES else [*first[: MOST_NAMES - 1], f"{len(first) - MOST_NAMES + 1} others"]
    )
    names = f"{', '.join(listed[:-1])} or {listed[-1]}"
    return f"By {measure.name}, the best is {names}: the tests do not separate them further."


def findings(content: Content) -> list[str]:
    """Return a sentence per measure that ranks, the leading one first.

    Args:
        content: Of the site.

    Returns:
        The sentences.
    """
    ordered = [content.leading, *(m for m in content.measures if m is not content.leading)]
    sentences = [lead_sentence(content, content.overall, measure) for measure in ordered if measure.better]
    return [sentence for sentence in sentences if sentence]


@dataclass(frozen=True, slots=True)
class PrecisionRow:
    """How wide the interval of a measure is, and would be with more prompts or raters."""

    measure: str
    prompts: int
    raters: int
    now: str
    more_prompts: str
    more_raters: str
    more_of_both: str


def precision_rows(content: Content) -> list[PrecisionRow]:
    """Return the half-widths of the leader's value now, and with twice the prompts, the raters, and both."""
    curves = content.tables["curves"].filter(pl.col("contrast") == "value")
    rows = []
    for measure in content.measures:
        own = curves.filter(pl.col("measure") == measure.name)
        widths = {(p, r): width for p, r, width in own.select("prompts", "raters", "half_width").iter_rows()}
        now = next(iter(own.filter("now").select("prompts", "raters").iter_rows()), None)
        if now is None:
            continue
        prompts, raters = now
        sizes = ((prompts, raters), (2 * prompts, raters), (prompts, 2 * raters), (2 * prompts, 2 * raters))
        texts = [figure(widths.get(size), measure.decimals) for size in sizes]
        if not raters:
            texts[2:] = ["–", "–"]
        rows.append(PrecisionRow(measure.name, prompts, raters, *texts))
    return rows


def board_facts(content: Content) -> list[Fact]:
    """Return the board in a few numbers: entries, prompts, raters, answers, images."""
    overall = content.overall.cells
    by_people = {m.name for m in content.measures if m.source == "people"}
    people = [cell for (name, _), cell in overall.items() if name in by_people]
    prompts = max((cell.prompts or 0 for cell in overall.values()), default=0)
    answers = content.tables["judgements"].filter("used").height
    images = content.tables["images"].filter(~pl.col("real") & ~pl.col("gold")).height
    numbers = (
        (len(content.entries), "entry", "entries"),
        (prompts, "prompt", "prompts"),
        (max((cell.raters or 0 for cell in people), default=0), "rater", "raters"),
        (answers, "judgement", "judgements"),
        (images, "image", "images"),
        (len(content.measures), "measure", "measures"),
    )
    return [
        Fact(f"{number:,}", singular if number == 1 else plural) for number, singular, plural in numbers if number
    ]


def separated_from(
    content: Content, entry: str, measure: str
) -> tuple[Sequence[str], Sequence[str], Sequence[str]]:
    """Return the entries that an entry is better than, worse than, and not separated from, over all prompts."""
    pairs = content.tables["board_pairs"].filter(
        (pl.col("measure") == measure)
        & (pl.col("family") == "all")
        & ((pl.col("entry") == entry) | (pl.col("other") == entry))
    )
    better: list[str] = []
    worse: list[str] = []
    undecided: list[str] = []
    for first, second, separated in pairs.select("entry", "other", "separated").iter_rows():
        rival = second if first == entry else first
        (undecided if not separated else better if first == entry else worse).append(rival)
    return better, worse, undecided
