"""What the pages of a site show: the board's tables as entries, measures, slices and cells."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from beholder.judgements.inclusion import includes_excluded
from beholder.report.board_site.figures import decimals_for, figure, rank_range
from beholder.report.board_site.file_names import file_names
from beholder.report.board_site.prompt_values import prompt_values
from beholder.report.site.generator_marks import SHAPE_PATHS, generator_marks
from beholder.study.study import Study
from beholder.tables.stages import REPORT, STAGES
from beholder.tables.store import Store

ALL = "all"
"""The slice of all prompts, and its family."""

SOURCES: Mapping[str, str] = {
    "people": "people",
    "scorer": "scorer",
    "model": "trained model",
    "distance": "distance between sets",
    "cost": "cost",
    "stated": "stated by others",
}
"""Where a measure comes from -> how the pages call it; other sources go by their own names."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of the board."""

    name: str
    page: str
    colour: str
    path: str
    """The outline of its shape, as in an SVG path 12 wide."""
    marks: tuple[str, ...]
    """What raised marks say about it."""


@dataclass(frozen=True, slots=True)
class MeasureHead:
    """One measure of the board."""

    name: str
    source: str
    better: str | None
    level: float
    decimals: int
    weight: float
    """What it is worth, as the study file or the default has it."""

    @property
    def origin(self) -> str:
        """Where it comes from, in words."""
        return SOURCES.get(self.source, self.source)


@dataclass(frozen=True, slots=True)
class Cell:
    """What one measure says of one entry in one slice."""

    value: float | None
    low: float | None
    high: float | None
    rank_low: int | None
    rank_high: int | None
    chance_best: float | None
    prompts: int | None
    raters: int | None
    answers: int | None
    note: str | None
    decimals: int
    stated: bool = False
    """Whether others state it, and it was not measured here."""

    @property
    def rank(self) -> str:
        """Range of ranks, such as ``1–2``."""
        return rank_range(self.rank_low, self.rank_high)

    @property
    def text(self) -> str:
        """The value as it is printed."""
        return figure(self.value, self.decimals)

    @property
    def interval(self) -> str:
        """The confidence interval as it is printed; empty where there is none."""
        if self.low is None or self.high is None:
            return ""
        return f"{figure(self.low, self.decimals)} to {figure(self.high, self.decimals)}"


@dataclass(frozen=True, slots=True)
class BoardSlice:
    """All measures of all entries on the prompts of one slice."""

    family: str
    name: str
    page: str
    """File name of its page without the ending; that of all prompts is the front page."""
    prompts: int
    """The most prompts that a measure has in it."""
    cells: Mapping[tuple[str, str], Cell]
    """By the names of measure and entry."""

    def ends(self, measure: str) -> tuple[float, float] | None:
        """Return the range that holds all values and intervals of a measure; none where there are none."""
        cells = [cell for (name, _), cell in self.cells.items() if name == measure]
        numbers = [n for cell in cells for n in (cell.value, cell.low, cell.high) if n is not None]
        return (min(numbers), max(numbers)) if numbers else None


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt, with its page."""

    key: str
    text: str
    page: str
    slices: tuple[tuple[str, str], ...]
    """Family and name of each of its slices."""


@dataclass(frozen=True, slots=True, eq=False)
class Content:
    """All that the pages of a site show."""

    study: Study
    folder: Path
    entries: tuple[Entry, ...]
    """The best by the leading measure first."""
    measures: tuple[MeasureHead, ...]
    slices: tuple[BoardSlice, ...]
    """That of all prompts first."""
    prompts: tuple[Prompt, ...]
    values: pl.DataFrame
    """What every measure says of every entry on every prompt (:func:`prompt_values`)."""
    tables: Mapping[str, pl.DataFrame]
    simulated: bool
    includes_excluded: bool

    @property
    def overall(self) -> BoardSlice:
        """The slice of all prompts."""
        return self.slices[0]

    @property
    def leading(self) -> MeasureHead:
        """The measure by which entries are listed: the first by people, else the first with a direction."""
        return leading_measure(self.measures)

    def entry(self, name: str) -> Entry:
        """Return the entry of that name."""
        return {entry.name: entry for entry in self.entries}[name]


READ = STAGES["board"].outputs
"""The board's tables: the first must be there, the others are read if they are."""

READ_IF_THERE = (
    *("images", "prompts", "curated_prompts", "prompt_tags", "prompt_sets"),
    *("generations", "generation_costs", "sessions", "raters", "judgements"),
)


def read_content(folder: Path, study: Study) -> Content:
    """Read the tables of a study with a board.

    Args:
        folder: The study folder; the tables of ``beholder board`` are there.
        study: Its settings.

    Returns:
        The content of all pages.
    """
    store = Store(folder).within(REPORT)
    tables = {name: store.read_or_empty(name) for name in (*READ, *READ_IF_THERE)}
    board = _with_costs(store.read("board"), tables["board_costs"])
    measures = _measures(board, study)
    slices = _slices(board, {measure.name: measure.decimals for measure in measures})
    leading = leading_measure(measures)
    ordered = _ordered(slices[0], leading, list(dict.fromkeys(board["entry"])))
    sessions = tables["sessions"]
    return Content(
        study=study,
        folder=folder,
        entries=_entries(ordered, tables["board_marks"]),
        measures=measures,
        slices=slices,
        prompts=_prompts(tables, slices),
        values=prompt_values(store),
        tables=tables,
        simulated=not sessions.is_empty() and bool(sessions["simulated"].all()),
        includes_excluded=includes_excluded(store),
    )


