"""The consolidate stage: from answers to raters, judgements, labels, regions, thresholds and agreement."""

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from beholder.consolidate.agreement import agreement_rows
from beholder.consolidate.concordance import concordance_rows
from beholder.consolidate.imported import published_agreement, published_labels, screen_totals
from beholder.consolidate.labels import label, label_rows
from beholder.consolidate.marked_places import region_rows
from beholder.consolidate.marked_words import word_labels
from beholder.consolidate.question_answers import QuestionAnswers, Scratch, read_answers
from beholder.consolidate.screening import include_everyone, screen
from beholder.consolidate.thresholds import threshold_rows
from beholder.engines.engine import Engine
from beholder.errors import TableError
from beholder.judgements.inclusion import SETTING as INCLUDE_EXCLUDED
from beholder.stats.each import Map
from beholder.study.kinds.catalogue import AnyQuestion, kind_of
from beholder.study.question import WORDING
from beholder.study.study import Study, load_study
from beholder.tables.catalogue import TABLES
from beholder.tables.parts import ROWS_HELD, Gathered, Parts
from beholder.tables.provenance import Plain
from beholder.tables.stages import CONSOLIDATE, STAGES
from beholder.tables.store import Store
from beholder.tables.work import Outcome, Work, perform

STAGE = STAGES["consolidate"]


def run(
    folder: Path,
    *,
    force: bool = False,
    include_excluded: bool = False,
    rows_held: int = ROWS_HELD,
    engine: Engine | None = None,
) -> Outcome:
    """Screen raters, label items and measure agreement, for every question of the study.

    A study of more than ``rows_held`` answers is worked through in parts, with files in the folder for temporary
    files; the results are the same.

    With ``include_excluded``, the answers of raters count whom screening excludes: the reasons against them are
    kept, and the provenance of every table says so.

    With an ``engine``, its workers compute the bootstrap replicates of inter-rater agreement; the results are the
    same to the byte.
    """
    study, store = load_study(folder), Store(folder)
    relevant_settings: dict[str, Plain] = {
        q.name: q.model_dump(mode="json", exclude={**WORDING, "design": True}) for q in study.questions
    }
    settings: dict[str, Plain] = {"level": study.analysis.level, "questions": relevant_settings}
    if include_excluded:
        settings[INCLUDE_EXCLUDED] = True
    work = Work(CONSOLIDATE, settings, study.seed)
    with Scratch.new() as scratch:
        compute = partial(
            _consolidate,
            study=study,
            scratch=scratch,
            include_excluded=include_excluded,
            rows_held=rows_held,
            each=engine.map if engine else map,
        )
        return perform(store, work, compute, force=force)


@dataclass(frozen=True, slots=True)
class _Rows:
    """The rows of each table, question by question; of those that grow with the answers, perhaps in files."""

    include_excluded: bool
    judgements: Gathered
    labels: Gathered
    raters: list[pl.DataFrame] = field(default_factory=list)
    regions: list[pl.DataFrame] = field(default_factory=list)
    thresholds: list[pl.DataFrame] = field(default_factory=list)
    agreement: list[pl.DataFrame] = field(default_factory=list)

    def tables(self) -> dict[str, pl.DataFrame | Parts]:
        small = {name: getattr(self, name) for name in ("raters", "regions", "thresholds", "agreement")}
        return {
            **{name: pl.concat([TABLES[name].empty(), *rows], how="diagonal") for name, rows in small.items()},
            "judgements": self.judgements.table(TABLES["judgements"].empty()),
            "labels": self.labels.table(TABLES["labels"].empty()),
        }


def _consolidate(
    store: Store, study: Study, *, scratch: Scratch, include_excluded: bool, rows_held: int, each: Map
) -> dict[str, pl.DataFrame | Parts]:
    by_question = read_answers(store, study.questions, scratch, rows_held)
    faults = [fault for own in by_question.values() for fault in own.faults()]
    if faults:
        raise TableError(
            str(store.path("answers")),
            faults,
            advice="Nothing was written. Mend the answers, or mark them as not valid.",
        )
    rows = _Rows(
        include_excluded=include_excluded,
        judgements=scratch.gathered("judgements", rows_held, sound=frozenset({"trials", "sessions", "images"})),
        labels=scratch.gathered("labels", rows_held, sound=frozenset({"images"})),
    )
    for number, question in enumerate(study.questions):
        _from_published(store, study, question, rows)
        own_answers = by_question.pop(question.name)
        if own_answers.counted:
            _from_answers(store, study, own_answers, np.random.default_rng([study.seed, number]), rows, each)
    return rows.tables()


def _from_published(store: Store, study: Study, question: AnyQuestion, rows: _Rows) -> None:
    """Add what imported data has in place of answers."""
    of_question = pl.col("question") == question.name
    published = store.read_or_empty("published").filter(of_question)
    raters = screen_totals(store.read_or_empty("totals").filter(of_question), question.screening)
    if rows.include_excluded:
        raters = include_everyone(raters)
    rows.raters.append(raters)
    rows.labels.add(published_labels(published, study.analysis.level))
    rows.regions.append(store.read_or_empty("published_regions").filter(of_question))
    rows.agreement.append(TABLES["agreement"].frame(published_agreement(published, raters)))


def _from_answers(
    store: Store, study: Study, own: QuestionAnswers, rng: np.random.Generator, rows: _Rows, each: Map
) -> None:
    question, level = own.question, study.analysis.level
    judged = own.judged()
    screened = screen(question, own.conduct(), judged)
    if rows.include_excluded:
        screened = include_everyone(screened)
    for part in own.judgements():
        rows.judgements.add(_with_use(part, screened))
    used = set(screened.filter(pl.col("used"))["rater"])
    unlabelled: list[str] = []
    for aspect in judged:
        agreement = agreement_rows(question, aspect, used, level, rng, each=each)
        rows.agreement.append(TABLES["agreement"].frame(agreement))
        screened_items = aspect.of(used)
        if not screened_items.frame.is_empty():
            labels, notes = label(question, screened_items, level)
            for part in label_rows(labels, question.name, aspect.aspect, rows.labels.rows_held):
                rows.labels.add(part)
            unlabelled += notes
    why = pl.lit(unlabelled, dtype=pl.List(pl.String))
    rows.raters.append(screened.with_columns(notes=pl.concat_list("notes", why)))
    kind = kind_of(question)
    if "kendall-w" in kind.traits.agreement:
        ranks = pl.concat(own.judgements())
        rows.agreement.append(TABLES["agreement"].frame(concordance_rows(question, ranks, used, level)))
    adaptive, marked = kind.adaptive(question), kind.marked(question)
    tests = own.tests()
    if adaptive is not None and not tests.is_empty():
        rows.thresholds.append(threshold_rows(adaptive, tests, store.read("images")))
    if marked is not None:
        viewed, marks = _judged(tests, used), store.read_or_empty("marks")
        rows.regions.append(region_rows(marked, viewed, marks, store.read("images")))
        words = word_labels(viewed, marks, store.read_or_empty("prompts"), level)
        rows.labels.add(words.with_columns(question=pl.lit(question.name)))


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
