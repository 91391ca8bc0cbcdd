from collections.abc import Callable
from itertools import pairwise

import pytest

from beholder.report.charts.comparisons import comparisons_chart
from beholder.report.tables.comparisons import MOST_PAIRS, build_comparisons
from beholder.report.tables.leaderboard import Board
from beholder.tables.catalogue import TABLES
from beholder.tables.schemas.rank import OUTCOMES

MakeBoard = Callable[..., Board]
Row = dict[str, object]


def votes(generator: str, other: str, *proportions: float) -> list[Row]:
    """Rows of ``comparisons``; names in the order of the alphabet, as the table has them."""
    common: Row = {
        "question": "preference",
        "aspect": "preference",
        "slice": "all",
        "generator": generator,
        "other": other,
    }
    common |= {"low": 0.0, "high": 1.0, "answers": 50, "raters": 7}
    outcomes = OUTCOMES if len(proportions) == 5 else OUTCOMES[1:4]
    return [
        common | {"outcome": outcome, "share": rate} for outcome, rate in zip(outcomes, proportions, strict=True)
    ]


def board_of(make_board: MakeBoard, rated: dict[str, float]) -> Board:
    return make_board(rated, aspect="preference", method="bradley-terry")


def test_the_higher_rated_is_named_first_and_outcomes_turn_with_it(make_board: MakeBoard) -> None:
    board = board_of(make_board, {"a": -1.0, "b": 1.0})
    rows = votes("a", "b", 0.05, 0.1, 0.2, 0.25, 0.4)
    compared = build_comparisons(board, TABLES["comparisons"].frame(rows))
    assert compared is not None
    (pair,) = compared.pairs
    assert (pair.generator, pair.other, pair.answers, pair.raters) == ("b", "a", 50, 7)
    assert [(rate.outcome, rate.proportion) for rate in pair.outcomes] == [
        ("much-better", 0.4),
        ("better", 0.25),
        ("same", 0.2),
        ("worse", 0.1),
        ("much-worse", 0.05),
    ]
    assert pair.better == pytest.approx(0.65)
    chart = comparisons_chart(board, compared, "votes")
    assert chart.alt == "Proportions of votes by preference: b better than a in 65 %."
    rows_drawn = chart.spec["data"]["values"]
    assert [(row["start"], row["end"]) for row in rows_drawn][:2] == [(0.0, 40.0), (40.0, 65.0)]


def test_three_answers_are_three(make_board: MakeBoard) -> None:
    board = board_of(make_board, {"a": 1.0, "b": 0.0})
    compared = build_comparisons(board, TABLES["comparisons"].frame(votes("a", "b", 0.5, 0.2, 0.3)))
    assert compared is not None
    assert (compared.outcomes, compared.all_shown) == (("better", "same", "worse"), True)


def test_of_many_generators_neighbours_are_shown(make_board: MakeBoard) -> None:
    names = [f"g{n}" for n in range(8)]  # 28 pairs
    rows = [
        row
        for i, name in enumerate(names)
        for other in names[i + 1 :]
        for row in votes(name, other, 0.5, 0.2, 0.3)
    ]
    board = board_of(make_board, {name: -float(place) for place, name in enumerate(names)})
    compared = build_comparisons(board, TABLES["comparisons"].frame(rows))
    assert compared is not None
    assert compared.total == 28 > MOST_PAIRS
    assert [(pair.generator, pair.other) for pair in compared.pairs] == list(pairwise(names))
    assert not compared.all_shown


def test_no_votes_no_comparisons(make_board: MakeBoard) -> None:
    assert build_comparisons(make_board({"a": 0.5}), TABLES["comparisons"].empty()) is None
