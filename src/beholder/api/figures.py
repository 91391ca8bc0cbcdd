"""The charts of the report as Altair charts: a notebook shows them, and a paper takes them as SVG or PDF."""

import json
from collections.abc import Sequence
from pathlib import Path

import altair as alt
from altair.utils.schemapi import debug_mode

from beholder.report.charts.chart import Chart
from beholder.report.charts.ratings import ratings_chart
from beholder.report.charts.still import STILL_WIDTH
from beholder.report.site.generator_marks import generator_marks
from beholder.report.site.page import compose
from beholder.report.site.theme import in_daylight
from beholder.report.tables.inputs import read_inputs
from beholder.report.tables.leaderboard import Board
from beholder.study.study import load_study


def study_figures(folder: Path, *, width: int = STILL_WIDTH) -> dict[str, alt.LayerChart]:
    """Return all charts of a study's report by name, which is also that of its file in ``report/``."""
    page = compose(load_study(folder), read_inputs(folder), folder)
    return {chart.name: as_figure(chart, width=width) for chart in page.charts}


def board_figure(board: Board, *, width: int, generators: Sequence[str] = ()) -> alt.LayerChart:
    """Return the ratings of a board; ``generators`` are those of all boards, whose colours are shared."""
    names = [*generators, *(row.generator for row in board.rows if row.generator not in generators)]
    with debug_mode(False):  # the charts are checked against Vega-Lite's schema by the tests
        return as_figure(ratings_chart(board, generator_marks(names), board.name), width=width)


def as_figure(chart: Chart, *, width: int = STILL_WIDTH) -> alt.LayerChart:
    """Return a chart of the report by itself: in the colours of the light page, and of a fixed width."""
    spec = json.loads(in_daylight(json.dumps(chart.spec)))
    figure: alt.LayerChart = alt.LayerChart.from_dict({**spec, "width": width}, validate=False)
    return figure
