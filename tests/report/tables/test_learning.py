"""Learning curves: the best evaluation, worked by hand; and what the charts say."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from tests.report.conftest import RECORD

from beholder.report.charts.learning import loss_chart, measure_chart
from beholder.report.charts.vega_lite import Spec
from beholder.report.stage import PAGE, STILLS, run
from beholder.report.tables.learning import build_training_runs
from beholder.tables.catalogue import TABLES
from beholder.tables.store import Store

MakeStudy = Callable[..., Path]


@pytest.fixture
def training() -> pl.DataFrame:
    rows: list[dict[str, object]] = []
    for fold, values in enumerate(((0.6, 0.8, 0.7), (0.5, 0.6, 0.65))):
        for place, value in enumerate(values):
            at = {"model": "m", "fold": fold, "step": 10 * (place + 1)}
            rows += [
                at | {"split": "train", "measure": "loss", "value": 0.7 - place / 10},
                at | {"split": "train", "measure": "learning-rate", "value": 1e-3},
                at | {"split": "validation", "measure": "pair-accuracy", "value": value},
                at | {"split": "validation", "measure": "loss", "value": 0.9},
            ]
    unseen = {"model": "new", "fold": 0, "step": 5, "split": "train", "measure": "loss", "value": 1.0}
    return TABLES["training"].frame([*rows, unseen])


def test_the_best_evaluation_by_hand(training: pl.DataFrame) -> None:
    (run_of_m,) = build_training_runs(training)  # the model that was not validated yet has no part
    assert (run_of_m.model, run_of_m.folds, run_of_m.steps, run_of_m.measure) == ("m", 2, 30, "pair-accuracy")
    assert run_of_m.best == pytest.approx((0.8 + 0.65) / 2)


def test_the_charts_have_a_line_for_each_fold_and_side(training: pl.DataFrame) -> None:
    (run_of_m,) = build_training_runs(training)
    loss, measure = loss_chart(run_of_m, "loss"), measure_chart(run_of_m, "measure")
    assert {row["line"] for row in _values(loss.spec)} == {"train 0", "train 1", "validation 0", "validation 1"}
    assert {row["line"] for row in _values(measure.spec)} == {"validation 0", "validation 1"}
    assert loss.alt == "Loss of m over 30 steps: on train from 0.7 to 0.5, on validation from 0.9 to 0.9."
    assert measure.alt.endswith("0.725 at best.")
    assert "<svg" in loss.svg()


def test_no_training_no_part() -> None:
    assert build_training_runs(TABLES["training"].empty()) == ()


def test_on_the_page_only_where_something_was_trained(make_study: MakeStudy, training: pl.DataFrame) -> None:
    folder = make_study(["alpha", "beta"], protocols=["hype-infinity"])
    run(folder)
    assert 'id="learning"' not in (folder / PAGE).read_text(encoding="utf-8")
    Store(folder).write({"training": training}, RECORD)
    assert not run(folder).skipped
    html = (folder / PAGE).read_text(encoding="utf-8")
    assert "at its best, pair-accuracy on validation examples was 0.725 on average" in html
    assert (folder / STILLS / "loss-1.svg").is_file()


def _values(spec: Spec) -> list[dict[str, object]]:
    values = spec["data"]["values"]
    return list(values)
