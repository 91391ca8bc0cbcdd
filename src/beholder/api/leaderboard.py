"""A leaderboard in Python: the ratings of a question as the terminal and the report show them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from beholder.report.tables.leaderboard import Board, board_text
from beholder.stats.frames.display.text_table import TextTable
from beholder.stats.frames.result_table import ResultTable, frame_of

if TYPE_CHECKING:
    import altair as alt


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Leaderboard(ResultTable):
    """All generators by one measure of one question, the highest rated first.

    ``rows`` has the ratings in the unit of the tables (proportions, not percent); as text, they are written as in
    the terminal and the report.
    """

    board: Board
    """The same as the report's sections have it."""

    def pairs(self) -> ResultTable:
        """Return all pairs of generators: their difference, its simultaneous interval, whether it is significant.

        Returns:
            One row per pair, the higher rated first; ``separated`` where they differ significantly at the level
            corrected for all pairs, ``more_raters`` how many more raters would separate them.
        """
        pairs = self.board.pairs
        columns: dict[str, list[object]] = {
            name: [getattr(pair, name) for pair in pairs]
            for name in (
                *("generator", "other", "difference", "low", "high", "p_adjusted"),
                *("separated", "more_raters"),
            )
        }
        return ResultTable(
            title=f"{self.board.name}: differences of the {self.board.measure.name}",
            rows=frame_of(columns),
            method=f"over {self.board.measure.resampled}, simultaneous for all pairs",
            estimate="difference",
            keys=2,
            level=self.board.level,
            raters=self.raters,
            reference=0.0,
            unit=f"difference of the {self.board.measure.name}",
        )

    def plot(self, *, width: int = 420) -> "alt.LayerChart":
        """Return the ratings as the report draws them.

        A thick line is the confidence interval over raters, the thin one below it what it would be if all answers
        were independent; a diamond is the ground truth of simulated raters.

        Args:
            width: Pixels of the chart.

        Returns:
            An Altair chart; ``chart.save("figure.pdf")`` writes it (also .svg, .png, .html).
        """
        # Altair takes a second to load, and only plots need it.
        from beholder.api.figures import board_figure  # noqa: PLC0415

        return board_figure(self.board, width=width)

    def _text(self, most: int | None) -> TextTable:  # noqa: ARG002 - a board has few rows
        return board_text(self.board, tuple(self._footer()))


def as_leaderboard(board: Board, *, notes: tuple[str, ...] = ()) -> Leaderboard:
    """Return a board of the report as a result."""
    columns: dict[str, list[object]] = {
        name: [getattr(row, name) for row in board.rows]
        for name in (
            *("generator", "rating", "low", "high", "rank_low", "rank_high"),
            *("raters", "answers", "images"),
        )
    }
    if board.has_truth:
        columns["ground_truth"] = [row.true_rating for row in board.rows]
    return Leaderboard(
        title=board.name,
        rows=frame_of(columns),
        method=f"over {board.measure.resampled}",
        estimate="rating",
        level=board.level,
        ties=board.ties,
        notes=notes,
        reference=board.measure.reference,
        unit=board.measure.name,
        board=board,
    )
