from collections.abc import Callable, Iterator

import altair as alt
import pytest

from beholder.report.charts.agreement import agreement_chart
from beholder.report.charts.chart import Chart
from beholder.report.charts.matrix import matrix_chart
from beholder.report.charts.raters import MOST_DOTS, exclusion_shapes, raters_chart
from beholder.report.charts.ratings import Slim, ratings_chart
from beholder.report.charts.vega_lite import Layer, Spec, channel, end_channel
from beholder.report.site.generator_marks import generator_marks
from beholder.report.tables.accuracy import Accuracy
from beholder.report.tables.leaderboard import Board
from beholder.report.tables.raters import Agreement, RaterPool, RaterSummary, Reason
from beholder.study.question import Screening

MakeBoard = Callable[..., Board]

THREE = {"a": 0.5, "b": 0.4, "c": 0.3}


def check(chart: Chart) -> Chart:
    """The chart, after Vega-Lite's schema has been asked."""
    alt.Chart.from_dict(chart.spec, validate=True)
    return chart


def rows_of(spec: Spec) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = spec["data"]["values"]
    return rows


def make_pool(*agreements: Agreement) -> RaterPool:
    summaries = (
        RaterSummary("p1", True, (), 10, 1.5, 0.8, None),
        RaterSummary("p2", False, ("fast: 0.1 s",), 10, 0.1, 0.4, "fast"),
        RaterSummary("p3", False, ("qualification: 2%",), 0, None, None, "lazy"),
    )
    return RaterPool("realism", 3, summaries, (), agreements, ())


@pytest.mark.parametrize("method", ["error-rate", "bradley-terry", "mean-opinion", "something-new"])
def test_ratings_and_pairs_are_valid(make_board: MakeBoard, method: str) -> None:
    board = make_board(THREE, method=method, true_ratings={"a": 0.5}, undecided={("b", "c"): 4})
    marks = generator_marks(list(THREE))
    check(ratings_chart(board, marks, "large"))
    check(ratings_chart(board, marks, "small", slim=Slim((0.0, 1.0), ["a", "b", "c"])))
    check(matrix_chart(board, "pairs"))


def test_a_chart_says_in_words_what_it_shows(make_board: MakeBoard) -> None:
    board = make_board(THREE, undecided={("b", "c"): 4})
    chart = ratings_chart(board, generator_marks(list(THREE)), "ratings")
    assert chart.alt == (
        "Dot chart of the error rate by realism: "
        "a 50.0 % (45.0 to 55.0); b 40.0 % (35.0 to 45.0); c 30.0 % (25.0 to 35.0)."
    )
    assert chart.spec["description"] == chart.alt
    assert matrix_chart(board, "pairs").alt == (
        "Matrix of pairs of generators by realism: 2 of 3 differ significantly. "
        "Not significantly different: b and c."
    )


def test_a_pair_that_is_not_significantly_different_has_a_mark_of_its_own(make_board: MakeBoard) -> None:
    spec = matrix_chart(make_board(THREE, undecided={("b", "c"): 4}), "pairs").spec
    cells = {(row["generator"], row["other"]): row for row in rows_of(spec)}
    assert cells["b", "c"]["label"] == "+10.0 ?"
    assert cells["a", "c"]["label"] == "+20.0"
    assert [cells["b", "c"]["mark"], cells["a", "c"]["mark"]] == ["?", ""]


def test_charts_grow_with_the_number_of_generators(make_board: MakeBoard) -> None:
    many = {f"generator {n}": 0.5 - n / 100 for n in range(30)}
    board, marks = make_board(many), generator_marks(list(many))
    assert check(ratings_chart(board, marks, "ratings")).spec["height"] >= 30 * 20
    assert check(matrix_chart(board, "pairs")).spec["height"] >= 29 * 20


def test_small_multiples_share_their_order(make_board: MakeBoard) -> None:
    chart = ratings_chart(
        make_board(THREE), generator_marks(list(THREE)), "s", slim=Slim((0.0, 1.0), ["c", "x", "a", "b"])
    )
    assert chart.spec["layer"][-1]["encoding"]["y"]["sort"] == ["c", "a", "b"]


def test_raters_and_agreement_are_valid() -> None:
    screening = Screening(min_seconds=0.3, min_correlation=0.3)
    chart = check(raters_chart(make_pool(), screening, "raters", "agreement"))
    assert len(rows_of(chart.spec)) == 2  # the third rater has no time
    agreement = Agreement("realism", "krippendorff-alpha-nominal", (0.3, 0.2, 0.4), (0.5, None, None))
    drawn = agreement_chart([make_pool(agreement)], "agreement")
    assert drawn is not None
    assert (
        check(drawn).alt == "Inter-rater agreement before and after screening: realism 0.30 before and 0.50 after."
    )


