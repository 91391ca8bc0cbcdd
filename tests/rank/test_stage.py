"""The rank stage: slices, odd studies, and messages."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from beholder.collect.stage import run as run_simulated
from beholder.consolidate.stage import run as consolidate
from beholder.design.stage import run as design
from beholder.errors import StageError
from beholder.formats.imported import UNKNOWN
from beholder.rank.methods import METHODS
from beholder.rank.stage import run
from beholder.study.kinds.catalogue import KINDS, AnyQuestion
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.rating import RatingQuestion
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.question import Design, Screening
from beholder.tables.provenance import Provenance
from beholder.tables.store import Store

Make = Callable[..., Path]
REALISM = RealismQuestion(name="real", design=Design(raters=6, trials=16))
PAIR = PairQuestion(name="pref", design=Design(raters=6, trials=16))
RATING = RatingQuestion(name="mos", design=Design(raters=6, trials=16))
BY_HAND = Provenance("collect", {}, 0, {})


def consolidated(folder: Path, raters: int = 6) -> Store:
    design(folder)
    run_simulated(folder, people=raters)
    consolidate(folder)
    return Store(folder)


def overall(store: Store) -> pl.DataFrame:
    return store.read("ratings").filter(pl.col("slice") == "all")


def test_three_kinds(bare_study: Make) -> None:
    folder = bare_study(REALISM, PAIR, RATING)
    store = consolidated(folder)
    run(folder)
    ratings = overall(store).group_by("question", "method", maintain_order=True).agg("generator")
    assert ratings.rows() == [
        ("real", "error-rate", ["a", "b", "c"]),
        ("real", "fake-error-rate", ["a", "b", "c"]),
        ("real", "real-error-rate", ["a", "b", "c"]),
        ("real", "d-prime", ["a", "b", "c"]),
        ("pref", "bradley-terry", ["a", "b", "c"]),
        ("mos", "mean-opinion", ["a", "b", "c"]),
    ]
    assert store.read("separations").height == 6 * 3
    assert overall(store)["ties"].null_count() == 15  # only votes have a rule for ties
    assert run(folder).skipped
    assert not run(folder, force=True).skipped


def test_the_same_bytes_each_time_and_others_for_another_seed(bare_study: Make) -> None:
    written = []
    for name, seed in (("one", 0), ("two", 0), ("three", 1)):
        folder = bare_study(REALISM, PAIR, RATING, name=name, seed=seed)
        store = consolidated(folder)
        run(folder)
        written.append([store.path(table).read_bytes() for table in ("ratings", "separations")])
    assert written[0] == written[1]
    assert written[0] != written[2]


def test_mean_opinion_is_the_mean_over_raters_of_the_used_answers(bare_study: Make) -> None:
    folder = bare_study(RATING)
    store = consolidated(folder)
    run(folder)
    images = store.read("images").select("image", "generator")
    answers = store.read("answers").join(store.read("trials").select("trial", "images"), on="trial")
    means = (
        answers.with_columns(image=pl.col("images").list.first())
        .join(images, on="image")
        .join(store.read("sessions").select("session", "rater"), on="session")
        .group_by("generator", "rater")
        .agg(pl.col("value").mean(), pl.len())
        .group_by("generator")
        .agg(pl.col("value").mean(), pl.col("len").sum())
        .sort("generator")
    )
    ratings = overall(store).sort("generator")
    assert ratings["rating"].to_list() == pytest.approx(means["value"].to_list())
    assert ratings["answers"].to_list() == means["len"].to_list()


class TestSlices:
    def test_by_style_with_the_styleless_reals_in_each(self, bare_study: Make) -> None:
        folder = bare_study(REALISM, PAIR, styles=("photo", "sketch"))
        store = consolidated(folder)
        run(folder)
        ratings = store.read("ratings")
        assert set(ratings["slice"]) == {"all", "photo", "sketch"}
        methods = (
            ratings.filter(pl.col("question") == "real").group_by("slice").agg(pl.col("method").unique().sort())
        )
        assert methods["method"].to_list() == [["d-prime", "error-rate", "fake-error-rate", "real-error-rate"]] * 3
        fakes = (
            ratings.filter(pl.col("method") == "fake-error-rate").group_by("slice").agg(pl.col("answers").sum())
        )
        by_slice = dict(fakes.iter_rows())
        assert by_slice["photo"] + by_slice["sketch"] == by_slice["all"] == 6 * 8
        votes = ratings.filter(pl.col("method") == "bradley-terry").group_by("slice").agg(pl.col("answers").sum())
        by_slice = dict(votes.iter_rows())
        assert by_slice["photo"] + by_slice["sketch"] == by_slice["all"] == 2 * 6 * 16

    def test_one_style_is_no_slice(self, bare_study: Make) -> None:
        folder = bare_study(REALISM, styles=("photo",))
        store = consolidated(folder)
        run(folder)
        assert set(store.read("ratings")["slice"]) == {"all"}

    def test_a_style_whose_pairs_hang_apart_is_left_out(self, bare_study: Make) -> None:
        folder = bare_study(PAIR, styles=("photo", "sketch"), generators=("a", "b", "c", "d"))
        store = consolidated(folder)
        styles = dict(store.read("images").select("image", "style").iter_rows())
        apart = [{"a", "b"}, {"c", "d"}]
        trials = store.read("trials")
        keep = [
            trial
            for trial, images in trials.select("trial", "images").iter_rows()
            if styles[images[0]] == "photo" or {image[0] for image in images} in apart
        ]
        store.write({"answers": store.read("answers").filter(pl.col("trial").is_in(keep))}, BY_HAND)
        consolidate(folder)
        run(folder)
        assert set(store.read("ratings")["slice"]) == {"all", "photo"}

    def test_a_style_of_which_someone_saw_no_real_image_is_rated_by_the_others(self, bare_study: Make) -> None:
        folder = bare_study(REALISM, styles=("photo", "sketch"))
        store = Store(folder)
        number = pl.int_range(pl.len()) % 16
        style = pl.when("real").then(pl.when(number == 0).then(pl.lit("photo")).otherwise(pl.lit("sketch")))
        images = store.read("images").with_columns(style=style.otherwise("style"))
        store.write({"images": images}, Provenance("new", {}, 0, {}))
        consolidated(folder)
        run(folder)
        photo = store.read("ratings").filter((pl.col("slice") == "photo") & (pl.col("method") == "error-rate"))
        assert (photo["raters"] < 6).all()
        assert photo["rating"].is_not_null().all()


def test_groups_never_compared_are_named_and_nothing_is_written(bare_study: Make) -> None:
    folder = bare_study(RATING, PAIR, generators=("a", "b", "c", "d"))
    store = consolidated(folder)
    apart = [{"a", "b"}, {"c", "d"}]
    keep = [
        trial
        for trial, images in store.read("trials").select("trial", "images").iter_rows()
        if len(images) == 1 or {image[0] for image in images} in apart
    ]
    store.write({"answers": store.read("answers").filter(pl.col("trial").is_in(keep))}, BY_HAND)
    consolidate(folder)
    with pytest.raises(StageError, match=r"question 'pref': .*found 2 separate groups \(a, b; c, d\)"):
        run(folder)
    assert not store.has("ratings")
    assert not store.has("separations")


def test_nobody_left_says_so(bare_study: Make) -> None:
    question = REALISM.model_copy(update={"screening": Screening(min_seconds=1000)})
    folder = bare_study(question)
    store = consolidated(folder)
    with pytest.raises(StageError) as caught:
        run(folder)
    message = str(caught.value)
    assert message.startswith("no generator can be rated: screening leaves the answers of 0 of 6 raters\n")
    assert message.count("at least 1000 s expected") == 6
    assert str(folder) not in message
    assert not store.has("ratings")


def test_nobody_yet_says_what_to_do(bare_study: Make) -> None:
    folder = bare_study(REALISM)
    store = consolidated(folder)
    store.write({"raters": store.read("raters").clear(), "judgements": store.read("judgements").clear()}, BY_HAND)
    with pytest.raises(StageError, match=r"nobody has answered yet\n`beholder collect FOLDER` asks raters"):
        run(folder)


@pytest.mark.parametrize("question", [REALISM, PAIR, RATING], ids=lambda question: question.kind)
def test_one_rater_has_ratings_without_intervals(bare_study: Make, question: AnyQuestion) -> None:
    folder = bare_study(question)
    store = consolidated(folder, raters=1)
    run(folder)
    ratings = overall(store)
    assert ratings.height > 0
    assert ratings["low"].null_count() == ratings.height
    assert (ratings["rank_low"] == 1).all()
    assert (ratings["rank_high"] == 3).all()
    assert not store.read("separations")["separated"].any()


def test_all_ties(bare_study: Make) -> None:
    folder = bare_study(PAIR)
    store = consolidated(folder)
    store.write({"answers": store.read("answers").with_columns(choice=pl.lit("tie"))}, BY_HAND)
    consolidate(folder)
    run(folder)
    assert overall(store)["rating"].to_list() == pytest.approx([0, 0, 0], abs=1e-6)
    assert not store.read("separations")["separated"].any()


def test_within_and_between(bare_study: Make) -> None:
    raters = []
    for between in (False, True):
        question = RealismQuestion(name="q", design=Design(raters=6, trials=12, between=between))
        folder = bare_study(question, name=f"between-{between}")
        store = consolidated(folder)
        run(folder)
        raters.append(overall(store).filter(pl.col("method") == "error-rate")["raters"].to_list())
    assert raters == [[6, 6, 6], [2, 2, 2]]


def test_every_kind_has_a_method() -> None:
    assert {kind.traits.rated_by for kind in KINDS.values()} == set(METHODS)


def test_it_needs_judgements(bare_study: Make) -> None:
    folder = bare_study(REALISM)
    design(folder)
    run_simulated(folder, people=4)
    with pytest.raises(
        StageError, match=r"judgements\.parquet is missing\. It is written by: beholder consolidate"
    ):
        run(folder)


def test_images_of_unknown_generators_are_not_ranked_with_a_note(bare_study: Make) -> None:
    folder = bare_study(PAIR)
    store = consolidated(folder)
    assert run(folder).note == ""
    store.write({"images": store.read("images").with_columns(generator=pl.lit(UNKNOWN))}, BY_HAND)
    outcome = run(folder)
    assert overall(store).is_empty()
    assert "does not say which generator made which image" in str(outcome)
    assert "which generator" in str(run(folder))  # also where nothing had to be done
