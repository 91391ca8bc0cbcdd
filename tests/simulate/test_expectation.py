"""Expected ratings in closed form, against simulated raters who answer."""

from typing import ClassVar

import numpy as np
import polars as pl
import pytest
from scipy.stats import norm

from beholder.simulate import expectation
from beholder.simulate.answering import answer
from beholder.simulate.expectation import (
    chance_of_generated,
    expected_opinion,
    expected_ratings,
    expected_votes,
)
from beholder.simulate.raters import SimulatedRater, draw_raters
from beholder.simulate.sight import ASPECTS, View, sight_of
from beholder.study.kinds.catalogue import AnyQuestion
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.ranking import RankingQuestion
from beholder.study.kinds.rating import RatingQuestion
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.question import Aspect
from beholder.tables.catalogue import TABLES

RATERS = draw_raters(40, 0, np.random.default_rng(0))
EACH = 60


def view(detectability: float, quality: float) -> View:
    return View(detectability, dict.fromkeys(ASPECTS, quality))


def brute(question: AnyQuestion, *views: View) -> list[str]:
    """Answers of all raters, each several times."""
    rng = np.random.default_rng(1)
    sight = sight_of(views)
    return [
        answer(rater, question, sight, instruction=None, progress=0, exposure_ms=None, rng=rng)
        .response.answers[0]
        .text
        for rater in RATERS
        for _ in range(EACH)
    ]


def within_four_errors(estimate: float, expected: float, spread: float) -> bool:
    return bool(abs(estimate - expected) < 4 * spread / np.sqrt(len(RATERS) * EACH))


def test_chance_of_generated_hand_worked() -> None:
    single_rater = (SimulatedRater("p", "noisy", acuity=2.0, criterion=1.0, lapse=0.1),)
    # .9 · Φ(2 · .75 − 1) + .1 · ½ = .9 · Φ(.5) + .05
    assert chance_of_generated(np.asarray([0.75]), single_rater)[0] == pytest.approx(0.9 * 0.6914625 + 0.05)


@pytest.mark.parametrize("detectability", [0.0, 1.0, 2.5])
def test_chance_of_generated_by_brute_force(detectability: float) -> None:
    expected = float(chance_of_generated(np.asarray([detectability]), RATERS)[0])
    share = np.mean([text == "generated" for text in brute(RealismQuestion(name="q"), view(detectability, 0.5))])
    assert within_four_errors(float(share), expected, np.sqrt(expected * (1 - expected)))


def test_votes_hand_worked() -> None:
    single_rater = (SimulatedRater("p", "noisy", noise=0.1, indifference=0.1, lapse=0.0),)
    # the gap felt is normal about .2 with SD .1√2: left Φ((.2 − .1)/.1414) = Φ(.7071), right Φ(−2.1213)
    left, right, tie = expected_votes(PairQuestion(name="q"), np.asarray([0.2]), single_rater)[0]
    assert left == pytest.approx(norm.cdf(0.1 / (0.1 * np.sqrt(2))))
    assert right == pytest.approx(norm.cdf(-0.3 / (0.1 * np.sqrt(2))))
    assert left + right + tie == pytest.approx(1)


@pytest.mark.parametrize("ties", [True, False])
@pytest.mark.parametrize("gap", [-0.2, 0.0, 0.1])
def test_votes_by_brute_force(ties: bool, gap: float) -> None:
    question = PairQuestion(name="q", ties=ties)
    expected = expected_votes(question, np.asarray([gap]), RATERS)[0]
    texts = brute(question, view(0, 0.5 + gap), view(0, 0.5))
    assert expected.sum() == pytest.approx(1)
    for choice, chance in zip(("left", "right", "tie"), expected, strict=True):
        proportion = float(np.mean([text == choice for text in texts]))
        assert (
            within_four_errors(proportion, chance, max(np.sqrt(chance * (1 - chance)), 1e-9))
            or proportion == chance
        )


@pytest.mark.parametrize("points", [5, 2, 0])
@pytest.mark.parametrize("quality", [0.05, 0.5, 0.95])
def test_opinion_by_brute_force(points: int, quality: float) -> None:
    question = RatingQuestion(name="q", points=points)
    ratings = np.asarray([float(text) for text in brute(question, view(0, quality))])
    expected = float(expected_opinion(question, np.asarray([quality]), RATERS)[0])
    assert within_four_errors(float(ratings.mean()), expected, float(ratings.std()))


def test_opinion_hand_worked() -> None:
    single_rater = (SimulatedRater("p", "noisy", noise=1e-9, leniency=0.1, lapse=0.2),)
    # feels .6 + .1 = .7, which is 3.8 on the scale from 1 to 5: 4 points; a lapse gives 3 on average
    question = RatingQuestion(name="q")
    assert expected_opinion(question, np.asarray([0.6]), single_rater)[0] == pytest.approx(0.8 * 4 + 0.2 * 3)


