"""One question of the page: its boards, their charts and examples, or why there are none."""

from collections.abc import Iterable, Mapping, Sequence
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
from beholder.report.charts.staircases import exposures_chart, traces_chart
from beholder.report.sections.examples import GeneratorExamples, select_examples
from beholder.report.sections.heatmaps import Heatmaps, build_heatmaps
from beholder.report.sections.label_errors import LabelErrors, find_label_errors
from beholder.report.site.generator_marks import UNRANKED, Mark
from beholder.report.tables.comparisons import Comparisons, build_comparisons
from beholder.report.tables.errors import Errors, build_errors
from beholder.report.tables.hits import HitRate, build_hits
from beholder.report.tables.inputs import Inputs
from beholder.report.tables.label_errors import with_model_doubts
from beholder.report.tables.leaderboard import ALL_IMAGES, Board, file_stems
from beholder.report.tables.precision import Precision, build_precision
from beholder.report.tables.raters import RaterPool
from beholder.report.tables.staircases import Staircases, build_staircases
from beholder.report.text.words import count_raters
from beholder.study.kinds.catalogue import AnyQuestion, kind_of


@dataclass(frozen=True, slots=True)
class BoardPart:
    """A headline board with all that belongs to it."""

    board: Board
    wording: str | None
    """The text of the aspect, where the question has several."""
    ratings: Chart
    matrix: Chart | None
    precision: tuple[Precision, Chart] | None
    comparisons: tuple[Comparisons, Chart] | None
    hits: tuple[HitRate, ...]
    slices: tuple[tuple[Board, Chart], ...]
    examples: tuple[GeneratorExamples, ...]
    without_files: bool
    """Whether no image file is available, as in imported data."""
    ties: str


@dataclass(frozen=True, slots=True)
class QuestionPart:
    """A question with its boards."""

    question: AnyQuestion
    pool: RaterPool
    boards: tuple[BoardPart, ...]
    secondary: tuple[Board, ...]
    errors: tuple[Errors, Chart] | None
    staircases: tuple[Staircases, Chart, tuple[Chart, ...]] | None
    heatmaps: Heatmaps | None
    label_errors: LabelErrors | None
    no_boards: str | None
    """Why there are no boards."""

    @property
    def charts(self) -> tuple[Chart, ...]:
        """Every chart of the question."""
        charts: list[Chart] = []
        for part in self.boards:
            charts += [part.ratings, *([part.matrix] if part.matrix else [])]
            charts += [extra[1] for extra in (part.precision, part.comparisons) if extra]
            charts += [chart for _, chart in part.slices]
        if self.errors:
            charts.append(self.errors[1])
        if self.staircases:
            charts += [self.staircases[1], *self.staircases[2]]
        return tuple(charts)


def build_question_part(
    question: AnyQuestion,
    pool: RaterPool,
    all_boards: Sequence[Board],
    all_headlines: Sequence[Board],
    tables: Inputs,
    marks: Mapping[str, Mark],
    folder: Path,
    background: str,
) -> QuestionPart:
    """The part of one question."""
    question_boards = [board for board in all_boards if board.question == question.name]
    headlines = [board for board in all_headlines if board.question == question.name]
    secondary = tuple(
        board for board in question_boards if board.slice == ALL_IMAGES and not board.measure.headline
    )
    stems, errors = file_stems(headlines), build_errors(question_boards)
    prompts = dict(tables.prompts.select("prompt", "text").iter_rows())
    order = [row.generator for row in headlines[0].rows] if headlines else []
    marked = kind_of(question).marked(question)
    labels = with_model_doubts(tables.labels, tables.label_errors)
    return QuestionPart(
        question=question,
        pool=pool,
        boards=tuple(
            _board_part(question, board, stems[board.key], question_boards, tables, marks, folder, background)
            for board in headlines
        ),
        secondary=secondary,
        errors=(errors, errors_chart(errors, f"{question.name}-errors")) if errors else None,
        staircases=_staircases(question, pool, headlines, secondary, tables, marks),
        heatmaps=None
        if marked is None
        else build_heatmaps(
            marked,
            order,
            tables.labels.filter(pl.col("question") == question.name).collect(),
            tables.images,
            prompts,
            tables.regions,
            folder,
            background,
        ),
        label_errors=find_label_errors(question.name, labels, tables.images, prompts, folder, background),
        no_boards=None if headlines else _why_no_boards(pool, tables),
    )


