import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from beholder.distances.vendi import vendi, vendi_ratio
from beholder.errors import StatisticsError


def by_definition(vectors: NDArray[np.float64]) -> float:
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    values = np.linalg.eigvalsh(unit @ unit.T / len(unit))
    values = values[values > 1e-14]
    return float(np.exp(-(values * np.log(values)).sum()))


def test_by_hand() -> None:
    assert vendi(np.eye(4)).value == pytest.approx(4)  # at right angles
    assert vendi([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]]).value == pytest.approx(1)  # one direction
    # two of one kind, one of another: proportions ⅔ and ⅓
    third = np.exp(-(2 / 3 * np.log(2 / 3) + 1 / 3 * np.log(1 / 3)))
    assert vendi([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]).value == pytest.approx(third)
    # 60° apart: K/2 has eigenvalues ½(1 ± ½)
    sixty = [[1.0, 0], [0.5, np.sqrt(0.75)]]
    assert vendi(sixty).value == pytest.approx(np.exp(-(0.75 * np.log(0.75) + 0.25 * np.log(0.25))))


@given(st.integers(0, 2**32 - 1), st.sampled_from([(30, 8), (8, 30)]))
@settings(max_examples=20)
def test_definition_and_laws(seed: int, shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=shape)
    score = vendi(vectors)
    assert score.value == pytest.approx(by_definition(vectors), rel=1e-9)
    rotation = stats.ortho_group.rvs(shape[1], random_state=rng)
    lengths = rng.uniform(0.5, 2, (shape[0], 1))
    assert vendi(lengths * vectors[::-1] @ rotation).value == pytest.approx(score.value)
    assert vendi(np.concatenate([vectors, vectors])).value == pytest.approx(score.value)
    assert 1 <= score.low <= score.value <= score.high <= 8


@pytest.mark.parametrize("shape", [(30, 5), (6, 9)])
def test_interval_is_that_of_weights(shape: tuple[int, int]) -> None:
    vectors = np.random.default_rng(1).normal(size=shape)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    even, step = np.full(len(unit), 1 / len(unit)), 1e-6

    def entropy(weights: NDArray[np.float64]) -> float:
        values = np.linalg.eigvalsh((unit * weights[:, None]).T @ unit)
        values = values[values > 1e-12]
        return float(-(values * np.log(values)).sum())

    slopes = []
    for image in range(len(unit)):
        more = even * (1 - step)
        more[image] += step
        slopes.append((entropy(more) - entropy(even)) / step)
    error = np.std(slopes, ddof=1) / np.sqrt(len(unit))
    score = vendi(vectors)
    assert np.log(score.value / score.low) == pytest.approx(1.959964 * error, rel=1e-3)


def test_what_is_not_defined() -> None:
    with pytest.raises(StatisticsError, match="1 images have features of length 0, the first is row 1"):
        vendi([[1.0], [0.0]])
    with pytest.raises(StatisticsError, match="0 generated images"):
        vendi(np.empty((0, 3)))


def test_the_ratio_of_pairs_is_that_of_the_scores_and_more_certain() -> None:
    rng = np.random.default_rng(2)
    before = rng.normal(size=(60, 12))
    after = before + 0.1 * rng.normal(size=before.shape)
    after[:, 6:] *= 0.5
    ratio, low, high = vendi_ratio(before, after)
    first, second = vendi(before), vendi(after)
    assert ratio == pytest.approx(second.value / first.value)
    assert low < ratio < high < 1
    independent = np.hypot(np.log(first.high / first.low), np.log(second.high / second.low))
    assert np.log(high / low) < 0.8 * independent
    assert vendi_ratio(before, before) == (1, 1, 1)
    with pytest.raises(StatisticsError, match="pairs of images; found 60 and 59"):
        vendi_ratio(before, after[1:])


def test_the_interval_of_the_ratio_covers_it() -> None:
    """The ratio of 20,000 pairs is nearly that of the population; samples of 80 cover it."""
    rng = np.random.default_rng(4)

    def drawn(count: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        rows = rng.normal(size=(count, 4))
        return rows, rows * [1, 1, 0.6, 0.6] + 0.2 * rng.normal(size=rows.shape)

    true = vendi_ratio(*drawn(20_000))[0]
    intervals = [vendi_ratio(*drawn(80)) for _ in range(200)]
    assert np.mean([low <= true <= high for _, low, high in intervals]) >= 0.9