class TestPlantedRatings:
    VIEWS: ClassVar = {
        "r0": view(0, 1),
        "r1": view(0, 1),
        "a0": view(0.5, 0.9),
        "a1": view(1.0, 0.8),
        "b0": view(2.0, 0.5),
        "b1": view(3.0, 0.4),
    }

    @property
    def images(self) -> pl.DataFrame:
        columns = {"path": "x", "gold": False, "width": 1, "height": 1, "sha256": "x"}
        generator = {"r": "real", "a": "a", "b": "b"}
        return TABLES["images"].frame(
            [columns | {"image": i, "generator": generator[i[0]], "real": i[0] == "r"} for i in self.VIEWS]
        )

    def trials(self, *slots_and_images: tuple[int, list[str]]) -> pl.DataFrame:
        return pl.DataFrame({"slot": [s for s, _ in slots_and_images], "images": [i for _, i in slots_and_images]})

    def expected(self, question: AnyQuestion, trials: pl.DataFrame) -> dict[tuple[str, str, str], float]:
        rows = expected_ratings(question, trials, self.images, self.VIEWS, rng=np.random.default_rng(7))
        ratings = TABLES["ratings"].frame(rows)
        return {
            (a, m, g): r for a, m, g, r in ratings.select("aspect", "method", "generator", "rating").iter_rows()
        }

    def raters(self) -> tuple[SimulatedRater, ...]:
        return draw_raters(expectation.HONEST_RATERS, 0, np.random.default_rng(7))

    def test_error_rates(self) -> None:
        trials = self.trials((0, ["a0"]), (0, ["a1"]), (0, ["r0"]), (1, ["b0"]), (1, ["b1"]), (1, ["r1"]))
        ratings = self.expected(RealismQuestion(name="q"), trials)
        called_generated = chance_of_generated(np.asarray([0, 0.5, 1.0, 2.0, 3.0]), self.raters())
        fake = {
            "a": 1 - (called_generated[1] + called_generated[2]) / 2,
            "b": 1 - (called_generated[3] + called_generated[4]) / 2,
        }
        for generator in "ab":
            assert ratings["realism", "fake-error-rate", generator] == pytest.approx(fake[generator])
            assert ratings["realism", "real-error-rate", generator] == pytest.approx(called_generated[0])
            assert ratings["realism", "error-rate", generator] == pytest.approx(
                (fake[generator] + called_generated[0]) / 2
            )
        assert len(ratings) == 6

    def test_bradley_terry_of_two_is_the_log_odds(self) -> None:
        trials = self.trials((0, ["a0", "b0"]), (1, ["b0", "a0"]))
        ratings = self.expected(PairQuestion(name="q", ties=False), trials)
        left, right, _ = expected_votes(PairQuestion(name="q", ties=False), np.asarray([0.4]), self.raters())[0]
        odds = float(np.log(left / right))
        assert ratings["preference", "bradley-terry", "a"] == pytest.approx(odds / 2, abs=1e-6)
        assert ratings["preference", "bradley-terry", "b"] == pytest.approx(-odds / 2, abs=1e-6)

    def test_mean_opinions(self) -> None:
        question = RatingQuestion(
            name="q", aspects=(Aspect(name="quality", text="?"), Aspect(name="charm", text="?"))
        )
        ratings = self.expected(question, self.trials((0, ["a0"]), (0, ["a1"]), (0, ["b0"]), (1, ["a0"])))
        nine, eight, five = expected_opinion(question, np.asarray([0.9, 0.8, 0.5]), self.raters())
        assert ratings["quality", "mean-opinion", "a"] == pytest.approx((2 * nine + eight) / 3)
        assert ratings["quality", "mean-opinion", "b"] == pytest.approx(five)
        assert ratings["charm", "mean-opinion", "b"] == pytest.approx(five)  # unknown: rated as overall

    def test_other_kinds_have_none(self) -> None:
        assert self.expected(RankingQuestion(name="q"), self.trials((0, ["a0", "a1", "b0", "b1"]))) == {}

    def test_blocks_change_nothing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        trials = self.trials((0, ["a0"]), (0, ["a1"]), (0, ["r0"]), (0, ["b0"]), (0, ["b1"]))
        in_one_block = self.expected(RealismQuestion(name="q"), trials)
        monkeypatch.setattr(expectation, "BLOCK", 2)
        assert self.expected(RealismQuestion(name="q"), trials) == pytest.approx(in_one_block)
