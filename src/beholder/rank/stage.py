"""The rank stage: from judgements to ratings, separations and comparisons of generators."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import polars as pl

from beholder.errors import StageError, StatisticsError
from beholder.formats.imported import UNKNOWN
from beholder.judgements.coding import PAIRED
from beholder.judgements.compact import judged_images
from beholder.judgements.inclusion import SETTING as INCLUDE_EXCLUDED
from beholder.judgements.inclusion import includes_excluded
from beholder.judgements.rankings import RANK as RANK_KIND
from beholder.judgements.rankings import RANKING
from beholder.rank.comparisons import comparison_rows
from beholder.rank.error_rate import rate_by_counted_errors
from beholder.rank.methods import METHODS, Method
from beholder.rank.published import rate_by_published_labels
from beholder.rank.ratings import ALL_IMAGES, GeneratorRatings, Row, table_rows
from beholder.study.kinds.catalogue import kind_of
from beholder.study.study import Study, load_study
from beholder.tables.catalogue import TABLES
from beholder.tables.parts import ROWS_HELD
from beholder.tables.provenance import Plain
from beholder.tables.stages import RANK, STAGES
from beholder.tables.store import Store
from beholder.tables.work import Outcome, Work, perform

STAGE = STAGES["rank"]

NAMED = 10
"""Excluded raters named where nothing can be rated; the rest are counted."""

NAMELESS = (
    "Nothing is ranked: the data does not say which generator made which image. If you know, fill the column "
    "generator of the table images, and rank again."
)
"""The note for data such as HPD v2's and ImageReward's."""


def run(folder: Path, *, force: bool = False, rows_held: int = ROWS_HELD) -> Outcome:
    """Rate the generators by every question, overall and by style, and say which differ significantly.

    Of more than ``rows_held`` judgements only what ratings need is held in memory; the results are the same.
    """
    study, store = load_study(folder), Store(folder)
    settings: dict[str, Plain] = study.analysis.model_dump(mode="json")
    if includes_excluded(store):
        settings[INCLUDE_EXCLUDED] = True
    work = Work(RANK, settings, study.seed)
    outcome = perform(store, work, lambda tables: _rank(tables, study, rows_held), force=force)
    return replace(outcome, note=NAMELESS) if _nameless(store.read("images")) else outcome


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows of the three tables."""

    ratings: list[Row] = field(default_factory=list)
    separations: list[Row] = field(default_factory=list)
    comparisons: list[pl.DataFrame] = field(default_factory=list)

    def add(
        self,
        question: str,
        slice_name: str,
        rated: GeneratorRatings,
        level: float,
        *,
        everyone: GeneratorRatings | None = None,
    ) -> None:
        ratings, separations = table_rows(question, slice_name, rated, level, everyone=everyone)
        self.ratings.extend(ratings)
        self.separations.extend(separations)


def _rank(store: Store, study: Study, rows_held: int) -> dict[str, pl.DataFrame]:
    single = any(METHODS[kind_of(question).traits.rated_by].single for question in study.questions)
    judged = judged_images(store, rows_held, single=single)
    judgements, images = judged.judgements, judged.images
    rows = _Rows()
    for number, question in enumerate(study.questions):
        of_question = pl.col("question") == question.name
        own = judgements.filter(of_question) if len(study.questions) > 1 else judgements
        _from_judgements(store, study, number, own, images, rows)
        for slice_name, rated in _without_answers(store, study, number):
            rows.add(question.name, slice_name, rated, study.analysis.level)
    if not rows.ratings and not _nameless(images):
        raise _nothing_to_rank(store)
    return {
        "ratings": TABLES["ratings"].frame(rows.ratings),
        "separations": TABLES["separations"].frame(rows.separations),
        "comparisons": pl.concat([TABLES["comparisons"].empty(), *rows.comparisons], how="diagonal"),
    }