def _with_costs(board: pl.DataFrame, costs: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of the board, and what an image of each entry cost as further measures over all prompts."""
    rows = costs.select(
        "measure",
        *("entry", "value", "low", "high", "level", "se", "rank_low", "rank_high", "prompts"),
        family=pl.lit(ALL),
        slice=pl.lit(ALL),
        source=pl.lit("cost"),
        better=pl.lit("lower"),
        answers="images",
    )
    return pl.concat([board, rows], how="diagonal")


def leading_measure(measures: Sequence[MeasureHead]) -> MeasureHead:
    """Return the first measure by people, else the first with a direction, else the first."""
    by_people = (m for m in measures if m.source == "people" and m.better)
    return next(by_people, next((m for m in measures if m.better), measures[0]))


def _measures(board: pl.DataFrame, study: Study) -> tuple[MeasureHead, ...]:
    """Return the measures in the order of the board: those by people first."""
    own = board.filter(pl.col("source") != "stated").select("measure", "source", "better", "level")
    others = board.filter(pl.col("source") == "stated").select("measure", "source", "better", "level")
    heads = pl.concat([own, others]).unique(maintain_order=True, keep="first", subset="measure")
    directed = heads.filter(pl.col("better").is_in(["higher", "lower"]))
    measured = directed.filter(pl.col("source") != "cost")
    people = set(measured.filter(pl.col("source") == "people")["measure"]) or set(measured["measure"])
    weights = study.board.weights or dict.fromkeys(people, 1.0)
    half_widths = board.select("measure", "slice", width=(pl.col("high") - pl.col("low")) / 2).drop_nulls()
    return tuple(
        MeasureHead(
            name=name,
            source=source,
            better=better if better in ("higher", "lower") else None,
            level=level,
            decimals=decimals_for(
                half_widths.filter((pl.col("measure") == name) & (pl.col("slice") == ALL))["width"]
            ),
            weight=weights.get(name, 0.0),
        )
        for name, source, better, level in heads.iter_rows()
    )


def _slices(board: pl.DataFrame, decimals: Mapping[str, int]) -> tuple[BoardSlice, ...]:
    groups = list(board.group_by("family", "slice", maintain_order=True))
    pages = file_names(f"{family}-{name}" for (family, name), _ in groups)
    slices = [
        BoardSlice(
            family=str(family),
            name=str(name),
            page="index" if family == ALL else pages[f"{family}-{name}"],
            prompts=max((n for n in rows["prompts"] if n is not None), default=0),
            cells={
                (row["measure"], row["entry"]): Cell(
                    **{column: row[column] for column in CELL_COLUMNS},
                    decimals=decimals[row["measure"]],
                    stated=row["source"] == "stated",
                )
                for row in rows.iter_rows(named=True)
            },
        )
        for (family, name), rows in groups
    ]
    return tuple(sorted(slices, key=lambda part: (part.family != ALL, part.family, part.name)))


CELL_COLUMNS = (
    *("value", "low", "high", "rank_low", "rank_high"),
    *("chance_best", "prompts", "raters", "answers", "note"),
)


def _ordered(overall: BoardSlice, leading: MeasureHead, entries: Sequence[str]) -> list[str]:
    """Return the entries, best first by the leading measure; those without a value last."""
    sign = 1.0 if leading.better == "lower" else -1.0

    def place(name: str) -> tuple[bool, float, str]:
        cell = overall.cells.get((leading.name, name))
        value = None if cell is None else cell.value
        return (value is None, 0.0 if value is None else sign * value, name)

    return sorted(entries, key=place)


def _entries(ordered: Sequence[str], marks: pl.DataFrame) -> tuple[Entry, ...]:
    drawn, pages = generator_marks(ordered), file_names(ordered)
    raised = marks.filter("raised")
    return tuple(
        Entry(
            name=name,
            page=pages[name],
            colour=drawn[name].colour,
            path=SHAPE_PATHS[drawn[name].shape],
            marks=tuple(raised.filter(pl.col("entry") == name)["words"].unique(maintain_order=True)),
        )
        for name in ordered
    )


def _prompts(tables: Mapping[str, pl.DataFrame], slices: Sequence[BoardSlice]) -> tuple[Prompt, ...]:
    """Return the prompts that entries have images of, in the order of the table."""
    images = tables["images"].filter(~pl.col("real") & ~pl.col("gold") & pl.col("prompt").is_not_null())
    used = set(images["prompt"])
    own = {(part.family, part.name) for part in slices}
    belongs: dict[str, dict[tuple[str, str], None]] = {}
    for family, column, rows in (("tag", "tag", tables["prompt_tags"]), ("style", "style", images)):
        for prompt, name in rows.select("prompt", column).drop_nulls().unique(maintain_order=True).iter_rows():
            if (family, name) in own:
                belongs.setdefault(prompt, {})[family, name] = None
    texts = {key: text for key, text in tables["prompts"].select("prompt", "text").iter_rows() if key in used}
    pages = file_names(texts)
    return tuple(Prompt(key, text, pages[key], tuple(belongs.get(key, {}))) for key, text in texts.items())
