"""Planning: the textbook numbers, power against an outside oracle, and what is refused."""

import math

import numpy as np
import pytest
from statsmodels.stats.power import TTestIndPower, TTestPower

from beholder.design.plan import Plan, closed_form, power_curve
from beholder.errors import StudyError
from beholder.study.kinds.catalogue import AnyQuestion
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.ranking import RankingQuestion
from beholder.study.kinds.rating import RatingQuestion
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.question import Design

STUDIES = 1500


def pair(trials: int = 20, **design: int) -> PairQuestion:
    return PairQuestion(name="q", design=Design(raters=2, trials=trials, **design))


def rating(trials: int = 20) -> RatingQuestion:
    return RatingQuestion(name="q", design=Design(raters=2, trials=trials))


def realism(trials: int = 20, *, between: bool = True) -> RealismQuestion:
    return RealismQuestion(name="q", design=Design(raters=2, trials=trials, between=between, real_share=0.5))


class TestAnswersOfAPerson:
    @pytest.mark.parametrize(
        ("question", "generators", "answers"),
        [
            (pair(60), 3, 20),  # 3 pairs of generators
            (pair(60), 2, 60),
            (pair(2), 5, 1),  # 10 pairs: less than one answer each, but no less than one
            (rating(60), 3, 20),
            (realism(100), 5, 50),  # each rater judges one generator; half of the images are real
            (realism(100, between=False), 5, 10),
        ],
    )
    def test_by_hand(self, question: AnyQuestion, generators: int, answers: int) -> None:
        assert Plan(question, 0.1, generators=generators).answers_each == answers

    def test_hours_and_cost_by_hand(self) -> None:
        # 60 trials, 2 for training, 4 repeats, gold after every 20 (3) and attention after every 30 (2): 71 trials
        # of 6 s are 426 s; 10 raters at 18 an hour: 4260 s = 1.1833 h, 21.30
        question = pair(60, training=2, repeats=4, gold_every=20, attention_every=30)
        plan = Plan(question, 0.2, hourly_wage=18.0)
        assert plan.hours_each == pytest.approx(426 / 3600)
        point = power_curve(plan, [10], studies=50, rng=np.random.default_rng(0))[0]
        assert (point.raters, point.answers) == (10, 600)
        assert point.hours == pytest.approx(1.18333, abs=1e-5)
        assert point.cost == pytest.approx(21.30)


class TestFormula:
    """The numbers that the literature gives for α = .05 and a power of .8, answers independent."""

    @pytest.mark.parametrize(("proportion", "votes"), [(0.52, 4904), (0.55, 783), (0.60, 194)])
    def test_preferences(self, proportion: float, votes: int) -> None:
        plan = Plan(pair(1), proportion - 0.5, rater_share=0.0)
        sample_size = closed_form(plan)
        assert (
            sample_size.independent_answers,
            sample_size.design_effect,
            sample_size.answers,
            sample_size.raters,
        ) == (*(votes, 1.0, votes, votes),)

    @pytest.mark.parametrize(("difference", "ratings"), [(0.1, 1272), (0.2, 318), (0.3, 142), (0.5, 51)])
    def test_mean_opinions(self, difference: float, ratings: int) -> None:
        assert closed_form(Plan(rating(2), difference, rater_share=0.0)).independent_answers == ratings

    def test_error_rates_need_raters_for_each_generator(self) -> None:
        # 1,565 answers per generator at 50 against 45 %; 100 trials, half real: 50 answers each, 32 raters (31.3)
        sample_size = closed_form(Plan(realism(100), 0.05, rater_share=0.0))
        assert (sample_size.independent_answers, sample_size.raters) == (1565, 64)
        # the same raters judge both: 25 answers about each, 63 raters (62.6)
        assert closed_form(Plan(realism(100, between=False), 0.05, rater_share=0.0)).raters == 63

    def test_answers_of_one_rater_are_correlated(self) -> None:
        # 200 answers per rater at ρ = .05: 1 + 199 · .05 = 10.95
        # 783 · 10.95 = 8573.85, so 8,574, of 43 raters (42.9)
        sample_size = closed_form(Plan(pair(200), 0.05, rater_share=0.05))
        assert sample_size.design_effect == pytest.approx(10.95)
        assert (sample_size.answers, sample_size.raters) == (8574, 43)

    def test_more_generators_share_the_level(self) -> None:
        # 3 generators: α = .05/3, z = 2.393980; ((2.393980 · .5 + .841621 · √.24)/.1)² = (16.0930)² = 258.98 → 259
        assert closed_form(Plan(pair(3), 0.1, generators=3, rater_share=0.0)).independent_answers == 259