def _from_judgements(
    store: Store, study: Study, number: int, judgements: pl.DataFrame, images: pl.DataFrame, rows: _Rows
) -> None:
    """Add the ratings by one question, overall and by style."""
    question, analysis = study.questions[number], study.analysis
    method = METHODS[kind_of(question).traits.rated_by]
    everyone = method.prepare(question, judgements, store)
    used = everyone if everyone["used"].all() else everyone.filter("used")
    for slice_name, part in _slices(used, images, sliced=method.sliced):
        try:
            by_method = list(method.rate(part, images, analysis))
        except StatisticsError as error:
            if slice_name != ALL_IMAGES:
                continue  # too few answers of this style; all images together have their ratings
            raise StageError(f"question '{question.name}': {error}") from error
        unscreened = _unscreened(study, method, everyone, images, by_method) if slice_name == ALL_IMAGES else {}
        for rated in by_method:
            key = (rated.aspect, rated.method)
            rows.add(question.name, slice_name, rated, analysis.level, everyone=unscreened.get(key))
        if part["value_kind"].is_in([*PAIRED, RANK_KIND]).any():
            rows.comparisons.append(comparison_rows(question.name, slice_name, part, images, level=analysis.level))


def _unscreened(
    study: Study,
    method: Method,
    everyone: pl.DataFrame,
    images: pl.DataFrame,
    by_method: list[GeneratorRatings],
) -> dict[tuple[str, str], GeneratorRatings]:
    """Return the ratings with no rater excluded, by aspect and method; the same ones where none was."""
    if not everyone["used"].all():
        try:
            by_method = list(method.rate(everyone, images, study.analysis))
        except StatisticsError:
            return {}
    return {(rated.aspect, rated.method): rated for rated in by_method}


def _without_answers(store: Store, study: Study, number: int) -> Iterator[tuple[str, GeneratorRatings]]:
    """Yield the ratings by a question of imported data that came as raters' totals or as published labels."""
    of_question, images = pl.col("question") == study.questions[number].name, store.read("images")
    published = store.read_or_empty("published").filter(of_question)
    totals = store.read_or_empty("totals").filter(of_question)
    if not totals.is_empty():
        used = store.read("raters").filter(of_question & pl.col("used")).select("rater")
        part = totals.join(used, on="rater", how="semi", maintain_order="left")
        for rated in rate_by_counted_errors(part, published, images, study.analysis):
            yield ALL_IMAGES, rated
    yield from rate_by_published_labels(published, images, study.analysis)


def _slices(judgements: pl.DataFrame, images: pl.DataFrame, *, sliced: bool) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield all judgements, then those of each style; real images without a style count in every slice.

    A vote or a ranking has the style of the first image shown.
    """
    yield ALL_IMAGES, judgements
    if not sliced or images["style"].drop_nulls().n_unique() < 2:
        return
    style_of = images.select(pl.col("image").alias("first_image"), "style", "real")
    ranked = (judgements["value_kind"] == RANK_KIND).any()
    first = pl.col("image").first().over(RANKING) if ranked else pl.col("image")
    styled = judgements.with_columns(first_image=first).join(
        style_of, on="first_image", how="left", maintain_order="left"
    )
    styles = sorted(style for style in styled["style"].unique() if style is not None)
    if len(styles) < 2:
        return
    for style in styles:
        part = styled.filter((pl.col("style") == style) | (pl.col("style").is_null() & pl.col("real")))
        yield f"{style} (style)" if style == ALL_IMAGES else style, part.select(judgements.columns)


def _nameless(images: pl.DataFrame) -> bool:
    """Say whether imported data names no image's generator: then there is nothing to rank."""
    generators = images.filter(~pl.col("real"))["generator"]
    return len(generators) > 0 and bool((generators == UNKNOWN).all())


def _nothing_to_rank(store: Store) -> StageError:
    """Say why nothing can be rated: whose answers are excluded, and for what reasons."""
    raters = store.read("raters")
    if raters.is_empty():
        return StageError(
            "no generator can be rated: nobody has answered yet\n"
            "`beholder collect FOLDER` asks raters; `beholder run FOLDER --simulate 20` simulates them."
        )
    excluded = raters.filter(~pl.col("used"))
    rows = excluded.select("question", "rater", pl.col("reasons").list.join("; ")).iter_rows()
    lines = [f"  - {question}: {rater}: {reasons or 'no answers'}" for question, rater, reasons in rows]
    more = [f"  … and {len(lines) - NAMED:,} more"] if len(lines) > NAMED else []
    answered = not excluded.filter(pl.col("answers") > 0).is_empty()
    advice = ["With `beholder run FOLDER --include-excluded` their answers count, and the results are marked."]
    used = raters.height - excluded.height
    head = f"no generator can be rated: screening leaves the answers of {used} of {raters.height} raters"
    return StageError("\n".join([head, *lines[:NAMED], *more, *(advice if answered else [])]))
