import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import optimize
from scipy.spatial.distance import cdist

from beholder.distances.sliced_wasserstein import sliced_wasserstein
from beholder.errors import StatisticsError

Floats = NDArray[np.float64]


def sliced(real: Floats, generated: Floats, seed: int = 0, directions: int = 20) -> float:
    return sliced_wasserstein(real, generated, rng=np.random.default_rng(seed), directions=directions).value


def test_by_hand() -> None:
    # on a line every direction is the line: 0, 1 against 2, 5: (4 + 16)/2
    assert sliced(np.array([[0.0], [1]]), np.array([[5.0], [2]])) == pytest.approx(np.sqrt(10))
    # two against three, 0, 6 against 0, 3, 6: a third of the mass meets 0–0, a sixth each 0–3 and 6–3, a third 6–6
    assert sliced(np.array([[0.0], [6]]), np.array([[0.0], [3], [6]])) == pytest.approx(np.sqrt(3))


def test_against_assignment() -> None:
    # optimal assignment along each direction, by another algorithm; unequal sets by repeating images
    rng = np.random.default_rng(1)
    real, generated = rng.normal(size=(12, 4)), rng.normal(0.5, 2, (8, 4))
    lines = np.random.default_rng(0).standard_normal((20, 4))
    lines /= np.linalg.norm(lines, axis=1, keepdims=True)
    squared = []
    for line in lines:
        cost = cdist(np.repeat(real @ line, 2)[:, None], np.repeat(generated @ line, 3)[:, None], "sqeuclidean")
        squared.append(cost[optimize.linear_sum_assignment(cost)].mean())
    assert sliced(real, generated) == pytest.approx(np.sqrt(np.mean(squared)))


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=20)
def test_laws(seed: int) -> None:
    rng = np.random.default_rng(seed)
    real, generated = rng.normal(size=(30, 5)), rng.normal(0.5, 2, (21, 5))
    value = sliced(real, generated)
    assert sliced(real[::-1], generated[rng.permutation(21)]) == pytest.approx(value)
    assert sliced(generated, real) == pytest.approx(value)
    assert sliced(3 * real + 1, 3 * generated + 1) == pytest.approx(3 * value)
    assert sliced(real, real) == 0
    shifts = [sliced(real, real + shift) for shift in (0.1, 1, 4)]
    assert shifts == pytest.approx([shifts[0] * 10 * shift for shift in (0.1, 1, 4)])
    distance = sliced_wasserstein(real, generated, rng=rng, directions=20)
    assert 0 <= distance.low <= distance.value <= distance.high


def test_many_directions_turn_with_the_sets() -> None:
    # rotations change the value only by the draw of directions: shift by 1 along an axis is 1/√dims
    real = np.random.default_rng(0).normal(size=(50, 4))
    distance = sliced(real, real + np.array([1.0, 0, 0, 0]), directions=4000)
    assert distance == pytest.approx(0.5, rel=0.03)


def test_interval_is_the_spread_of_samples() -> None:
    rng = np.random.default_rng(2)
    values, errors = [], []
    for _ in range(60):
        real, generated = rng.normal(size=(200, 3)), rng.normal(0.5, 1.5, (150, 3))
        distance = sliced_wasserstein(real, generated, rng=np.random.default_rng(0), directions=10)
        values.append(distance.value)
        errors.append((distance.high - distance.value) / 1.959964)
    assert np.mean(errors) == pytest.approx(np.std(values, ddof=1), rel=0.3)


def test_what_is_not_defined() -> None:
    with pytest.raises(StatisticsError, match="at least one direction"):
        sliced(np.ones((3, 2)), np.ones((3, 2)), directions=0)
    with pytest.raises(StatisticsError, match="1 real images"):
        sliced(np.ones((1, 2)), np.ones((3, 2)))
