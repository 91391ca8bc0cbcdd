"""The likelihood of answers: by hand, against scikit-learn, and by law."""

import numpy as np
import pytest
from sklearn.metrics import log_loss

from beholder.errors import StatisticsError
from beholder.stats.intervals.bootstrap import rater_weights
from beholder.stats.prediction.soft_label_likelihood import generator_proportions, soft_label_likelihood

PROMPTS = np.array([0, 1, 2, 3])
SAID, ASKED = np.array([1, 3, 0, 2]), np.array([2, 4, 3, 2])
GENERATORS = np.array([0, 0, 1, 1])


def weights(clusters: int, seed: int = 0) -> np.ndarray:
    return rater_weights(np.zeros(clusters, np.int64), 500, np.random.default_rng(seed))


class TestByHand:
    def test_generators_speak_for_the_other_half(self) -> None:
        # even prompts: images 0 and 2; odd: 1 and 3. Image 0 gets (3 + 1)/(4 + 2), 1 gets (1 + 1)/(2 + 2), …
        expected = [4 / 6, 2 / 4, 3 / 4, 1 / 5]
        assert generator_proportions(SAID, ASKED, GENERATORS, PROMPTS) == pytest.approx(expected)

    def test_an_answer(self) -> None:
        predicted = np.array([0.5, 0.75, 0.1, 0.9])
        model = 2 * np.log(0.5) + 3 * np.log(0.75) + np.log(0.25) + 3 * np.log(0.9) + 2 * np.log(0.9)
        plain = np.log(4 / 6) + np.log(2 / 6) + 4 * np.log(0.5) + 3 * np.log(0.25) + 2 * np.log(0.2)
        likelihood = soft_label_likelihood(predicted, SAID, ASKED, GENERATORS, weights(4), clusters=PROMPTS)
        assert likelihood.predictions.value == pytest.approx(model / 11)
        assert likelihood.generators.value == pytest.approx(plain / 11)
        assert likelihood.gain.value == pytest.approx((model - plain) / 11)


def test_against_scikit_learn() -> None:
    rng = np.random.default_rng(1)
    predicted = rng.uniform(0.05, 0.95, 200)
    yes = (rng.random(200) < predicted).astype(np.float64)
    prompts = np.arange(200)
    likelihood = soft_label_likelihood(
        predicted, yes, np.ones(200), np.zeros(200, np.int64), weights(200), clusters=prompts
    )
    assert -likelihood.predictions.value == pytest.approx(log_loss(yes, predicted), abs=1e-9)
    assert likelihood.predictions.low < likelihood.predictions.value < likelihood.predictions.high


class TestLaws:
    def test_nothing_beats_the_true_proportions_and_generators_alone_gain_nothing(self) -> None:
        rng = np.random.default_rng(2)
        generators, prompts = np.arange(3000) % 3, np.arange(3000) // 3
        proportion = np.clip(np.array([0.2, 0.5, 0.8])[generators] + rng.uniform(-0.2, 0.2, 3000), 0, 1)
        answers = rng.integers(1, 8, 3000)
        yes = rng.binomial(answers, proportion)
        drawn = weights(1000)
        true, steep, plain = (
            soft_label_likelihood(predicted, yes, answers, generators, drawn, clusters=prompts)
            for predicted in (
                proportion,
                np.clip(0.5 + 1.5 * (proportion - 0.5), 0, 1),
                np.array([0.2, 0.5, 0.8])[generators],
            )
        )
        assert true.gain.low > 0
        assert true.predictions.value > steep.predictions.value
        assert plain.gain.low < 0.001
        assert plain.gain.value == pytest.approx(0, abs=0.001)
        assert true.gain.value == pytest.approx(true.predictions.value - true.generators.value)

    def test_certainty_against_one_answer_is_finite(self) -> None:
        likelihood = soft_label_likelihood([0.0] * 4, SAID, ASKED, GENERATORS, weights(4), clusters=PROMPTS)
        assert np.isfinite(likelihood.predictions.value)


def test_a_generator_for_every_image() -> None:
    with pytest.raises(StatisticsError, match="each of 4 images needs a generator"):
        generator_proportions(SAID, ASKED, GENERATORS[:3], PROMPTS)
