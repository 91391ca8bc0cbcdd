"""Width of confidence intervals against the number of raters: by hand, and as resampled from Layer 6's raters."""

import json
import math
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from beholder.report.charts.precision import precision_chart
from beholder.report.site.generator_marks import generator_marks
from beholder.report.tables.leaderboard import Board
from beholder.report.tables.precision import Precision, Width, build_precision

MakeBoard = Callable[..., Board]

SHARED = Path(os.environ.get("BEHOLDER_SHARED", Path(__file__).parents[3] / "shared"))
EXPECTED = SHARED / "data" / "layer6-realism" / "expected_statistics.json"


def test_four_times_the_raters_halve_the_width(make_board: MakeBoard) -> None:
    # intervals of make_board reach .05 to both sides and come from 10 raters
    precision = build_precision(make_board({"a": 0.5, "b": 0.4}))
    assert precision is not None
    assert (precision.raters, round(precision.width, 12)) == (10, 0.1)
    assert precision.needed_raters(0.05) == 40
    last_raters, low, middle, high = precision.curve[-1]
    assert last_raters == 40
    assert all(math.isclose(width, 0.05) for width in (low, middle, high))
    first_raters, _, first, _ = precision.curve[0]
    assert math.isclose(first, 0.1 * math.sqrt(10 / first_raters))


def test_generators_with_other_numbers_of_raters() -> None:
    # widths .1 at 16 and .2 at 4 raters: at 64 they are .05 and .05
    precision = Precision((Width("a", 16, 0.1), Width("b", 4, 0.2)), ())
    assert (precision.raters, round(precision.width, 12), precision.needed_raters(0.05)) == (10, 0.15, 64)


def test_where_raters_are_not_resampled_nothing_is_extrapolated(make_board: MakeBoard) -> None:
    assert build_precision(make_board({"a": 3.0}, method="published-mean")) is None


@pytest.mark.skipif(not EXPECTED.exists(), reason=f"the Layer 6 release is not at {EXPECTED}")
@pytest.mark.parametrize("dataset", ["cifar10", "imagenet256"])
def test_widths_resampled_from_real_raters_follow_the_law(dataset: str) -> None:
    """Mean widths of bootstrapped intervals with 5 to 60 raters; from those with 25, the others within 4 %."""
    widths = json.loads(EXPECTED.read_text(encoding="utf-8"))[dataset]["mean_boot_ci95_width_by_n"]
    for raters, width in widths.items():
        assert widths["25"] * math.sqrt(25 / int(raters)) == pytest.approx(width, rel=0.04), raters


def test_the_chart_says_both_ends(make_board: MakeBoard) -> None:
    board = make_board({"a": 0.5})
    precision = build_precision(board)
    assert precision is not None
    chart = precision_chart(board, precision, generator_marks(["a"]), "precision")
    assert chart.alt == (
        "Width of the confidence intervals by realism against the number of raters: "
        "10 with 10 raters per generator, about 5 with 40."
    )
