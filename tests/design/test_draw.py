"""The trials of one question: balance, order, checks, and what is refused."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest

from beholder.design.draw import draw_question
from beholder.design.items import DrawnTrial, Image, Pools
from beholder.errors import StudyError
from beholder.study.kinds.catalogue import AnyQuestion
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.rating import RatingQuestion
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.kinds.rich_feedback import RichFeedbackQuestion
from beholder.study.kinds.sweep import SweepQuestion
from beholder.study.kinds.timed_realism import TimedRealismQuestion
from beholder.study.question import Design


def world(generators: str = "abc", each: int = 20, reals: int = 60, gold: int = 0, gold_real: int = 0) -> Pools:
    def images(generator: str, count: int, *, real: bool = False, gold: bool = False) -> Iterator[Image]:
        for n in range(count):
            yield Image(f"{generator}{n:03d}", generator, real=real, gold=gold, prompt=None if real else f"p{n}")

    return Pools(
        real=tuple(images("real", reals, real=True)),
        generated=tuple(image for generator in generators for image in images(generator, each)),
        gold=(*images("bad", gold, gold=True), *images("good", gold_real, real=True, gold=True)),
    )


def draw(question: AnyQuestion, pools: Pools, seed: int = 0) -> list[list[DrawnTrial]]:
    return draw_question(question, pools, np.random.default_rng(seed))


def realism(**settings: object) -> RealismQuestion:
    return RealismQuestion(name="q", design=Design.model_validate(settings))


def only_tests(slot: list[DrawnTrial]) -> list[DrawnTrial]:
    return [drawn for drawn in slot if drawn.role == "test"]


def faults_of(question: AnyQuestion, pools: Pools) -> str:
    with pytest.raises(StudyError) as caught:
        draw(question, pools)
    return "\n".join([caught.value.subject, *caught.value.faults])


class TestRealAndGenerated:
    def test_half_are_real_in_each_slot_and_each_block(self) -> None:
        for slot in draw(realism(raters=6, trials=40, blocks=4), world()):
            assert sum(drawn.item.expected == "real" for drawn in slot) == 20
            for block in range(4):
                part = [drawn.item.expected for drawn in slot if drawn.block == block]
                assert Counter(part) == {"real": 5, "generated": 5}

    @pytest.mark.parametrize(("share", "reals"), [(0.0, 0), (0.25, 10), (0.8, 32), (1.0, 40)])
    def test_any_share(self, share: float, reals: int) -> None:
        for slot in draw(realism(raters=3, trials=40, real_share=share), world()):
            assert sum(drawn.item.expected == "real" for drawn in slot) == reals

    def test_nobody_sees_an_image_twice_and_images_are_shown_equally_often(self) -> None:
        slots = draw(realism(raters=7, trials=40), world())
        showings = Counter(drawn.item.images[0] for slot in slots for drawn in slot)
        assert all(len({drawn.item.images for drawn in slot}) == 40 for slot in slots)
        for expected in ("real", "generated"):
            counts = [
                showings[image.image] for image in (world().real if expected == "real" else world().generated)
            ]
            assert max(counts) - min(counts) <= 1

    def test_generators_are_even_in_each_slot(self) -> None:
        for slot in draw(realism(raters=5, trials=40), world()):
            counts = Counter(drawn.item.stratum for drawn in slot if drawn.item.expected == "generated")
            assert sorted(counts.values()) == [6, 7, 7]  # 20 of three generators

    def test_between_raters_see_one_generator_each_and_slots_are_even(self) -> None:
        slots = draw(realism(raters=8, trials=20, between=True), world())
        generators_of_slots: list[str] = []
        for slot in slots:
            generators = {drawn.item.stratum for drawn in slot if drawn.item.expected == "generated"}
            assert len(generators) == 1
            generators_of_slots += generators
        assert Counter(generators_of_slots) == {"a": 3, "b": 3, "c": 2}

    def test_exactly_k_answers_an_item(self) -> None:
        slots = draw(realism(raters=6, trials=20, raters_per_item=3), world())
        showings = Counter(d.item.images for slot in slots for d in slot if d.item.expected == "generated")
        assert set(showings.values()) == {3}
        assert len(showings) == 6 * 10 // 3

    def test_propensity_is_the_share_of_the_pool(self) -> None:
        slot = draw(realism(raters=1, trials=40), world())[0]
        assert {(d.item.expected, d.propensity) for d in slot} == {("real", 20 / 60), ("generated", 20 / 60)}

    def test_a_seed_draws_the_same_and_another_does_not(self) -> None:
        question = realism(raters=3, trials=40)
        assert draw(question, world(), 1) == draw(question, world(), 1)
        assert draw(question, world(), 1) != draw(question, world(), 2)


class TestOrderCannotBeForetold:
    """A rater who knows the proportion must gain nothing from what came before."""

    def lag_one(self, slots: list[list[int]]) -> float:
        """Proportion of neighbours that are of one class."""
        alike = [a == b for slot in slots for a, b in pairwise(slot)]
        return float(np.mean(alike))

    @pytest.mark.parametrize("blocks", [1, 2])
    def test_neighbours_are_alike_as_in_a_random_order(self, blocks: int) -> None:
        slots = draw(realism(raters=400, trials=40, blocks=blocks), world())
        classes = [[int(drawn.item.expected == "real") for drawn in slot] for slot in slots]
        # In a random order of n/2 and n/2, two neighbours are alike with chance (n/2 − 1)/(n − 1): 19/39 for one
        # block of 40, 9/19 within blocks of 20. The share over 400 × 39 neighbours has SE ≈ √(.25/15600) = .004.
        per_block = 40 // blocks
        inside = (per_block / 2 - 1) / (per_block - 1)
        joints = blocks - 1
        expected = (inside * (per_block - 1) * blocks + 0.5 * joints) / 39
        assert abs(self.lag_one(classes) - expected) < 4 * 0.004

    def test_within_a_sweep_too(self) -> None:
        design = Design(raters=200, trials=2)
        slots = draw(SweepQuestion(name="q", images=20, design=design), world())
        series = [[int(i.startswith("real")) for i in drawn.item.images] for slot in slots for drawn in slot]
        # 9/19 as above; 400 × 19 neighbours: SE ≈ √(.25/7600) = .0057
        assert abs(self.lag_one(series) - 9 / 19) < 4 * 0.0057

    def test_sides_and_answers_of_gold_pairs_are_drawn(self) -> None:
        question = PairQuestion(name="q", design=Design(raters=60, trials=10, gold_every=2))
        slots = draw(question, world(gold=20))
        expected = Counter(drawn.item.expected for slot in slots for drawn in slot if drawn.role == "gold")
        # 300 coins: SD = √75 = 8.7
        assert expected["left"] + expected["right"] == 300
        assert abs(expected["left"] - 150) < 4 * 8.7


class TestPairs:
    def test_sides_differ_by_at_most_one_for_each_pair_and_each_pair_of_generators(self) -> None:
        slots = draw(PairQuestion(name="q", design=Design(raters=11, trials=25)), world())
        ways: dict[frozenset[str], Counter[str]] = defaultdict(Counter)
        strata: dict[str, Counter[str]] = defaultdict(Counter)
        for drawn in (drawn for slot in slots for drawn in slot):
            left = drawn.item.images[0]
            ways[frozenset(drawn.item.images)][left] += 1
            strata[drawn.item.stratum][left[0]] += 1
        for counts in ways.values():
            assert max(counts.values()) - (min(counts.values()) if len(counts) > 1 else 0) <= 1
        assert len(strata) == 3
        for counts in strata.values():
            assert max(counts.values()) - min(counts.values()) <= 1

    def test_exactly_k_answers_a_pair(self) -> None:
        design = Design(raters=6, trials=10, raters_per_item=4)
        slots = draw(PairQuestion(name="q", design=design), world())
        showings = Counter(frozenset(drawn.item.images) for slot in slots for drawn in slot)
        assert set(showings.values()) == {4}
        assert len(showings) == 15


class TestChecks:
    @pytest.mark.parametrize(("role", "every"), [("gold", 4), ("attention", 6)])
    def test_one_check_comes_in_each_window_of_so_many(self, role: str, every: int) -> None:
        question = realism(raters=30, trials=14, gold_every=4, attention_every=6)
        for slot in draw(question, world(gold=4)):
            tests_before = [
                sum(earlier.role == "test" for earlier in slot[:place])
                for place, drawn in enumerate(slot)
                if drawn.role == role
            ]
            # after the 1st … n-th trial of each window; a window that the slot does not fill has none
            assert [(before - 1) // every for before in tests_before] == list(range(14 // every))

    @pytest.mark.parametrize("role", ["gold", "attention"])
    def test_no_position_tells_that_a_trial_is_a_check(self, role: str) -> None:
        question = realism(raters=400, trials=30, gold_every=7, attention_every=7)
        slots = draw(question, world(gold=8))
        held = Counter(place for slot in slots for place, drawn in enumerate(slot) if drawn.role == role)
        assert sum(held.values()) == 400 * 4
        expected = 400 * 4 / 38  # 30 tests, 4 gold and 4 attention trials: each position its share, 42.1
        assert max(held.values()) < 2.5 * expected
        assert len(held) > 25  # the same for everyone would be 4 positions

    def test_an_attention_check_shows_the_trial_before_and_asks_for_one_of_the_options(self) -> None:
        instructed = set()
        for slot in draw(PairQuestion(name="q", design=Design(raters=20, trials=10, attention_every=2)), world()):
            for before, drawn in pairwise(slot):
                if drawn.role == "attention":
                    assert drawn.item.images == before.item.images
                    instructed.add(drawn.item.expected)
        assert instructed == {"left", "tie", "right"}

    def test_gold_images_check_raters_and_are_never_tested(self) -> None:
        question = realism(raters=3, trials=20, qualification=6, training=2, gold_every=5)
        for slot in draw(question, world(gold=10, gold_real=10)):
            for drawn in slot:
                gold = drawn.item.images[0].startswith(("bad", "good"))
                assert gold == (drawn.role != "test")
                assert drawn.item.expected == (
                    "real" if drawn.item.images[0].startswith(("real", "good")) else "generated"
                )

    def test_training_then_qualification_then_the_test(self) -> None:
        for slot in draw(realism(raters=3, trials=6, training=2, qualification=4), world(gold=10)):
            assert [drawn.role for drawn in slot] == ["training"] * 2 + ["qualification"] * 4 + ["test"] * 6
            expected = Counter(drawn.item.expected for drawn in slot if drawn.role == "qualification")
            assert expected == {"real": 2, "generated": 2}

    @pytest.mark.parametrize("gold", [0, 12])
    def test_no_image_is_seen_twice_where_there_are_enough(self, gold: int) -> None:
        question = realism(raters=12, trials=20, training=4, qualification=10, gold_every=5, between=True)
        for slot in draw(question, world(gold=gold)):
            images = [drawn.item.images for drawn in slot]
            assert len(set(images)) == len(images)

    def test_repeats_point_at_an_earlier_trial_with_the_sides_flipped(self) -> None:
        for seed in range(10):
            question = PairQuestion(name="q", design=Design(raters=3, trials=11, repeats=7, blocks=2))
            for slot in draw(question, world(), seed):
                tests = only_tests(slot)
                repeats = [drawn for drawn in slot if drawn.role == "repeat"]
                assert len(repeats) == 7
                assert len({drawn.repeats for drawn in repeats}) == 7
                for drawn in repeats:
                    assert drawn.repeats is not None
                    original = tests[drawn.repeats]
                    assert drawn.item.images == original.item.images[::-1]
                    assert slot.index(original) < slot.index(drawn)

    def test_one_trial_can_be_repeated(self) -> None:
        slot = draw(PairQuestion(name="q", design=Design(raters=1, trials=1, repeats=1)), world())[0]
        assert [drawn.role for drawn in slot] == ["test", "repeat"]

    def test_blocks_run_on(self) -> None:
        question = realism(raters=1, trials=10, blocks=3, gold_every=2, attention_every=3, repeats=2)
        blocks = [drawn.block for drawn in draw(question, world(gold=5))[0]]
        assert blocks == sorted(blocks)
        assert set(blocks) == {0, 1, 2}


class TestSweep:
    def test_series_hold_the_share_of_real_images_and_none_twice(self) -> None:
        question = SweepQuestion(name="q", images=10, design=Design(raters=4, trials=3))
        for slot in draw(question, world()):
            assert [len(drawn.item.images) for drawn in slot] == [10] * 3
            assert all(sum(i.startswith("real") for i in drawn.item.images) == 5 for drawn in slot)
            assert len({image for drawn in slot for image in drawn.item.images}) == 30


class TestRefusals:
    def test_all_faults_come_in_one_list(self) -> None:
        faults = faults_of(realism(raters=2, trials=100, qualification=30, between=True), world())
        checks = " and 15 in training, qualification and gold trials, none twice"
        assert faults.splitlines() == [
            "question 'q'",
            "60 real images, but each rater sees 50 in the test" + checks,
            "60 generated images, but each rater sees 50 in the test" + checks,
            "20 images of a, but each rater sees 50, none twice",
            "20 images of b, but each rater sees 50, none twice",
            "20 images of c, but each rater sees 50, none twice",
            "2 raters for 3 generators, but each rater judges one",
        ]

    def test_just_enough_is_enough(self) -> None:
        # 50 + 10 of 60 real images; the known-bad images leave the generated ones to the test
        draw(realism(raters=3, trials=100, qualification=20), world(gold=10))
        assert "60 real images" in faults_of(realism(raters=3, trials=100, qualification=21), world(gold=10))

    def test_no_generated_images(self) -> None:
        assert "no generated images" in faults_of(realism(raters=3, trials=10), world(generators=""))

    def test_checks_on_generated_images_count(self) -> None:
        # 30 in the test and 31 to qualify, of 60 in all
        question = realism(raters=3, trials=60, qualification=62)
        assert "60 generated images, but each rater sees 30 in the test and 31 in training" in faults_of(
            question, world(reals=100)
        )

    @pytest.mark.parametrize(
        "question",
        [
            RatingQuestion(name="q", design=Design(raters=2, trials=5, gold_every=2)),
            RichFeedbackQuestion(name="q", design=Design(raters=2, trials=5, qualification=2)),
            SweepQuestion(name="q", images=5, design=Design(raters=2, trials=5, training=2)),
        ],
    )
    def test_checks_need_a_known_answer(self, question: AnyQuestion) -> None:
        assert "need a known answer" in faults_of(question, world(gold=5))

    @pytest.mark.parametrize("check", [{"gold_every": 2}, {"training": 2}, {"qualification": 2}])
    def test_gold_pairs_need_gold_images(self, check: dict[str, int]) -> None:
        question = PairQuestion(name="q", design=Design.model_validate({"raters": 2, "trials": 5} | check))
        assert "need gold images (--gold NAME=DIR)" in faults_of(question, world())
        draw(question, world(gold=20))

    def test_between_is_for_kinds_that_show_real_images(self) -> None:
        question = RatingQuestion(name="q", design=Design(raters=3, trials=5, between=True))
        assert "between = true is for the kinds that show real images" in faults_of(question, world())

    def test_too_few_items(self) -> None:
        question = PairQuestion(name="q", design=Design(raters=2, trials=61))
        assert "60 items to judge, but each rater judges 61 without repetition" in faults_of(question, world())

    def test_k_that_needs_more_items_than_there_are(self) -> None:
        question = PairQuestion(name="q", design=Design(raters=10, trials=50, raters_per_item=5))
        assert "10 raters × 50 trials at 5 answers per item need 100 items; there are 60" in faults_of(
            question, world()
        )

    def test_k_that_the_generated_share_does_not_divide(self) -> None:
        # 4 raters × 6 trials = 24 is a multiple of 4, but a generator has 2, 1 and 1 raters × 3 generated images
        question = realism(raters=4, trials=6, raters_per_item=4, between=True)
        assert "2 raters × 3 generated images is not a multiple of raters_per_item (4)" in faults_of(
            question, world()
        )

    def test_k_above_the_raters_of_a_generator(self) -> None:
        question = realism(raters=6, trials=12, raters_per_item=4, between=True)
        assert "2 raters × 6 generated images at 4 answers per item, but a rater judges an item once" in faults_of(
            question, world()
        )

    def test_timed_questions_are_drawn_as_realism(self) -> None:
        question = TimedRealismQuestion(name="q", design=Design(raters=3, trials=12, blocks=3))
        for slot in draw(question, world()):
            assert Counter((d.block, d.item.expected) for d in slot) == {
                (block, expected): 2 for block in range(3) for expected in ("real", "generated")
            }
