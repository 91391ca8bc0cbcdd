from dataclasses import replace

import pytest

from beholder.report.charts.screening import screening_chart
from beholder.report.sections.screening_effect import describe_screening_effect
from beholder.report.tables.leaderboard import Before, Board, build_boards
from beholder.tables.catalogue import TABLES


def board_of(method: str, *rows: tuple[str, float, float, int]) -> Board:
    """A board from generator, rating, the rating with everyone, and the raters then; 10 are used."""
    common: dict[str, object] = {"question": "q", "aspect": "realism", "method": method, "slice": "all"}
    common |= {"level": 0.95, "answers": 9, "images": 9, "raters": 10, "rank_low": 1, "rank_high": 2}
    frame = TABLES["ratings"].frame(
        [
            common
            | {"generator": name, "rating": after, "rating_all": before, "raters_all": raters}
            | {"low_all": before - 0.1, "high_all": before + 0.1}
            for name, after, before, raters in rows
        ]
    )
    (board,) = build_boards(frame, TABLES["separations"].empty())
    return board


def test_who_moves_most_and_whether_the_order_stays() -> None:
    board = board_of("error-rate", ("a", 0.5, 0.48, 12), ("b", 0.3, 0.35, 12))
    assert describe_screening_effect(board) == (
        "b moves most, by −5.0 percentage points; the order of the generators does not change."
    )


def test_generators_that_change_places_are_counted() -> None:
    board = board_of("mean-opinion", ("a", 4.0, 3.0, 12), ("b", 3.5, 3.4, 12), ("c", 1.0, 1.0, 12))
    assert describe_screening_effect(board) == "a moves most, by +1.00 points; 2 generators change position."


def test_nothing_is_said_where_nobody_was_excluded_or_nothing_is_known() -> None:
    board = board_of("error-rate", ("a", 0.5, 0.5, 10))
    assert describe_screening_effect(board) is None
    (row,) = board.rows
    assert describe_screening_effect(replace(board, rows=(replace(row, before=None),))) is None


def test_the_chart_has_both_sides() -> None:
    chart = screening_chart(board_of("error-rate", ("a", 0.5, 0.48, 12)), "screening")
    rows = chart.spec["data"]["values"]
    assert [(row["raters"], row["rating"], row["number"]) for row in rows] == [
        ("all", 48.0, 12),
        ("used", 50.0, 10),
    ]
    assert chart.alt == "Ratings by q: realism before and after screening: a 48.0 before and 50.0 after."


def test_a_row_knows_its_rating_before_and_how_narrow_the_naive_interval_is() -> None:
    (row,) = board_of("error-rate", ("a", 0.5, 0.48, 12)).rows
    assert row.before == Before(0.48, 0.48 - 0.1, 0.48 + 0.1, 12)
    assert row.width_ratio is None
    wide = replace(row, low=0.4, high=0.6, naive_low=0.45, naive_high=0.55)
    assert wide.width_ratio == pytest.approx(2.0)
