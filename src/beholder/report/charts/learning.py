"""Learning curves of a training run: the loss, and the selection measure, against steps."""

import polars as pl

from beholder.report.charts.chart import Chart, finish_chart
from beholder.report.charts.vega_lite import Layer, Rows, channel
from beholder.report.site.theme import var
from beholder.report.tables.learning import LOSS, TrainingRun

SIDES = {"train": var("soft"), "validation": var("accent")}


def loss_chart(run: TrainingRun, name: str) -> Chart:
    """The loss on training and validation examples, one line per fold."""
    rows = _rows(run, LOSS)
    ends = {side: [row["value"] for row in rows if row["split"] == side] for side in SIDES}
    ranges = ", ".join(
        f"on {side} from {values[0]:.3g} to {values[-1]:.3g}" for side, values in ends.items() if values
    )
    return _chart(rows, "loss", name, f"Loss of {run.model} over {run.steps:,} steps: {ranges}.")


def measure_chart(run: TrainingRun, name: str) -> Chart:
    """The measure that selects the weights, at every validation, one line per fold."""
    over = f"on validation examples over {run.steps:,} steps"
    words = f"{run.measure} of {run.model} {over}: {run.best:.3f} at best."
    return _chart(_rows(run, run.measure), run.measure, name, words)


def _rows(run: TrainingRun, measure: str) -> Rows:
    curve = run.curve.filter(pl.col("measure") == measure).sort("fold", "split", "step")
    return [
        {**row, "colour": SIDES[row["split"]], "line": f"{row['split']} {row['fold']}"}
        for row in curve.iter_rows(named=True)
    ]


def _chart(rows: Rows, title: str, name: str, words: str) -> Chart:
    x = channel("step:Q", title="steps", axis={"format": "~s", "grid": False})
    y = channel("value:Q", title=title, scale={"zero": False, "nice": True}, axis={"tickCount": 5})
    colour = channel("colour:N", scale=None)
    columns = {"split": "examples", "fold": "fold", "step": "step", "value": title}
    tips = [
        channel("split:N", title="examples"),
        channel("fold:Q"),
        channel("step:Q", format=","),
        channel("value:Q", title=title, format=".4~g"),
    ]
    lines = Layer().mark("line", strokeWidth=1.6).encode(x=x, y=y, color=colour, detail=channel("line:N"))
    dots = Layer().mark("point", size=18, filled=True).encode(x=x, y=y, color=colour, tooltip=tips)
    return finish_chart([lines, dots], rows, name, words, columns=columns, height=180)
