import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from scipy.spatial.distance import cdist

from beholder.distances.cmmd import cmmd
from beholder.errors import StatisticsError

Floats = NDArray[np.float64]


def unit(vectors: Floats) -> Floats:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def by_definition(real: Floats, generated: Floats) -> float:
    def mean(rows: Floats, columns: Floats) -> float:
        return float(np.exp(-cdist(rows, columns, "sqeuclidean") / 200).mean())

    x, y = unit(real), unit(generated)
    return 1000 * (mean(x, x) + mean(y, y) - 2 * mean(x, y))


def two_sets(seed: int) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(30, 6)), rng.normal(0.5, 1, (25, 6))


def test_by_hand() -> None:
    # unit vectors: (1, 0) twice against (0, 1) twice, √2 apart: 1000 (1 + 1 − 2 exp(−2/200))
    distance = cmmd([[2.0, 0.0], [1.0, 0.0]], [[0.0, 3.0], [0.0, 1.0]])
    assert distance.value == pytest.approx(1000 * (2 - 2 * np.exp(-0.01)))


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=20)
def test_definition_and_laws(seed: int) -> None:
    real, generated = two_sets(seed)
    value = cmmd(real, generated).value
    assert value == pytest.approx(by_definition(real, generated), rel=1e-9)
    rotation = stats.ortho_group.rvs(6, random_state=np.random.default_rng(seed))
    assert cmmd(real @ rotation, generated[::-1] @ rotation).value == pytest.approx(value, rel=1e-9)
    assert cmmd(real, real).value == pytest.approx(0, abs=1e-9)
    # all but linear: ten times the squared distance of the means, less at most 2 %
    means = unit(real).mean(axis=0) - unit(generated).mean(axis=0)
    assert 0.98 * 10 * means @ means - 0.02 <= value <= 10 * means @ means + 1e-9


def test_interval_leaves_out_one_at_a_time() -> None:
    real, generated = two_sets(4)
    left_real = [by_definition(np.delete(real, i, 0), generated) for i in range(30)]
    left_generated = [by_definition(real, np.delete(generated, i, 0)) for i in range(25)]
    error = np.sqrt(29 * np.var(left_real) + 24 * np.var(left_generated))
    distance = cmmd(real, generated)
    assert distance.high - distance.value == pytest.approx(1.959964 * error, rel=1e-5)


def test_what_is_not_defined() -> None:
    with pytest.raises(StatisticsError, match="1 generated images have features of length 0, the first is row 1"):
        cmmd([[1.0], [2.0]], [[1.0], [0.0]])