def test_excluded_raters_have_the_shape_of_their_rule() -> None:
    accuracy = Accuracy(6, 10)
    summaries = (
        RaterSummary("p1", True, (), 10, 1.5, None, None, Accuracy(9, 10)),
        RaterSummary("p2", False, ("fast: 0.1 s",), 10, 0.1, None, None, accuracy),
        RaterSummary("p3", False, ("same answer: 99%",), 10, 0.5, None, None, accuracy),
    )
    reasons = (Reason("fast", "0.1 s", 1, 1), Reason("same answer", "99%", 1, 1))
    pool = RaterPool("realism", 3, summaries, reasons, (), ())
    assert exclusion_shapes(pool) == [("fast", "cross"), ("same answer", "triangle-up")]
    chart = check(raters_chart(pool, Screening(), "raters", "agreement"))
    assert [(row["quality"], row["rule"]) for row in rows_of(chart.spec)] == [
        (0.9, ""),
        (0.6, "fast"),
        (0.6, "same answer"),
    ]
    assert "accuracy in realism: 1 used, 2 excluded" in chart.alt


def test_undecided_cells_say_how_many_more_raters(make_board: MakeBoard) -> None:
    undecided = {("a", "b"): 4, ("b", "c"): 2500}
    cells = rows_of(check(matrix_chart(make_board(THREE, undecided=undecided), "pairs")).spec)
    assert [cell["below"] for cell in cells] == ["4 more", "", "> 1,000 more"]


def test_agreement_that_is_nowhere_defined_is_not_drawn() -> None:
    nothing = (None, None, None)
    assert agreement_chart([make_pool(Agreement("realism", "alpha", nothing, nothing))], "agreement") is None


def test_a_still_drawing_escapes_names(make_board: MakeBoard) -> None:
    board = make_board({"<script>x</script>": 0.5, "b": 0.4})
    svg = ratings_chart(board, generator_marks([row.generator for row in board.rows]), "ratings").svg()
    assert "<script" not in svg
    assert "&lt;script&gt;" in svg


def test_layers_are_those_of_altair() -> None:
    ours = (
        Layer([{"a": 3.0}])
        .filter("datum.a > 1")
        .calculate("at", "0")
        .flatten(["a", "b"])
        .mark("rule", strokeWidth=2, text={"expr": "1"})
        .encode(
            x=channel("a:Q", scale={"zero": True}, axis={"tickCount": 4}, title=None),
            x2=end_channel("b"),
            y={"value": 0},
            color=channel("c:N", sort=["p", "q"], scale=None),
            tooltip=[channel("c:N", title="sea")],
        )
    )
    theirs = (
        alt.Chart(alt.InlineData(values=[{"a": 3.0}]))
        .transform_filter("datum.a > 1")
        .transform_calculate(at="0")
        .transform_flatten(["a", "b"])
        .mark_rule(strokeWidth=2, text=alt.ExprRef("1"))
        .encode(
            x=alt.X("a:Q", scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=4), title=None),
            x2=alt.X2("b:Q"),
            y=alt.value(0),
            color=alt.Color("c:N", sort=["p", "q"], scale=None),
            tooltip=[alt.Tooltip("c:N", title="sea")],
        )
    )
    with alt.data_transformers.enable(consolidate_datasets=False):
        expected = theirs.to_dict(context={"top_level": False, "datasets": {}})
    assert ours.spec() == expected


def test_of_very_many_raters_an_even_sample_is_drawn() -> None:
    number = 3 * MOST_DOTS + 1
    summaries = tuple(RaterSummary(f"p{n}", True, (), 10, 1.5, 0.5, None) for n in range(number))
    pool = RaterPool("realism", number, summaries, (), (), ())
    chart = check(raters_chart(pool, Screening(), "raters", "agreement"))
    names = [row["rater"] for row in rows_of(chart.spec)]
    assert len(set(names)) == MOST_DOTS
    assert names[:2] == ["p0", "p3"]
    assert chart.alt.startswith(f"Scatter of {MOST_DOTS:,} of {number:,} raters")


class CountedRaters(tuple[RaterSummary, ...]):
    """Raters that count how often one goes through them."""

    passes = 0

    def __iter__(self) -> Iterator[RaterSummary]:
        CountedRaters.passes += 1
        return super().__iter__()


def test_the_chart_goes_through_all_raters_a_few_times_and_not_once_for_each_of_them() -> None:
    raters = CountedRaters(RaterSummary(f"p{n}", True, (), 10, 1.5, 0.5, None) for n in range(200))
    pool = RaterPool("realism", len(raters), raters, (), (), ())
    CountedRaters.passes = 0
    raters_chart(pool, Screening(), "raters", "agreement")
    assert 0 < CountedRaters.passes < 10
