"""The consolidate stage: from answers to raters, judgements, labels, regions, thresholds and agreement."""

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from beholder.consolidate.agreement import agreement_rows
from beholder.consolidate.concordance import concordance_rows
from beholder.consolidate.imported import published_agreement, published_labels, screen_totals
from beholder.consolidate.items import by_aspect
from beholder.consolidate.labels import label
from beholder.consolidate.marked_places import region_rows
from beholder.consolidate.marked_words import word_labels
from beholder.consolidate.possible import faults_of_answers
from beholder.consolidate.screening import include_everyone, screen
from beholder.consolidate.thresholds import threshold_rows
from beholder.errors import TableError
from beholder.judgements.coding import judgements_of
from beholder.judgements.inclusion import SETTING as INCLUDE_EXCLUDED
from beholder.judgements.joined import answered_trials, skipped_trials
from beholder.study.kinds.catalogue import AnyQuestion, kind_of
from beholder.study.question import WORDING
from beholder.study.study import Study, load_study
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Plain
from beholder.tables.stages import CONSOLIDATE, STAGES
from beholder.tables.store import Store
from beholder.tables.work import Outcome, Work, perform

STAGE = STAGES["consolidate"]


def run(folder: Path, *, force: bool = False, include_excluded: bool = False) -> Outcome:
    """Screen raters, label items and measure agreement, for every question of the study.

    With ``include_excluded``, the answers of raters count whom screening excludes: the reasons against them are
    kept, and the provenance of every table says so.
    """
    study, store = load_study(folder), Store(folder)
    relevant_settings: dict[str, Plain] = {
        q.name: q.model_dump(mode="json", exclude={**WORDING, "design": True}) for q in study.questions
    }
    settings: dict[str, Plain] = {"level": study.analysis.level, "questions": relevant_settings}
    if include_excluded:
        settings[INCLUDE_EXCLUDED] = True
    work = Work(CONSOLIDATE, settings, study.seed)
    compute = partial(_consolidate, study=study, include_excluded=include_excluded)
    return perform(store, work, compute, force=force)


@dataclass(frozen=True, slots=True)
class _Parts:
    """The rows of each table, question by question."""

    include_excluded: bool
    raters: list[pl.DataFrame] = field(default_factory=list)
    judgements: list[pl.DataFrame] = field(default_factory=list)
    labels: list[pl.DataFrame] = field(default_factory=list)
    regions: list[pl.DataFrame] = field(default_factory=list)
    thresholds: list[pl.DataFrame] = field(default_factory=list)
    agreement: list[pl.DataFrame] = field(default_factory=list)

    def tables(self) -> dict[str, pl.DataFrame]:
        parts = {name: getattr(self, name) for name in CONSOLIDATE.outputs}
        return {name: pl.concat([TABLES[name].empty(), *part], how="diagonal") for name, part in parts.items()}


def _consolidate(store: Store, study: Study, *, include_excluded: bool) -> dict[str, pl.DataFrame]:
    answered = answered_trials(store)
    by_question = {q.name: answered.filter(pl.col("question") == q.name) for q in study.questions}
    del answered
    faults = [fault for q in study.questions for fault in faults_of_answers(q, by_question[q.name])]
    if faults:
        raise TableError(
            str(store.path("answers")),
            faults,
            advice="Nothing was written. Mend the answers, or mark them as not valid.",
        )
    parts = _Parts(include_excluded=include_excluded)
    for number, question in enumerate(study.questions):
        _from_published(store, study, question, parts)
        own_answers = by_question.pop(question.name)
        if not own_answers.is_empty():
            _from_answers(store, study, question, own_answers, np.random.default_rng([study.seed, number]), parts)
    return parts.tables()


def _from_published(store: Store, study: Study, question: AnyQuestion, parts: _Parts) -> None:
    """Add what imported data has in place of answers."""
    of_question = pl.col("question") == question.name
    published = store.read_or_empty("published").filter(of_question)
    raters = screen_totals(store.read_or_empty("totals").filter(of_question), question.screening)
    if parts.include_excluded:
        raters = include_everyone(raters)
    parts.raters.append(raters)
    parts.labels.append(published_labels(published, study.analysis.level))
    parts.regions.append(store.read_or_empty("published_regions").filter(of_question))
    parts.agreement.append(TABLES["agreement"].frame(published_agreement(published, raters)))


def _from_answers(
    store: Store,
    study: Study,
    question: AnyQuestion,
    answered: pl.DataFrame,
    rng: np.random.Generator,
    parts: _Parts,
) -> None:
    level = study.analysis.level
    tests, marks = answered.filter(pl.col("role") == "test"), store.read_or_empty("marks")
    judgements = judgements_of(question, tests, marks)
    judged = list(by_aspect(question, judgements))
    screened = screen(question, answered, skipped_trials(store, question.name), judged)
    if parts.include_excluded:
        screened = include_everyone(screened)
    parts.judgements.append(_with_use(judgements, screened))
    used = set(screened.filter(pl.col("used"))["rater"])
    unlabelled: list[str] = []
    for aspect in judged:
        parts.agreement.append(TABLES["agreement"].frame(agreement_rows(question, aspect, used, level, rng)))
        screened_items = aspect.of(used)
        if not screened_items.frame.is_empty():
            labels, notes = label(question, screened_items, level)
            parts.labels.append(labels)
            unlabelled += notes
    why = pl.lit(unlabelled, dtype=pl.List(pl.String))
    parts.raters.append(screened.with_columns(notes=pl.concat_list("notes", why)))
    kind = kind_of(question)
    if "kendall-w" in kind.traits.agreement:
        rows = concordance_rows(question, judgements, used, level)
        parts.agreement.append(TABLES["agreement"].frame(rows))
    adaptive, marked = kind.adaptive(question), kind.marked(question)
    if adaptive is not None and not tests.is_empty():
        parts.thresholds.append(threshold_rows(adaptive, tests, store.read("images")))
    if marked is not None:
        viewed = _judged(tests, used)
        parts.regions.append(region_rows(marked, viewed, marks, store.read("images")))
        words = word_labels(viewed, marks, store.read_or_empty("prompts"), level)
        parts.labels.append(words.with_columns(question=pl.lit(question.name)))


def _with_use(judgements: pl.DataFrame, raters: pl.DataFrame) -> pl.DataFrame:
    """Add to the judgements of a question whether they are used and, where not, why."""
    reason = pl.when(~pl.col("used")).then(pl.col("reasons").list.join("; "))
    use = raters.select("rater", "question", "used", reason=reason)
    return judgements.join(use, on="rater", how="left", maintain_order="left")


def _judged(tests: pl.DataFrame, used: set[str]) -> pl.DataFrame:
    """Return one row per used rater and image judged; of several, the first."""
    return (
        tests.filter(pl.col("rater").is_in(list(used)))
        .select("rater", "trial", "session", "prompt", image=pl.col("images").list.first())
        .unique(["rater", "image"], keep="first", maintain_order=True)
    )
