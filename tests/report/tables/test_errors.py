"""Errors on real and on generated images: right rows side by side, and the table of Layer 6."""

from collections.abc import Callable

from beholder.report.charts.errors import errors_chart
from beholder.report.tables.errors import build_errors
from beholder.report.tables.leaderboard import Board

MakeBoard = Callable[..., Board]


def three(make_board: MakeBoard) -> list[Board]:
    """Errors of two generators; b has none on real images."""
    return [
        make_board({"a": 0.3, "b": 0.4}),
        make_board({"a": 0.2, "b": 0.5}, method="fake-error-rate"),
        make_board({"a": 0.4}, method="real-error-rate"),
    ]


def test_rows_stand_as_on_the_leading_board(make_board: MakeBoard) -> None:
    both = build_errors(three(make_board))
    assert both is not None
    rows = [(row.generator, row.both.rating, row.fake and row.fake.rating, row.real) for row in both.rows]
    assert rows[0] == ("b", 0.4, 0.5, None)
    assert rows[1][:3] == ("a", 0.3, 0.2)
    assert both.rows[1].real is not None
    assert both.rows[1].real.rating == 0.4
    assert both.rows[0].d_prime is None


def test_without_errors_of_both_kinds_there_is_nothing(make_board: MakeBoard) -> None:
    assert build_errors([make_board({"a": 0.3})]) is None
    assert build_errors([make_board({"a": 3.0}, method="mean-opinion")]) is None


def test_the_chart_has_a_dot_for_each_known_error(make_board: MakeBoard) -> None:
    both = build_errors(three(make_board))
    assert both is not None
    chart = errors_chart(both, "errors")
    rows = chart.spec["data"]["values"]
    assert [(row["generator"], row["kind"], row["error"]) for row in rows] == [
        ("b", "generated", 50.0),
        ("a", "generated", 20.0),
        ("a", "real", 40.0),
    ]
    assert chart.alt == (
        "Errors on generated and on real images by realism: b generated 50.0 %; a generated 20.0 %; a real 40.0 %."
    )
