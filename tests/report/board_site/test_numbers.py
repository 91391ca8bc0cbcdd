"""Numbers of single prompts, their formatting, drawings and examples, worked by hand."""

from pathlib import Path

import polars as pl
import pytest

from beholder.report.board_site.content import Cell, read_content
from beholder.report.board_site.drawing import chart_measures, front_chart, whisker
from beholder.report.board_site.entry_pages import extreme_prompts
from beholder.report.board_site.prompt_values import prompt_values, won_votes
from beholder.study.study import load_study
from beholder.tables.store import Store


def test_a_vote_counts_for_both_sides_and_a_tie_half() -> None:
    votes = pl.DataFrame(
        {"prompt": ["p"] * 3, "entry": ["a", "b", "a"], "other": ["b", "a", "b"], "value": [1.0, 2.0, 0.0]}
    )
    # a beats b; b beats a, clearly; a tie: each entry has 1 + 0 + ½ = 1.5 of 3
    won = won_votes(votes).group_by("entry").agg(pl.col("value").sum()).sort("entry")
    assert won.rows() == [("a", 1.5), ("b", 1.5)]


def test_values_of_prompts_average_to_the_board(board_study: Path) -> None:
    """Every prompt has as many answers, so the mean over prompts is the mean over answers."""
    store = Store(board_study)
    means = prompt_values(store).group_by("measure", "entry").agg(pl.col("value").mean())
    board = store.read("board").filter((pl.col("family") == "all") & (pl.col("measure") != "preference"))
    both = board.join(means, on=("measure", "entry"), suffix="_of_prompts")
    assert both.height == board.height == 25
    assert (both["value"] - both["value_of_prompts"]).abs().max() == pytest.approx(0, abs=1e-9)


def cell(value: float, low: float | None, high: float | None) -> Cell:
    return Cell(value, low, high, 1, 2, None, None, None, None, None, 2)


def test_an_interval_is_drawn_on_the_scale_of_its_column() -> None:
    # 128 wide, margins of 5: 0 is at 5, 10 at 123, so one unit is 11.8 pixels
    drawn = whisker(cell(5.0, 2.5, 10.0), (0.0, 10.0))
    assert drawn is not None
    assert (drawn.low, drawn.value, drawn.high) == (34.5, 64.0, 123.0)
    alone = whisker(cell(5.0, None, None), (5.0, 5.0))
    assert alone is not None
    assert alone.low == alone.value == alone.high


def test_the_chart_reverses_a_measure_of_which_less_is_better(board_study: Path) -> None:
    content = read_content(board_study, load_study(board_study))
    axes = chart_measures(content)
    assert axes is not None
    assert (axes[0].source, axes[0].better, axes[1].name) == ("cost", "lower", "opinion: alignment")
    chart = front_chart(content, *axes)
    places = {dot.entry.name: dot for dot in chart.dots}
    assert places["ember"].x == max(dot.x for dot in chart.dots)  # the fastest: to the right
    assert places["aurora"].y == min(dot.y for dot in chart.dots)  # the best aligned: at the top
    # cirrus is slower than borealis, and worse
    assert [dot.entry.name for dot in chart.dots if dot.front] == ["aurora", "borealis", "dune", "ember"]


def test_examples_are_furthest_from_the_mean_of_all_entries(board_study: Path) -> None:
    content = read_content(board_study, load_study(board_study))
    values = content.values.filter(pl.col("measure") == content.leading.name)
    wide = values.pivot(on="entry", index="prompt", values="value")
    mean = wide.select(pl.mean_horizontal(pl.exclude("prompt"))).to_series()
    lead = wide["aurora"] - mean
    best, worst = extreme_prompts(content)["aurora"]
    assert best[0].value - best[0].mean == pytest.approx(lead.max())
    assert worst[0].value - worst[0].mean == pytest.approx(lead.min())
    assert len(best) == len(worst) == 6
