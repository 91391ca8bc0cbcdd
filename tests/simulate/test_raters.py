"""Simulated raters: what they perceive, how long they take, and how each habit changes them."""

from collections import Counter

import numpy as np
import pytest
from scipy.stats import norm

from beholder.simulate.raters import (
    BAD,
    HABITS,
    SUBTLE,
    SimulatedRater,
    draw_honest_rater,
    draw_raters,
    with_habit,
)
from beholder.simulate.sight import ASPECTS, Sight, View, sight_of

ORDINARY = SimulatedRater("p", "noisy")


def images(*views: tuple[float, float]) -> Sight:
    """Images of these d′ and qualities."""
    return sight_of([View(d, dict.fromkeys(ASPECTS, quality)) for d, quality in views])


class TestVisibility:
    def test_hand_worked(self) -> None:
        # 1 − 2^−(t/250)²: at 250 ms 1 − 1/2; at 500 ms 1 − 2⁻⁴ = 15/16; at 125 ms 1 − 2^−¼ = .1591
        assert ORDINARY.visibility(250) == 0.5
        assert ORDINARY.visibility(500) == 0.9375
        assert ORDINARY.visibility(125) == pytest.approx(0.15910, abs=1e-5)

    def test_ends(self) -> None:
        assert ORDINARY.visibility(0) == 0
        assert ORDINARY.visibility(None) == 1
        assert ORDINARY.visibility(1e6) == 1

    def test_threshold_and_slope(self) -> None:
        assert SimulatedRater("p", "noisy", threshold_ms=100, slope=5).visibility(100) == 0.5
        steep, flat = (SimulatedRater("p", "noisy", slope=slope) for slope in (4, 1))
        assert steep.visibility(500) > flat.visibility(500)
        assert steep.visibility(125) < flat.visibility(125)


class TestSense:
    def test_evidence_is_d_prime_times_acuity_and_visibility_plus_a_unit_normal(self) -> None:
        rater = SimulatedRater("p", "noisy", acuity=1.5)
        rng = np.random.default_rng(0)
        felt = [
            rater.sense(images((2.0, 1.0)), progress=0, exposure_ms=250, rng=rng).generated[0] for _ in range(4000)
        ]
        # 2 · 1.5 · ½ = 1.5; SE of the mean 1/√4000 = .016, of the SD .011
        assert np.mean(felt) == pytest.approx(1.5, abs=4 * 0.016)
        assert np.std(felt) == pytest.approx(1.0, abs=4 * 0.011)

    def test_share_called_generated_is_the_psychometric_function(self) -> None:
        rng = np.random.default_rng(1)
        rater = SimulatedRater("p", "noisy", criterion=1.0)
        proportion = np.mean(
            [
                rater.sense(images((1.8, 1.0)), progress=0, exposure_ms=None, rng=rng).generated[0] > 1
                for _ in range(4000)
            ]
        )
        # Φ(1.8 − 1) = .788; SE = √(.788 · .212/4000) = .0065
        assert proportion == pytest.approx(norm.cdf(0.8), abs=4 * 0.0065)

    def test_quality_is_truth_plus_leniency_with_the_side_pull_on_the_first(self) -> None:
        rater = SimulatedRater("p", "noisy", noise=0.0, leniency=0.1, side_pull=0.3)
        sensed = rater.sense(
            images((0, 0.5), (0, 0.6)), progress=0, exposure_ms=None, rng=np.random.default_rng(0)
        )
        for aspect in ASPECTS:
            assert sensed.quality[aspect] == pytest.approx([0.9, 0.7])
        alone = rater.sense(images((0, 0.5)), progress=0, exposure_ms=None, rng=np.random.default_rng(0))
        assert alone.quality["overall"] == pytest.approx([0.6])  # no side, no pull

    def test_drift_makes_noise_grow_and_acuity_fall(self) -> None:
        tired = SimulatedRater("p", "tired", drift=1.5, noise=0.1)
        for progress, factor in ((0.0, 1.0), (1.0, 2.5)):
            rng = np.random.default_rng(2)
            sensed = [
                tired.sense(images((2.0, 0.5)), progress=progress, exposure_ms=None, rng=rng) for _ in range(3000)
            ]
            evidence = np.mean([s.generated[0] for s in sensed])
            spread = np.std([s.quality["overall"][0] for s in sensed])
            assert evidence == pytest.approx(2.0 / factor, abs=4 / np.sqrt(3000))
            assert spread == pytest.approx(0.1 * factor, rel=4 / np.sqrt(6000))

    def test_noticed_places_and_words(self) -> None:
        sight = Sight(
            detectability=np.zeros(1),
            quality={aspect: np.ones(1) for aspect in ASPECTS},
            points={"implausibility": (((0.0, 1.0), (0.5, 0.5)),)},
            words=(1, 4),
        )
        keen, blind = SimulatedRater("p", "noisy", notice=1.0), SimulatedRater("p", "noisy", notice=0.0)
        sensed = keen.sense(sight, progress=0, exposure_ms=None, rng=np.random.default_rng(0))
        (points,) = sensed.points["implausibility"]
        assert len(points) == 2
        assert all(0 <= x <= 1 and 0 <= y <= 1 for x, y in points)  # never off the image
        assert points[1] == pytest.approx((0.5, 0.5), abs=0.1)
        assert sensed.words == (1, 4)
        unseen = blind.sense(sight, progress=0, exposure_ms=None, rng=np.random.default_rng(0))
        assert unseen.points["implausibility"] == ((),)
        assert unseen.words == ()