def simulated(plan: Plan, raters: int, seed: int = 0) -> float:
    return power_curve(plan, [raters], studies=STUDIES, rng=np.random.default_rng(seed))[0].power.value


def about(expected: float) -> object:
    """Within four standard errors of so many simulated studies."""
    return pytest.approx(expected, abs=4 * math.sqrt(expected * (1 - expected) / STUDIES))


class TestSimulatedPower:
    """Against the noncentral t: a rater's proportion of m answers has the variance p(1−p)·(ρ + (1−ρ)/m)."""

    @pytest.mark.parametrize("rater_share", [0.0, 0.1])
    def test_preferences(self, rater_share: float) -> None:
        plan = Plan(pair(20), 0.05, rater_share=rater_share, image_share=0.0)
        sd = math.sqrt(0.55 * 0.45 * (rater_share + (1 - rater_share) / 20))
        assert simulated(plan, 40) == about(TTestPower().power(0.05 / sd, 40, 0.05))

    def test_error_rates_of_two_groups(self) -> None:
        plan = Plan(realism(40), 0.1, rater_share=0.1, image_share=0.0)
        variance = (0.5 * 0.5 + 0.4 * 0.6) / 2 * (0.1 + 0.9 / 20)
        assert simulated(plan, 60) == about(TTestIndPower().power(0.1 / math.sqrt(variance), 30, 0.05))

    def test_mean_opinions_of_the_same_raters(self) -> None:
        plan = Plan(rating(20), 0.2, rater_share=0.1, image_share=0.0)
        sd = math.sqrt(2 * 0.81 * (0.1 + 0.9 / 10))  # two means of 10 ratings each
        assert simulated(plan, 60) == about(TTestPower().power(0.2 / sd, 60, 0.05))

    def test_where_nothing_differs_the_level_is_kept(self) -> None:
        assert simulated(Plan(pair(20), 1e-9, rater_share=0.1), 30) == about(0.05)
        assert simulated(Plan(pair(60), 1e-9, generators=3, rater_share=0.1), 30) == about(0.05 / 3)

    def test_the_number_of_raters_by_formula_gives_about_its_power(self) -> None:
        plan = Plan(pair(50), 0.05, rater_share=0.05, image_share=0.0)
        assert simulated(plan, closed_form(plan).raters) == pytest.approx(0.8, abs=0.06)

    def test_more_raters_have_more_power(self) -> None:
        points = power_curve(Plan(pair(20), 0.05), [10, 40, 160], studies=300, rng=np.random.default_rng(1))
        assert points[0].power.value < points[1].power.value < points[2].power.value
        for point in points:
            assert 0 <= point.power.low <= point.power.value <= point.power.high <= 1

    def test_a_seed_reproduces_it(self) -> None:
        plan = Plan(rating(20), 0.2)
        first, same, other = (
            power_curve(plan, [20], studies=200, rng=np.random.default_rng(seed)) for seed in (3, 3, 4)
        )
        assert first == same
        assert first != other


class TestRefused:
    @pytest.mark.parametrize(
        ("plan", "message"),
        [
            (Plan(RankingQuestion(name="q", images=3), 0.1), "questions of kind ranking cannot be planned"),
            (Plan(pair(), 0.1, generators=1), "1 generators; at least 2"),
            (Plan(pair(), 0.0), "a difference of 0; it must be above 0"),
            (Plan(pair(), 0.5), r"50 % \+ 50%; it must stay below 100 %"),
            (Plan(pair(), 0.1, rater_share=1.0), "rater share 1; it must lie from 0 to below 1"),
            (Plan(pair(), 0.1, image_share=-0.1), "image share -0.1"),
            (Plan(realism(), 0.5), "error rates 0.5 and 0; both must lie between 0 and 1"),
        ],
    )
    def test_what_cannot_be_planned(self, plan: Plan, message: str) -> None:
        with pytest.raises(StudyError, match=message):
            closed_form(plan)
        with pytest.raises(StudyError, match=message):
            power_curve(plan, [10], studies=50, rng=np.random.default_rng(0))

    def test_all_faults_at_once(self) -> None:
        with pytest.raises(StudyError) as raised:
            closed_form(Plan(pair(), -1.0, generators=1, rater_share=2.0))
        assert len(raised.value.faults) == 3

    def test_too_few_raters_for_a_group(self) -> None:
        with pytest.raises(StudyError, match="5 raters for 3 generators; at least 2 per generator"):
            power_curve(Plan(realism(), 0.1, generators=3), [5], studies=50, rng=np.random.default_rng(0))
