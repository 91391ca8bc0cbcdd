"""Tables that cannot be: a message that names everything, or a defined result, and nothing half-written."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from beholder.collect.stage import run as run_simulated
from beholder.consolidate.stage import STAGE, run
from beholder.design.stage import run as design
from beholder.errors import StageError, TableError
from beholder.rank.stage import run as rank
from beholder.study.kinds.catalogue import AnyQuestion
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.ranking import RankingQuestion
from beholder.study.kinds.rating import RatingQuestion
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.kinds.rich_feedback import RichFeedbackQuestion
from beholder.study.kinds.side_by_side import SideBySideQuestion
from beholder.study.kinds.sweep import SweepQuestion
from beholder.study.kinds.timed_realism import TimedRealismQuestion
from beholder.study.question import Design, Screening
from beholder.tables.provenance import Provenance
from beholder.tables.store import Store

Make = Callable[..., Path]
SMALL = Design(raters=3, trials=4)
EVERY: tuple[AnyQuestion, ...] = (
    RealismQuestion(name="realism", design=SMALL),
    TimedRealismQuestion(name="timed", design=SMALL),
    PairQuestion(name="pair", design=SMALL),
    RankingQuestion(name="ranking", images=3, design=SMALL),
    SideBySideQuestion(name="five", design=SMALL),
    RatingQuestion(name="rating", design=SMALL),
    RichFeedbackQuestion(name="rich", design=SMALL),
    SweepQuestion(name="sweep", images=5, design=Design(raters=3, trials=2)),
)
BY_HAND = Provenance("collect", {}, 0, {})


def collected(folder: Path, raters: int = 3) -> Store:
    design(folder)
    run_simulated(folder, people=raters)
    return Store(folder)


def rewrite(store: Store, **columns: pl.Expr) -> None:
    store.write({"answers": store.read("answers").with_columns(**columns)}, BY_HAND)


def nothing_was_written(store: Store) -> bool:
    return not any(store.has(name) for name in STAGE.outputs)


def test_all_impossible_answers_are_named_at_once(bare_study: Make) -> None:
    store = collected(bare_study(EVERY[0], EVERY[3], EVERY[5]))
    rewrite(
        store,
        choice=pl.when(pl.col("question") == "realism").then(pl.lit("left")),
        value=pl.when(pl.col("question") == "rating").then(9.0),
        ranking=pl.when(pl.col("question") == "ranking").then(pl.lit([1, 7], dtype=pl.List(pl.Int64))),
    )
    with pytest.raises(TableError) as caught:
        run(store.folder)
    message = str(caught.value)
    assert "question 'realism': choice must be real or generated: found 'left' in trial" in message
    assert "question 'ranking': ranking must have a rank for each image" in message
    assert "question 'rating': value must lie between 1 and 5: found '9' in trial" in message
    assert "and 7 more" in message
    assert nothing_was_written(store)


def test_unknown_aspects_are_named(bare_study: Make) -> None:
    store = collected(bare_study(EVERY[5]))
    rewrite(store, aspect=pl.lit("taste"))
    with pytest.raises(TableError, match="aspect must be quality"):
        run(store.folder)
    assert nothing_was_written(store)


def test_a_missing_column_is_named(bare_study: Make) -> None:
    store = collected(bare_study(EVERY[0]))
    pl.read_parquet(store.path("answers")).drop("rater").write_parquet(store.path("answers"))
    with pytest.raises(TableError, match=r"column 'rater' \(text\) is missing"):
        run(store.folder)
    assert nothing_was_written(store)


@pytest.mark.parametrize("question", EVERY, ids=lambda question: question.kind)
def test_one_rater(bare_study: Make, question: AnyQuestion) -> None:
    store = collected(bare_study(question), raters=1)
    run(store.folder)
    rank(store.folder)
    ratings = store.read("ratings")
    assert not ratings.is_empty()
    assert ratings["low"].null_count() == ratings.height
    assert not store.read("separations")["separated"].any()


@pytest.mark.parametrize("question", EVERY, ids=lambda question: question.kind)
def test_everybody_excluded(bare_study: Make, question: AnyQuestion) -> None:
    strict = question.model_copy(update={"screening": Screening(min_seconds=1e6)})
    store = collected(bare_study(strict))
    run(store.folder)
    assert store.read("labels").is_empty()
    assert not store.read("raters")["used"].any()
    with pytest.raises(StageError, match="screening leaves the answers of 0 of 3 raters"):
        rank(store.folder)
    assert not store.has("ratings")


@pytest.mark.parametrize("question", EVERY[2:5], ids=lambda question: question.kind)
def test_all_ties(bare_study: Make, question: AnyQuestion) -> None:
    store = collected(bare_study(question))
    if question.kind == "ranking":
        rewrite(store, ranking=pl.lit([1, 1, 1], dtype=pl.List(pl.Int64)))
    else:
        rewrite(store, choice=pl.lit("same" if question.kind == "side-by-side-5" else "tie"))
    run(store.folder)
    rank(store.folder)
    ratings = store.read("ratings")
    assert ratings["rating"].to_list() == pytest.approx([0] * ratings.height, abs=1e-6)
    assert set(ratings["method"]) <= {"bradley-terry", "mean-preference"}  # Plackett–Luce knows no ties
    assert not store.read("separations")["separated"].any()
    shares = store.read("comparisons").filter(pl.col("outcome") == "same")["share"]
    assert set(shares) == {1.0}


@pytest.mark.parametrize("question", [EVERY[2], EVERY[4]], ids=lambda question: question.kind)
def test_generators_never_compared(bare_study: Make, question: AnyQuestion) -> None:
    folder = bare_study(question, generators=("a", "b", "c", "d", "e", "f"))
    store = collected(folder)
    apart = [{"a", "b", "c"}, {"d", "e", "f"}]
    keep = [
        trial
        for trial, images in store.read("trials").select("trial", "images").iter_rows()
        if any({image[0] for image in images} <= group for group in apart)
    ]
    rest = store.read("answers").filter(pl.col("trial").is_in(keep))
    store.write({"answers": rest}, BY_HAND)
    run(folder)
    with pytest.raises(StageError, match="never compared, even through others"):
        rank(folder)
    assert not store.has("ratings")


def test_one_item(bare_study: Make) -> None:
    folder = bare_study(RatingQuestion(name="q", design=Design(raters=3, trials=1)), generators=("a",), prompts=1)
    store = collected(folder)
    run(folder)
    rank(folder)
    (rating,) = store.read("ratings").to_dicts()
    assert (rating["rank_low"], rating["rank_high"], rating["images"]) == (1, 1, 1)
    assert store.read("separations").is_empty()