def test_times_are_right_skewed_about_the_median() -> None:
    rng = np.random.default_rng(0)
    times = np.asarray([SimulatedRater("p", "noisy", seconds=1.5).draw_seconds(2.0, rng) for _ in range(5000)])
    # log-normal, median 1.5 · 2 = 3, mean 3 · exp(.45²/2) = 3.320; SE of the log of the median .45·1.25/√5000
    assert np.median(times) == pytest.approx(3.0, rel=4 * 0.008)
    assert times.mean() == pytest.approx(3 * np.exp(0.45**2 / 2), rel=4 * 0.007)
    assert times.mean() > np.median(times)
    assert times.min() > 0


class TestHabits:
    def test_ordinary_people_differ_about_the_middle(self) -> None:
        raters = [draw_honest_rater(f"p{n}", np.random.default_rng(n)) for n in range(2000)]
        assert np.mean([p.criterion for p in raters]) == pytest.approx(1.0, abs=4 * 0.2 / np.sqrt(2000))
        assert np.std([p.criterion for p in raters]) == pytest.approx(0.2, rel=0.1)
        assert np.median([p.acuity for p in raters]) == pytest.approx(1.0, abs=0.02)
        assert all(0.1 <= p.noise <= 0.2 for p in raters)

    def test_each_habit_changes_what_it_is_named_for(self) -> None:
        rater = draw_honest_rater("p", np.random.default_rng(0))
        assert with_habit(rater, "lenient").leniency == pytest.approx(rater.leniency + 0.12)
        assert with_habit(rater, "harsh").leniency == pytest.approx(rater.leniency - 0.12)
        assert with_habit(rater, "lenient").criterion > rater.criterion > with_habit(rater, "harsh").criterion
        assert with_habit(rater, "side-biased").side_pull == 0.3
        assert with_habit(rater, "tired").drift == 1.5
        assert with_habit(rater, "fast").seconds == 0.12
        assert with_habit(rater, "ideal").lapse == 0
        assert all(with_habit(rater, habit).habit == habit for habit in HABITS)
        assert all(with_habit(rater, habit).rater == "p" for habit in HABITS)

    def test_all_bad_and_subtle_habits_are_known(self) -> None:
        assert {*BAD, *SUBTLE} < set(HABITS)


class TestDrawPeople:
    @pytest.mark.parametrize(("number", "bad"), [(40, 0), (40, 10), (60, 12), (5, 5), (0, 0)])
    def test_counts(self, number: int, bad: int) -> None:
        raters = draw_raters(number, bad, np.random.default_rng(0))
        assert len(raters) == len({rater.rater for rater in raters}) == number
        habits = Counter(rater.habit for rater in raters)
        assert sum(habits[habit] for habit in (*BAD, *SUBTLE)) == bad
        assert habits["lenient"] == -(-(number - bad) // 8)
        assert habits["harsh"] == (number - bad + 3) // 8

    def test_ten_bad_people_have_each_habit(self) -> None:
        habits = Counter(rater.habit for rater in draw_raters(40, 10, np.random.default_rng(0)))
        assert all(habits[habit] == 2 for habit in BAD)
        assert all(habits[habit] == 1 for habit in SUBTLE)

    def test_in_random_order_by_the_seed(self) -> None:
        first, again, other = (draw_raters(40, 10, np.random.default_rng(seed)) for seed in (1, 1, 2))
        assert first == again
        assert [p.habit for p in first] != [p.habit for p in other]
        assert {p.habit for p in first[:10]} != {*BAD, *SUBTLE}  # the bad do not come first

    def test_refuses_more_bad_people_than_people(self) -> None:
        with pytest.raises(ValueError, match="between 0 and 3, found 4"):
            draw_raters(3, 4, np.random.default_rng(0))
