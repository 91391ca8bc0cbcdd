"""The base of all results: what it prints, and the frames it gives back."""

import math
from dataclasses import FrozenInstanceError

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from beholder.errors import StatisticsError
from beholder.stats.frames.result_table import ResultTable, frame_of

ROWS = frame_of(
    {
        "generator": ["ember & co", "dune_2", "aurora"],
        "estimate": [0.5449, -0.01, -0.53],
        "low": [0.4111, -0.15, math.nan],
        "high": [0.66, 0.13, math.nan],
        "rank_low": [1, 2, 2],
        "rank_high": [1, 3, 3],
        "p_value": [0.00001, 0.25, 1.0],
        "separated": [True, False, False],
        "raters": [16, 1600, 4],
    }
)
RATINGS = ResultTable(
    title="ratings",
    rows=ROWS,
    method="t over raters",
    level=0.95,
    raters=1616,
    answers=4,
    ties="Davidson",
    seed=3,
    notes=("A note.",),
    reference=0.0,
    signed=True,
)


def test_repr_aligns_columns_and_joins_the_ends_of_intervals() -> None:
    assert repr(RATINGS).splitlines() == [
        "ratings",
        "generator   estimate         95 % CI  rank  p value  separated  raters",
        "──────────────────────────────────────────────────────────────────────",
        "ember & co     +0.54  [+0.41, +0.66]  1      <0.001  yes            16",
        "dune_2         −0.01  [−0.15, +0.13]  2–3     0.250  no          1,600",
        "aurora         −0.53               –  2–3     1.000  no              4",
        "95 % CI: t over raters · 1,616 raters · 4 answers · seed 3",
        "ties: Davidson",
        "A note.",
    ]


def test_a_long_table_is_cut_in_the_terminal_but_not_in_files() -> None:
    rows = frame_of({"image": [f"i{n}" for n in range(100)], "estimate": [0.5] * 100})
    table = ResultTable(title="", rows=rows, method="mean")
    assert "… and 76 more rows" in repr(table)
    assert "more rows" in table._repr_html_()
    assert len(table.to_markdown().splitlines()) == 102


def test_latex_has_booktabs_and_escapes() -> None:
    lines = RATINGS.to_latex(caption="100 % α", label="tab:r").splitlines()
    assert lines[0] == r"\begin{table}"
    assert r"\caption{100 \% $\alpha$}" in lines
    assert r"\label{tab:r}" in lines
    assert r"\begin{tabular}{lrrlrlr}" in lines
    assert r"ember \& co & +0.54 & [+0.41, +0.66] & 1 & $<$0.001 & yes & 16 \\" in lines
    assert r"dune\_2 & $-$0.01 & [$-$0.15, +0.13] & 2--3 & 0.250 & no & 1,600 \\" in lines
    assert r"\begin{table}" not in RATINGS.to_latex()


def test_markdown_escapes_pipes() -> None:
    table = ResultTable(title="t", rows=frame_of({"item": ["a|b"], "estimate": [1.0]}), method="m")
    assert table.to_markdown() == "| item | estimate |\n| --- | ---: |\n| a\\|b | 1.00 |"


def test_html_escapes_names() -> None:
    table = ResultTable(title="<t>", rows=frame_of({"item": ["<b>"], "estimate": [1.0]}), method="m & n")
    html = table._repr_html_()
    assert "&lt;b&gt;" in html
    assert "<b>" not in html
    assert "m &amp; n" in html


def test_frames_of_each_library_hold_the_same_numbers() -> None:
    polars, pandas, arrow = (RATINGS.to_frame(library) for library in ("polars", "pandas", "arrow"))
    assert isinstance(polars, pl.DataFrame)
    assert isinstance(pandas, pd.DataFrame)
    assert isinstance(arrow, pa.Table)
    assert polars["low"].to_list() == [0.4111, -0.15, None]
    assert pandas["low"].isna().tolist() == [False, False, True]
    assert arrow["low"].to_pylist() == [0.4111, -0.15, None]
    assert pandas["rank_low"].tolist() == arrow["rank_low"].to_pylist() == polars["rank_low"].to_list()
    assert isinstance(ResultTable(title="", rows=ROWS, method="", backend="pandas").to_frame(), pd.DataFrame)


def test_columns_and_rows_can_be_read() -> None:
    assert RATINGS["estimate"].tolist() == [0.5449, -0.01, -0.53]
    assert [row["generator"] for row in RATINGS] == ["ember & co", "dune_2", "aurora"]
    assert len(RATINGS) == 3
    with pytest.raises(StatisticsError, match="no column 'rating'; there are generator, estimate"):
        RATINGS["rating"]


def test_settings_name_what_it_rests_on() -> None:
    assert RATINGS.settings == {
        "method": "t over raters",
        "level": 0.95,
        "raters": 1616,
        "answers": 4,
        "ties": "Davidson",
        "seed": 3,
    }


def test_it_is_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        RATINGS.level = 0.9  # type: ignore[misc]


def test_the_plot_has_a_dot_an_interval_and_a_reference() -> None:
    spec = RATINGS.plot().to_dict()
    marks = [layer["mark"]["type"] for layer in spec["layer"]]
    assert marks == ["rule", "rule", "point"]
    dots = spec["datasets"][spec["layer"][2]["data"]["name"]]
    assert [row["label"] for row in dots] == ["ember & co", "dune_2", "aurora"]


def test_the_plot_of_differences_names_both() -> None:
    rows = frame_of({"generator": ["a"], "other": ["b"], "difference": [0.3], "low": [0.1], "high": [0.5]})
    table = ResultTable(title="d", rows=rows, method="t", keys=2, reference=0.0)
    plotted = table.plot().to_dict()["datasets"].values()
    assert [{"label": "a − b", "estimate": 0.3, "low": 0.1, "high": 0.5}] in list(plotted)
