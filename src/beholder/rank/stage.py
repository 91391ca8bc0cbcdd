"""The rank stage: from answers to ratings and separations of generators."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import polars as pl

from beholder.errors import StageError, StatisticsError
from beholder.formats.imported import UNKNOWN
from beholder.rank.error_rate import counted_error_rates, error_rates
from beholder.rank.opinion import mean_opinions
from beholder.rank.preference import preferences
from beholder.rank.published import published_means
from beholder.rank.rated import Rated, Row, rows_of
from beholder.study.study import Analysis, Study, load_study
from beholder.tables.catalogue import TABLES
from beholder.tables.joined import used_answers
from beholder.tables.store import Store
from beholder.tables.work import Outcome, Work, perform

Rater = Callable[[pl.DataFrame, pl.DataFrame, Analysis, np.random.Generator], Iterator[Rated]]

METHODS: dict[str, Rater] = {
    "realism": error_rates,
    "pair": preferences,
    "rating": mean_opinions,
}
"""How the answers of each question kind rate generators."""

WHOLE = "all"


def run(folder: Path, *, force: bool = False) -> Outcome:
    """Rate the generators by every question, as a whole and by style, and say which are told apart."""
    study, store = load_study(folder), Store(folder)
    work = Work(
        stage="rank",
        settings=study.analysis.model_dump(mode="json"),
        seed=study.seed,
        inputs=("images", "trials", "sessions", "answers", "totals", "published", "raters"),
        outputs=("ratings", "separations"),
    )
    return perform(store, work, lambda: _rank(store, study), force=force)


def _rank(store: Store, study: Study) -> dict[str, pl.DataFrame]:
    _refuse_unknown_kinds(study)
    answers, images = used_answers(store), store.read("images")
    ratings, separations = list[Row](), list[Row]()
    for number, question in enumerate(study.questions):
        tests = answers.filter(pl.col("question") == question.name)
        for place, (piece, part) in enumerate(_slices(tests, images)):
            rng = np.random.default_rng([study.seed, number, place])
            try:
                found = list(METHODS[question.kind](part, images, study.analysis, rng))
            except StatisticsError as error:
                if piece != WHOLE:
                    continue  # too few answers of this style; the whole has its ratings
                raise StageError(f"question '{question.name}': {error}") from error
            for rated in found:
                more_ratings, more_separations = rows_of(question.name, piece, rated, study.analysis.level)
                ratings += more_ratings
                separations += more_separations
        for piece, rated in _without_answers(store, study, number):
            more_ratings, more_separations = rows_of(question.name, piece, rated, study.analysis.level)
            ratings += more_ratings
            separations += more_separations
    if not ratings and not _nameless(images):
        raise _nothing_to_rank(store)
    return {
        "ratings": TABLES["ratings"].frame(ratings),
        "separations": TABLES["separations"].frame(separations),
    }


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


def _slices(tests: pl.DataFrame, images: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """All trials, then those of each style; real images without a style count in every slice."""
    yield WHOLE, tests
    style_of = images.select(pl.col("image").alias("shown"), "style", "real")
    styled = tests.with_columns(shown=pl.col("images").list.first()).join(
        style_of, on="shown", how="left", maintain_order="left"
    )
    styles = sorted(style for style in styled["style"].unique() if style is not None)
    if len(styles) < 2:
        return
    for style in styles:
        part = styled.filter((pl.col("style") == style) | (pl.col("style").is_null() & pl.col("real")))
        yield f"{style} (style)" if style == WHOLE else style, part.select(tests.columns)


def _nameless(images: pl.DataFrame) -> bool:
    """Whether imported data does not say what made any of its images: then there is nothing to rank."""
    return bool((images.filter(~pl.col("real"))["generator"] == UNKNOWN).all())


def _nothing_to_rank(store: Store) -> StageError:
    raters = store.read("raters")
    used = raters["used"].sum()
    return StageError(
        f"{store.folder}: no generator can be rated. Of {raters.height} people, the answers of {used} are used"
        + (f"; {store.path('raters')} has the reasons against the others." if used < raters.height else ".")
    )


def _refuse_unknown_kinds(study: Study) -> None:
    unknown = [f"'{q.name}' ({q.kind})" for q in study.questions if q.kind not in METHODS]
    if unknown:
        raise StageError(
            f"cannot be ranked yet: {', '.join(unknown)}. This version ranks by {', '.join(METHODS)}."
        )
