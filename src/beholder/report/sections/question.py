"""One question of the page: its boards, their charts and examples, or why there are none."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from beholder.formats.imported import UNKNOWN
from beholder.report.charts.chart import Chart
from beholder.report.charts.comparisons import comparisons_chart
from beholder.report.charts.errors import errors_chart
from beholder.report.charts.matrix import matrix_chart
from beholder.report.charts.precision import precision_chart
from beholder.report.charts.ratings import Slim, ratings_chart
from beholder.report.charts.staircases import places_chart, traces_chart
from beholder.report.sections.examples import Examples, examples
from beholder.report.sections.heatmaps import Heatmaps, heatmaps
from beholder.report.sections.label_errors import Doubts, doubts
from beholder.report.site.theme import var
from beholder.report.tables.comparisons import Comparisons, comparisons
from beholder.report.tables.errors import Errors, errors
from beholder.report.tables.hits import Hits, hits
from beholder.report.tables.inputs import Inputs
from beholder.report.tables.label_doubts import with_second_looks
from beholder.report.tables.leaderboard import WHOLE, Board, slugs
from beholder.report.tables.precision import Precision, precision
from beholder.report.tables.raters import Crowd
from beholder.report.tables.staircases import Staircases, staircases
from beholder.report.text.words import people
from beholder.study.kinds.catalogue import AnyQuestion, kind_of


@dataclass(frozen=True, slots=True)
class BoardPart:
    """A headline board with all that belongs to it."""

    board: Board
    asked: str | None
    """The words of the aspect, where the question has several."""
    ratings: Chart
    matrix: Chart | None
    precision: tuple[Precision, Chart] | None
    comparisons: tuple[Comparisons, Chart] | None
    hits: tuple[Hits, ...]
    slices: tuple[tuple[Board, Chart], ...]
    examples: tuple[Examples, ...]
    unseen: bool
    """Whether no image file is at hand, as in imported data."""
    ties: str


@dataclass(frozen=True, slots=True)
class Part:
    """A question with its boards."""

    question: AnyQuestion
    crowd: Crowd
    boards: tuple[BoardPart, ...]
    secondary: tuple[Board, ...]
    errors: tuple[Errors, Chart] | None
    staircases: tuple[Staircases, Chart, tuple[Chart, ...]] | None
    heatmaps: Heatmaps | None
    doubts: Doubts | None
    silence: str | None
    """Why there are no boards."""

    @property
    def charts(self) -> tuple[Chart, ...]:
        """Every chart of the question."""
        found: list[Chart] = []
        for one in self.boards:
            found += [one.ratings, *([one.matrix] if one.matrix else [])]
            found += [extra[1] for extra in (one.precision, one.comparisons) if extra]
            found += [chart for _, chart in one.slices]
        if self.errors:
            found.append(self.errors[1])
        if self.staircases:
            found += [self.staircases[1], *self.staircases[2]]
        return tuple(found)


def part(
    question: AnyQuestion,
    crowd: Crowd,
    every: Sequence[Board],
    leading: Sequence[Board],
    tables: Inputs,
    colour: dict[str, str],
    folder: Path,
    background: str,
) -> Part:
    """The part of one question."""
    mine = [board for board in every if board.question == question.name]
    led = [board for board in leading if board.question == question.name]
    secondary = tuple(board for board in mine if board.slice == WHOLE and not board.measure.headline)
    slug, wrong = slugs(led), errors(mine)
    prompts = dict(tables.prompts.select("prompt", "text").iter_rows())
    order = [row.generator for row in led[0].rows] if led else []
    marked = kind_of(question).marked(question)
    doubted = with_second_looks(tables.labels, tables.label_errors)
    return Part(
        question=question,
        crowd=crowd,
        boards=tuple(
            _board_part(question, board, slug[board.key], mine, tables, colour, folder, background)
            for board in led
        ),
        secondary=secondary,
        errors=(wrong, errors_chart(wrong, f"{question.name}-errors")) if wrong else None,
        staircases=_staircases(question, crowd, led, secondary, tables, colour),
        heatmaps=None
        if marked is None
        else heatmaps(marked, order, tables.labels, tables.images, prompts, tables.regions, folder, background),
        doubts=doubts(question.name, doubted, tables.images, prompts, folder, background),
        silence=None if led else _silence(crowd, tables),
    )


def _staircases(
    question: AnyQuestion,
    crowd: Crowd,
    led: Sequence[Board],
    secondary: Sequence[Board],
    tables: Inputs,
    colour: dict[str, str],
) -> tuple[Staircases, Chart, tuple[Chart, ...]] | None:
    """Traces and places of a timed question, and their charts."""
    adaptive = kind_of(question).adaptive(question)
    if adaptive is None:
        return None
    used = [member.rater for member in crowd.used]
    level = led[0].level if led else 0.95
    found = staircases(question.name, tables.thresholds, tables.judged, used, [*led, *secondary], level)
    if found is None or not found.settled:
        return None
    limits = (float(adaptive.shortest_ms), float(adaptive.longest_ms))
    traces = tuple(
        traces_chart(one, colour.get(one.generator, var("accent")), limits, f"{question.name}-traces-{number}")
        for number, one in enumerate(found.traces)
    )
    names = [one.generator for one in found.settled]
    return found, places_chart(found, names, colour, f"{question.name}-places"), traces


def _silence(crowd: Crowd, tables: Inputs) -> str:
    published = tables.labels.filter(pl.col("question") == crowd.question)
    if not crowd.invited and published.is_empty():
        return "Nobody has taken part yet."
    if (tables.images["generator"] == UNKNOWN).all() and (crowd.used or not crowd.members):
        return "Which generator made which image is not known, so there is nothing to rate."
    if not crowd.invited:
        return "The generators have not been rated yet."
    if not crowd.members:
        return f"{people(crowd.invited).capitalize()} took part; their answers have not been consolidated yet."
    if not crowd.used:
        whose = "the only person" if len(crowd.members) == 1 else f"any of the {people(len(crowd.members))}"
        return f"The answers of {whose} could not be used, so there is no rating."
    return f"{people(len(crowd.used)).capitalize()} can be used, but the generators have not been rated yet."


def _board_part(
    question: AnyQuestion,
    board: Board,
    slug: str,
    mine: Iterable[Board],
    tables: Inputs,
    colour: dict[str, str],
    folder: Path,
    background: str,
) -> BoardPart:
    sliced = [
        one for one in mine if one.slice != WHOLE and (one.aspect, one.method) == (board.aspect, board.method)
    ]
    domain, order = _domain(sliced), [row.generator for row in board.rows]
    slices = tuple(
        (one, ratings_chart(one, colour, f"{slug}-slice-{number}", slim=Slim(domain, order)))
        for number, one in enumerate(sliced)
    )
    prompts = dict(tables.prompts.select("prompt", "text").iter_rows())
    real = tables.images.filter("real")["generator"].unique().sort().to_list()
    scale = kind_of(question).scale(question)
    wide, votes = precision(board), comparisons(board, tables.comparisons)
    return BoardPart(
        board=board,
        asked=kind_of(question).wording(question, board.aspect),
        ratings=ratings_chart(board, colour, f"{slug}-ratings"),
        matrix=matrix_chart(board, f"{slug}-pairs") if board.pairs else None,
        precision=(wide, precision_chart(board, wide, colour, f"{slug}-precision")) if wide else None,
        comparisons=(votes, comparisons_chart(board, votes, f"{slug}-votes")) if votes else None,
        hits=hits(board, tables.labels, tables.images) if board.method == "pass-rate" else (),
        slices=slices if len(slices) > 1 else (),
        examples=examples(
            board,
            tables.labels,
            tables.images,
            prompts,
            folder,
            background,
            real=real[0] if board.method == "error-rate" and real else None,
            scale=(0.0, 1.0) if scale is None else scale.ends,
        ),
        unseen=bool((tables.images["sha256"] == UNKNOWN).all()),
        ties=_ties(question, board),
    )


def _domain(boards: Sequence[Board]) -> tuple[float, float]:
    """One axis for all slices, a little wider than what they hold."""
    ends = [
        value * board.measure.factor
        for board in boards
        for row in board.rows
        for value in (row.rating, row.low, row.high)
        if value is not None
    ] or [0.0]
    margin = (max(ends) - min(ends) or 1.0) * 0.06
    return min(ends) - margin, max(ends) + margin


def _ties(question: AnyQuestion, board: Board) -> str:
    if board.ties:
        return f"Ties: {board.ties}."
    offered = kind_of(question).ties(question)
    if offered is None:
        return "Ties: none, as every image is judged alone."
    return "Ties: the rule is not recorded." if offered else "Ties: none was offered."
