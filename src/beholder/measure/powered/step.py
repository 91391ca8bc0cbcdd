"""The step of measure that rates generators by raters and scores together: it needs no images and no torch."""

from pathlib import Path

import polars as pl

from beholder.measure import metric_values
from beholder.measure.joined import Row
from beholder.measure.powered.ratings import powered_rows
from beholder.study.study import Study, load_study
from beholder.tables.catalogue import TABLES
from beholder.tables.stages import MEASURE_POWERED
from beholder.tables.store import Store
from beholder.tables.work import Outcome, Work, perform


def run_powered(folder: Path, *, force: bool = False) -> Outcome:
    """Write ``powered_ratings`` from judgements, scores and predictions, unless none of them has changed."""
    study = load_study(folder)
    work = Work(MEASURE_POWERED, {"level": study.analysis.level}, study.seed)
    return perform(Store(folder), work, lambda tables: _powered(tables, study), force=force)


def _powered(store: Store, study: Study) -> dict[str, pl.DataFrame]:
    images, judgements = store.read("images"), store.read_or_empty("judgements").filter("used")
    scores, predictions = store.read_or_empty("scores"), store.read_or_empty("predictions")
    metrics, _ = metric_values.of_scores(scores, predictions, images)
    rows: list[Row] = []
    for question in study.questions:
        own = judgements.filter(pl.col("question") == question.name)
        rows += powered_rows(question, own, images, metrics, level=study.analysis.level)
    return {"powered_ratings": TABLES["powered_ratings"].frame(rows)}
