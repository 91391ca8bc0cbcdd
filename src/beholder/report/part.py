"""One question of the page: its boards, their charts and examples, or why there are none."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from beholder.formats.imported import UNKNOWN
from beholder.report.charts.chart import Chart
from beholder.report.charts.matrix import matrix_chart
from beholder.report.charts.ratings import Slim, ratings_chart
from beholder.report.crowd import Crowd
from beholder.report.examples import Examples, examples
from beholder.report.inputs import Inputs
from beholder.report.leaderboard import WHOLE, Board
from beholder.report.words import people
from beholder.study.kinds.catalogue import AnyQuestion
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.rating import ScaleQuestion


@dataclass(frozen=True, slots=True)
class BoardPart:
    """A headline board with all that belongs to it."""

    board: Board
    asked: str | None
    """The words of the aspect, where the question has several."""
    ratings: Chart
    matrix: Chart | None
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
    silence: str | None
    """Why there are no boards."""

    @property
    def charts(self) -> tuple[Chart, ...]:
        """Every chart of the question."""
        found: list[Chart] = []
        for one in self.boards:
            found += [one.ratings, *([one.matrix] if one.matrix else []), *(chart for _, chart in one.slices)]
        return tuple(found)


def part(
    question: AnyQuestion,
    crowd: Crowd,
    every: Sequence[Board],
    leading: Sequence[Board],
    tables: Inputs,
    colour: dict[str, str],
    folder: Path,
) -> Part:
    """The part of one question."""
    mine = [board for board in every if board.question == question.name]
    led = [board for board in leading if board.question == question.name]
    return Part(
        question=question,
        crowd=crowd,
        boards=tuple(_board_part(question, board, mine, tables, colour, folder) for board in led),
        secondary=tuple(board for board in mine if board.slice == WHOLE and not board.measure.headline),
        silence=None if led else _silence(crowd, tables),
    )


def _silence(crowd: Crowd, tables: Inputs) -> str:
    if not crowd.invited:
        return "Nobody has taken part yet."
    if not crowd.members:
        return f"{people(crowd.invited).capitalize()} took part; their answers have not been consolidated yet."
    if not crowd.used:
        whose = "the only person" if len(crowd.members) == 1 else f"any of the {people(len(crowd.members))}"
        return f"The answers of {whose} could not be used, so there is no rating."
    if (tables.images["generator"] == UNKNOWN).all():
        return "Which generator made which image is not known, so there is nothing to rate."
    return f"{people(len(crowd.used)).capitalize()} can be used, but the generators have not been rated yet."


def _board_part(
    question: AnyQuestion,
    board: Board,
    mine: Iterable[Board],
    tables: Inputs,
    colour: dict[str, str],
    folder: Path,
) -> BoardPart:
    slug = board.question if board.aspect == board.question else f"{board.question}-{board.aspect}"
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
    return BoardPart(
        board=board,
        asked=_asked(question, board.aspect),
        ratings=ratings_chart(board, colour, f"{slug}-ratings"),
        matrix=matrix_chart(board, f"{slug}-pairs") if board.pairs else None,
        slices=slices if len(slices) > 1 else (),
        examples=examples(
            board,
            tables.labels,
            tables.images,
            prompts,
            folder,
            real=real[0] if board.method == "error-rate" and real else None,
            scale=question.scale() if isinstance(question, ScaleQuestion) else (0.0, 1.0),
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


def _asked(question: AnyQuestion, aspect: str) -> str | None:
    if not isinstance(question, ScaleQuestion):
        return None
    return next((one.text for one in question.aspects if one.name == aspect), None)


def _ties(question: AnyQuestion, board: Board) -> str:
    if board.ties:
        return f"Ties: {board.ties}."
    if not isinstance(question, PairQuestion):
        return "Ties: none, as every image is judged alone."
    return "Ties: the rule is not recorded." if question.ties else "Ties: none was offered."
