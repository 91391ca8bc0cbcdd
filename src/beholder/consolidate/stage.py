"""The consolidate stage: from answers to raters, labels, regions and agreement."""

from pathlib import Path

import numpy as np
import polars as pl

from beholder.consolidate.agreement import agreement_rows
from beholder.consolidate.coding import CODERS, Coded, code_answers
from beholder.consolidate.imported import published_agreement, published_labels, screen_totals
from beholder.consolidate.labels import label
from beholder.consolidate.screening import screen
from beholder.errors import StageError
from beholder.study.study import Study, load_study
from beholder.tables.catalogue import TABLES
from beholder.tables.joined import answered_trials
from beholder.tables.store import Store
from beholder.tables.work import Outcome, Work, perform


def run(folder: Path, *, force: bool = False) -> Outcome:
    """Screen people, label items and measure agreement, for every question of the study."""
    study, store = load_study(folder), Store(folder)
    work = Work(
        stage="consolidate",
        settings={
            "level": study.analysis.level,
            "questions": {q.name: q.screening.model_dump(mode="json") for q in study.questions},
        },
        seed=study.seed,
        inputs=("images", "trials", "sessions", "answers", "marks", "totals", "published"),
        outputs=("raters", "labels", "regions", "agreement"),
    )
    return perform(store, work, lambda: _consolidate(store, study), force=force)


def _consolidate(store: Store, study: Study) -> dict[str, pl.DataFrame]:
    answered = answered_trials(store)
    _refuse_unknown_kinds(study)
    raters, labels, agreement = [], [], list[dict[str, object]]()
    totals, published = store.read_or_empty("totals"), store.read_or_empty("published")
    for number, question in enumerate(study.questions):
        mine = answered.filter(pl.col("question") == question.name)
        counted = totals.filter(pl.col("question") == question.name)
        given = published.filter(pl.col("question") == question.name)
        counted_people = screen_totals(counted, question.screening)
        raters.append(counted_people)
        labels.append(published_labels(given, study.analysis.level))
        agreement += published_agreement(given, counted_people)
        if mine.is_empty():
            continue
        coded = list(code_answers(question, mine.filter(pl.col("role") == "test")))
        screened = screen(question, mine, coded)
        used = set(screened.filter(pl.col("used"))["rater"])
        raters.append(screened)
        rng = np.random.default_rng([study.seed, number])
        for aspect in coded:
            agreement += agreement_rows(question.name, aspect, used, study.analysis.level, rng)
            kept = Coded(aspect.aspect, aspect.scale, aspect.frame.filter(pl.col("rater").is_in(list(used))))
            if not kept.frame.is_empty():
                labels.append(label(question, kept, study.analysis.level))
    return {
        "raters": pl.concat([TABLES["raters"].empty(), *raters], how="diagonal"),
        "labels": pl.concat([TABLES["labels"].empty(), *labels], how="diagonal"),
        "regions": TABLES["regions"].empty(),
        "agreement": TABLES["agreement"].frame(agreement),
    }


def _refuse_unknown_kinds(study: Study) -> None:
    unknown = [f"'{q.name}' ({q.kind})" for q in study.questions if q.kind not in CODERS]
    if unknown:
        raise StageError(
            f"these questions cannot be consolidated yet: {', '.join(unknown)}. This version consolidates "
            f"{', '.join(CODERS)}. The answers are safe in tables/answers.parquet."
        )