def _staircases(
    question: AnyQuestion,
    pool: RaterPool,
    headlines: Sequence[Board],
    secondary: Sequence[Board],
    tables: Inputs,
    marks: Mapping[str, Mark],
) -> tuple[Staircases, Chart, tuple[Chart, ...]] | None:
    """Staircases of a timed question, and their charts."""
    adaptive = kind_of(question).adaptive(question)
    if adaptive is None:
        return None
    used = [rater.name for rater in pool.used]
    level = headlines[0].level if headlines else 0.95
    staircases = build_staircases(
        question.name, tables.thresholds, tables.exposures, used, [*headlines, *secondary], level
    )
    if staircases is None or not staircases.generators:
        return None
    limits = (float(adaptive.shortest_ms), float(adaptive.longest_ms))
    traces = tuple(
        traces_chart(
            trace, marks.get(trace.generator, UNRANKED).colour, limits, f"{question.name}-traces-{number}"
        )
        for number, trace in enumerate(staircases.traces)
    )
    names = [row.generator for row in staircases.generators]
    return staircases, exposures_chart(staircases, names, marks, f"{question.name}-exposures"), traces


def _why_no_boards(pool: RaterPool, tables: Inputs) -> str:
    published = tables.labels.filter(pl.col("question") == pool.question).head(1).collect()
    if not pool.took_part and published.is_empty():
        return "Nobody has taken part yet."
    if (tables.images["generator"] == UNKNOWN).all() and (pool.used or not pool.raters):
        return "Which generator made which image is not known, so there is nothing to rate."
    if not pool.took_part:
        return "The generators have not been rated yet."
    if not pool.raters:
        return f"{count_raters(pool.took_part)} took part; their answers have not been consolidated yet."
    if not pool.used:
        whose = "the only rater" if len(pool.raters) == 1 else f"any of the {count_raters(len(pool.raters))}"
        return f"The answers of {whose} could not be used, so there is no rating."
    return (
        f"The answers of {count_raters(len(pool.used))} can be used, but the generators have not been rated yet."
    )


def _board_part(
    question: AnyQuestion,
    board: Board,
    stem: str,
    question_boards: Iterable[Board],
    tables: Inputs,
    marks: Mapping[str, Mark],
    folder: Path,
    background: str,
) -> BoardPart:
    sliced = [
        other
        for other in question_boards
        if other.slice != ALL_IMAGES and (other.aspect, other.method) == (board.aspect, board.method)
    ]
    domain, order = _domain(sliced), [row.generator for row in board.rows]
    slices = tuple(
        (other, ratings_chart(other, marks, f"{stem}-slice-{number}", slim=Slim(domain, order)))
        for number, other in enumerate(sliced)
    )
    prompts = dict(tables.prompts.select("prompt", "text").iter_rows())
    real = tables.images.filter("real")["generator"].unique().sort().to_list()
    scale = kind_of(question).scale(question)
    precision, comparisons = build_precision(board), build_comparisons(board, tables.comparisons)
    return BoardPart(
        board=board,
        wording=kind_of(question).wording(question, board.aspect),
        ratings=ratings_chart(board, marks, f"{stem}-ratings"),
        matrix=matrix_chart(board, f"{stem}-pairs") if board.pairs else None,
        precision=(precision, precision_chart(board, precision, marks, f"{stem}-precision"))
        if precision
        else None,
        comparisons=(comparisons, comparisons_chart(board, comparisons, f"{stem}-votes")) if comparisons else None,
        hits=build_hits(board, tables.labels, tables.images) if board.method == "pass-rate" else (),
        slices=slices if len(slices) > 1 else (),
        examples=select_examples(
            board,
            tables.labels,
            tables.images,
            prompts,
            folder,
            background,
            real=real[0] if board.method == "error-rate" and real else None,
            scale=(0.0, 1.0) if scale is None else scale.ends,
        ),
        without_files=bool((tables.images["sha256"] == UNKNOWN).all()),
        ties=_ties(question, board),
    )


def _domain(boards: Sequence[Board]) -> tuple[float, float]:
    """One axis for all slices, a little wider than their values."""
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
        return "No ties, because every image is judged alone."
    return "The rule for ties is not recorded." if offered else "Ties were not offered."
