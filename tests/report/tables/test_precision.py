"""Interval width against the number of people: by hand, and against the widths resampled from Layer 6's people."""

import json
import math
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from beholder.report.charts.precision import precision_chart
from beholder.report.tables.leaderboard import Board
from beholder.report.tables.precision import Precision, Width, precision

MakeBoard = Callable[..., Board]

SHARED = Path(os.environ.get("BEHOLDER_SHARED", Path(__file__).parents[3] / "shared"))
EXPECTED = SHARED / "data" / "layer6-realism" / "expected_statistics.json"


def test_four_times_the_people_halve_the_width(make_board: MakeBoard) -> None:
    # intervals of make_board reach .05 to both sides and rest on 10 people
    found = precision(make_board({"a": 0.5, "b": 0.4}))
    assert found is not None
    assert (found.people, round(found.width, 12)) == (10, 0.1)
    assert found.needed(0.05) == 40
    last_people, low, middle, high = found.curve[-1]
    assert last_people == 40
    assert all(math.isclose(width, 0.05) for width in (low, middle, high))
    first_people, _, first, _ = found.curve[0]
    assert math.isclose(first, 0.1 * math.sqrt(10 / first_people))


def test_generators_with_other_numbers_of_people() -> None:
    # widths .1 at 16 and .2 at 4 people: at 64 they are .05 and .05
    found = Precision((Width("a", 16, 0.1), Width("b", 4, 0.2)), ())
    assert (found.people, round(found.width, 12), found.needed(0.05)) == (10, 0.15, 64)


def test_where_people_are_not_resampled_nothing_is_drawn_out(make_board: MakeBoard) -> None:
    assert precision(make_board({"a": 3.0}, method="published-mean")) is None


@pytest.mark.skipif(not EXPECTED.exists(), reason=f"the Layer 6 release is not at {EXPECTED}")
@pytest.mark.parametrize("dataset", ["cifar10", "imagenet256"])
def test_widths_resampled_from_real_people_follow_the_law(dataset: str) -> None:
    """Mean widths of bootstrapped intervals with 5 to 60 people; from those with 25, the others within 4 %."""
    widths = json.loads(EXPECTED.read_text(encoding="utf-8"))[dataset]["mean_boot_ci95_width_by_n"]
    for people, width in widths.items():
        assert widths["25"] * math.sqrt(25 / int(people)) == pytest.approx(width, rel=0.04), people


def test_the_chart_says_both_ends(make_board: MakeBoard) -> None:
    board = make_board({"a": 0.5})
    found = precision(board)
    assert found is not None
    chart = precision_chart(board, found, {"a": "#000000"}, "precision")
    assert chart.alt == (
        "Width of the intervals by realism against the number of people: 10 with 10 people a generator, "
        "about 5 with 40."
    )
