from collections.abc import Callable
from itertools import pairwise

import pytest

from beholder.report.charts.comparisons import comparisons_chart
from beholder.report.tables.comparisons import MOST_PAIRS, comparisons
from beholder.report.tables.leaderboard import Board
from beholder.tables.catalogue import TABLES
from beholder.tables.schemas.rank import OUTCOMES

MakeBoard = Callable[..., Board]
Row = dict[str, object]


def votes(one: str, other: str, *shares: float) -> list[Row]:
    """Rows of ``comparisons``; names in the order of the alphabet, as the table has them."""
    common: Row = {
        "question": "preference",
        "aspect": "preference",
        "slice": "all",
        "generator": one,
        "other": other,
    }
    common |= {"low": 0.0, "high": 1.0, "answers": 50, "raters": 7}
    outcomes = OUTCOMES if len(shares) == 5 else OUTCOMES[1:4]
    return [common | {"outcome": outcome, "share": s} for outcome, s in zip(outcomes, shares, strict=True)]


def board_of(make_board: MakeBoard, rated: dict[str, float]) -> Board:
    return make_board(rated, aspect="preference", method="bradley-terry")


def test_the_higher_rated_is_named_first_and_outcomes_turn_with_it(make_board: MakeBoard) -> None:
    board = board_of(make_board, {"a": -1.0, "b": 1.0})
    rows = votes("a", "b", 0.05, 0.1, 0.2, 0.25, 0.4)
    found = comparisons(board, TABLES["comparisons"].frame(rows))
    assert found is not None
    (pair,) = found.pairs
    assert (pair.one, pair.other, pair.answers, pair.people) == ("b", "a", 50, 7)
    assert [(share.outcome, share.share) for share in pair.shares] == [
        ("much-better", 0.4),
        ("better", 0.25),
        ("same", 0.2),
        ("worse", 0.1),
        ("much-worse", 0.05),
    ]
    assert pair.better == pytest.approx(0.65)
    chart = comparisons_chart(board, found, "votes")
    assert chart.alt == "Shares of votes by preference: b better than a in 65 %."
    (rows_drawn,) = chart.spec["datasets"].values()
    assert [(row["start"], row["end"]) for row in rows_drawn][:2] == [(0.0, 40.0), (40.0, 65.0)]


def test_three_answers_are_three(make_board: MakeBoard) -> None:
    board = board_of(make_board, {"a": 1.0, "b": 0.0})
    found = comparisons(board, TABLES["comparisons"].frame(votes("a", "b", 0.5, 0.2, 0.3)))
    assert found is not None
    assert (found.outcomes, found.all_shown) == (("better", "same", "worse"), True)


def test_of_many_generators_neighbours_are_shown(make_board: MakeBoard) -> None:
    names = [f"g{n}" for n in range(8)]  # 28 pairs
    rows = [
        row for i, one in enumerate(names) for other in names[i + 1 :] for row in votes(one, other, 0.5, 0.2, 0.3)
    ]
    board = board_of(make_board, {name: -float(place) for place, name in enumerate(names)})
    found = comparisons(board, TABLES["comparisons"].frame(rows))
    assert found is not None
    assert found.total == 28 > MOST_PAIRS
    assert [(pair.one, pair.other) for pair in found.pairs] == list(pairwise(names))
    assert not found.all_shown


def test_no_votes_no_comparisons(make_board: MakeBoard) -> None:
    assert comparisons(make_board({"a": 0.5}), TABLES["comparisons"].empty()) is None
