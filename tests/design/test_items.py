"""What can be judged: the items drawn from the images."""

import numpy as np
import polars as pl

from beholder.design.items import Image, Item, Pools, generated_items, pool_images, single_item
from beholder.study.kinds.catalogue import KINDS, kind_of
from beholder.study.kinds.choice import ChoiceQuestion
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.ranking import RankingQuestion
from beholder.study.kinds.rating import RatingQuestion
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.kinds.rich_feedback import RichFeedbackQuestion
from beholder.study.kinds.side_by_side import SideBySideQuestion
from beholder.study.kinds.sweep import SweepQuestion
from beholder.study.kinds.timed_realism import TimedRealismQuestion
from beholder.study.kinds.write_prompt import WritePromptQuestion
from beholder.tables.catalogue import TABLES

RNG = np.random.default_rng(0)


def image_of(generator: str, prompt: str | None, number: int = 0) -> Image:
    return Image(f"{generator}-{prompt}-{number}", generator, real=False, gold=False, prompt=prompt)


def pools(*images: Image) -> Pools:
    return Pools(real=(), generated=images, gold=())


def frame(rows: list[tuple[str, bool, bool]]) -> pl.DataFrame:
    common_columns = {"path": "x", "generator": "g", "width": 1, "height": 1, "sha256": "x"}
    return TABLES["images"].frame([common_columns | {"image": i, "real": r, "gold": g} for i, r, g in rows])


def test_pools_keep_gold_apart_and_are_in_the_order_of_ids() -> None:
    pools_by_use = pool_images(
        frame(
            [("z", False, False), ("a", False, False), ("r", True, False), ("k", False, True), ("l", True, True)]
        )
    )
    assert [image.image for image in pools_by_use.generated] == ["a", "z"]
    assert [image.image for image in pools_by_use.real] == ["r"]
    assert [image.image for image in pools_by_use.gold] == ["k", "l"]
    assert pools_by_use.generators == ("g",)


def test_pairs_are_of_one_prompt_and_two_generators() -> None:
    images = pools(
        image_of("b", "p"), image_of("a", "p"), image_of("a", "p", 1), image_of("b", "q"), image_of("b", None)
    )
    assert generated_items(PairQuestion(name="q"), images, RNG) == (
        Item(("a-p-0", "b-p-0"), "a × b", "p"),
        Item(("a-p-1", "b-p-0"), "a × b", "p"),
    )
    assert generated_items(SideBySideQuestion(name="q"), images, RNG) == generated_items(
        PairQuestion(name="q"), images, RNG
    )


def test_rows_take_as_many_generators_as_there_are() -> None:
    images = pools(*(image_of(g, "p", n) for g in "abc" for n in range(4)), image_of("a", "q"), image_of("b", "q"))
    for seed in range(20):
        rows = generated_items(RankingQuestion(name="q", images=4), images, np.random.default_rng(seed))
        assert len(rows) == 1  # q has two images only
        generators = [image.split("-")[0] for image in rows[0].images]
        assert sorted(generators)[0] == "a"
        assert set(generators) == {"a", "b", "c"}
        assert len(set(rows[0].images)) == 4


def test_single_images_know_whether_they_are_real() -> None:
    assert single_item(Image("x", "real", real=True, gold=False, prompt=None)).expected == "real"
    assert single_item(image_of("a", "p")) == Item(("a-p-0",), "a", "p", "generated")
    singles = generated_items(RatingQuestion(name="q"), pools(image_of("a", "p"), image_of("b", None)), RNG)
    assert [item.images for item in singles] == [("a-p-0",), ("b-None-0",)]


def test_every_kind_says_whether_it_shows_real_images() -> None:
    questions = (
        RealismQuestion(name="q"),
        TimedRealismQuestion(name="q"),
        SweepQuestion(name="q"),
        PairQuestion(name="q"),
        RankingQuestion(name="q"),
        SideBySideQuestion(name="q"),
        RatingQuestion(name="q"),
        RichFeedbackQuestion(name="q"),
        ChoiceQuestion(name="q"),
        WritePromptQuestion(name="q", target="aurora"),
    )
    assert {question.kind for question in questions} == set(KINDS)
    assert [kind_of(question).traits.shows_real for question in questions] == [True] * 3 + [False] * 7
