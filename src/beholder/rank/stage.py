"""The rank stage: from judgements to ratings, separations and comparisons of generators."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import polars as pl

from beholder.errors import StageError, StatisticsError
from beholder.formats.imported import UNKNOWN
from beholder.judgements.coding import PAIRED
from beholder.judgements.rankings import RANK as RANK_KIND
from beholder.judgements.rankings import RANKING
from beholder.rank.comparisons import comparison_rows
from beholder.rank.error_rate import counted_error_rates
from beholder.rank.methods import METHODS, Method
from beholder.rank.published import published_means
from beholder.rank.rated import Rated, Row, rows_of
from beholder.study.kinds.catalogue import kind_of
from beholder.study.study import Study, load_study
from beholder.tables.catalogue import TABLES
from beholder.tables.stages import RANK, STAGES
from beholder.tables.store import Store
from beholder.tables.work import Outcome, Work, perform

STAGE = STAGES["rank"]

WHOLE = "all"

NAMELESS = (
    "Nothing is ranked: the data does not say which generator made which image. If you know, fill the column "
    "generator of the table images, and rank again."
)
"""What is said of data such as HPD v2's and ImageReward's."""


def run(folder: Path, *, force: bool = False) -> Outcome:
    """Rate the generators by every question, as a whole and by style, and say which are told apart."""
    study, store = load_study(folder), Store(folder)
    settings = study.analysis.model_dump(mode="json")
    work = Work(RANK, settings, study.seed)
    outcome = perform(store, work, lambda tables: _rank(tables, study), force=force)
    return replace(outcome, note=NAMELESS) if _nameless(store.read("images")) else outcome


@dataclass(frozen=True, slots=True)
class _Found:
    """Rows of the three tables."""

    ratings: list[Row] = field(default_factory=list)
    separations: list[Row] = field(default_factory=list)
    comparisons: list[pl.DataFrame] = field(default_factory=list)

    def add(self, question: str, piece: str, rated: Rated, level: float, *, everyone: Rated | None = None) -> None:
        ratings, separations = rows_of(question, piece, rated, level, everyone=everyone)
        self.ratings.extend(ratings)
        self.separations.extend(separations)


def _rank(store: Store, study: Study) -> dict[str, pl.DataFrame]:
    judgements, images = store.read("judgements"), store.read("images")
    found = _Found()
    for number, question in enumerate(study.questions):
        own = judgements.filter(pl.col("question") == question.name)
        _from_judgements(store, study, number, own, images, found)
        for piece, rated in _without_answers(store, study, number):
            found.add(question.name, piece, rated, study.analysis.level)
    if not found.ratings and not _nameless(images):
        raise _nothing_to_rank(store)
    return {
        "ratings": TABLES["ratings"].frame(found.ratings),
        "separations": TABLES["separations"].frame(found.separations),
        "comparisons": pl.concat([TABLES["comparisons"].empty(), *found.comparisons], how="diagonal"),
    }


def _from_judgements(
    store: Store, study: Study, number: int, judgements: pl.DataFrame, images: pl.DataFrame, found: _Found
) -> None:
    """The ratings by one question, as a whole and by style."""
    question, analysis = study.questions[number], study.analysis
    method = METHODS[kind_of(question).traits.rated_by]
    everyone = method.prepare(question, judgements, store)
    used = everyone.filter("used")
    for place, (piece, part) in enumerate(_slices(used, images, sliced=method.sliced)):
        rng = np.random.default_rng([study.seed, number, place])
        try:
            rated = list(method.rate(part, images, analysis, rng))
        except StatisticsError as error:
            if piece != WHOLE:
                continue  # too few answers of this style; the whole has its ratings
            raise StageError(f"question '{question.name}': {error}") from error
        before = _unscreened(study, number, method, everyone, images, rated) if piece == WHOLE else {}
        for one in rated:
            key = (one.aspect, one.method)
            found.add(question.name, piece, one, analysis.level, everyone=before.get(key))
        if part["value_kind"].is_in([*PAIRED, RANK_KIND]).any():
            found.comparisons.append(comparison_rows(question.name, piece, part, images, level=analysis.level))


def _unscreened(
    study: Study, number: int, method: Method, everyone: pl.DataFrame, images: pl.DataFrame, rated: list[Rated]
) -> dict[tuple[str, str], Rated]:
    """The ratings with nobody set aside, by aspect and method; the same ones where nobody was."""
    if not everyone["used"].all():
        rng = np.random.default_rng([study.seed, number, 0])
        try:
            rated = list(method.rate(everyone, images, study.analysis, rng))
        except StatisticsError:
            return {}
    return {(one.aspect, one.method): one for one in rated}


def _without_answers(store: Store, study: Study, number: int) -> Iterator[tuple[str, Rated]]:
    """The ratings by a question of imported data that came as people's totals or as published labels."""
    mine, images = pl.col("question") == study.questions[number].name, store.read("images")
    published = store.read_or_empty("published").filter(mine)
    totals = store.read_or_empty("totals").filter(mine)
    rng = np.random.default_rng([study.seed, number])
    if not totals.is_empty():
        used = store.read("raters").filter(mine & pl.col("used")).select("rater")
        part = totals.join(used, on="rater", how="semi", maintain_order="left")
        for rated in counted_error_rates(part, published, images, study.analysis, rng):
            yield WHOLE, rated
    yield from published_means(published, images, study.analysis, rng)


def _slices(judgements: pl.DataFrame, images: pl.DataFrame, *, sliced: bool) -> Iterator[tuple[str, pl.DataFrame]]:
    """All judgements, then those of each style; real images without a style count in every slice.

    A vote or a ranking has the style of the first image shown.
    """
    yield WHOLE, judgements
    if not sliced:
        return
    style_of = images.select(pl.col("image").alias("shown"), "style", "real")
    ranked = (judgements["value_kind"] == RANK_KIND).any()
    first = pl.col("image").first().over(RANKING) if ranked else pl.col("image")
    styled = judgements.with_columns(shown=first).join(style_of, on="shown", how="left", maintain_order="left")
    styles = sorted(style for style in styled["style"].unique() if style is not None)
    if len(styles) < 2:
        return
    for style in styles:
        part = styled.filter((pl.col("style") == style) | (pl.col("style").is_null() & pl.col("real")))
        yield f"{style} (style)" if style == WHOLE else style, part.select(judgements.columns)


def _nameless(images: pl.DataFrame) -> bool:
    """Whether imported data does not say what made any of its images: then there is nothing to rank."""
    generators = images.filter(~pl.col("real"))["generator"]
    return len(generators) > 0 and bool((generators == UNKNOWN).all())


def _nothing_to_rank(store: Store) -> StageError:
    raters = store.read("raters")
    used = raters["used"].sum()
    return StageError(
        f"{store.folder}: no generator can be rated. Of {raters.height} people, the answers of {used} are used"
        + (f"; {store.path('raters')} has the reasons against the others." if used < raters.height else ".")
    )
