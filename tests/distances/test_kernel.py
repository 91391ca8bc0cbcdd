import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from torchmetrics.image.kid import poly_mmd

from beholder.distances import kernel_sums
from beholder.distances.kernel import kernel_distance, kernel_of_subsets, kernel_subsets
from beholder.errors import StatisticsError

Floats = NDArray[np.float64]


def by_definition(real: Floats, generated: Floats) -> float:
    def k(rows: Floats, columns: Floats) -> Floats:
        return np.asarray((rows @ columns.T / rows.shape[1] + 1) ** 3)

    n, m = len(real), len(generated)
    within_real = (k(real, real).sum() - np.trace(k(real, real))) / (n * (n - 1))
    within_generated = (k(generated, generated).sum() - np.trace(k(generated, generated))) / (m * (m - 1))
    return float(within_real + within_generated - 2 * k(real, generated).mean())


def two_sets(seed: int, real: int = 40, generated: int = 30, dims: int = 5) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(real, dims)), rng.normal(0.3, 1.2, (generated, dims))


def test_by_hand() -> None:
    # one dim, k = (xy + 1)³: real 0, 1: k = 1; generated 1, 2: k = 27; across: 1, 1, 8, 27, mean 37/4
    assert kernel_distance([[0.0], [1.0]], [[1.0], [2.0]]).value == pytest.approx(1 + 27 - 2 * 37 / 4)


def test_blocks_and_definition(monkeypatch: pytest.MonkeyPatch) -> None:
    real, generated = two_sets(1)
    theirs = by_definition(real, generated)
    assert kernel_distance(real, generated).value == pytest.approx(theirs, rel=1e-10)
    monkeypatch.setattr(kernel_sums, "_BLOCK", 7)
    assert kernel_distance(real, generated).value == pytest.approx(theirs, rel=1e-10)


def test_against_torchmetrics() -> None:
    real, generated = two_sets(2, 50, 50, 64)
    theirs = poly_mmd(torch.from_numpy(real), torch.from_numpy(generated))
    assert kernel_distance(real, generated).value == pytest.approx(float(theirs), rel=1e-6)
    assert kernel_subsets(real, generated, rng=np.random.default_rng(0), subsets=3).value == pytest.approx(
        float(theirs), rel=1e-6
    )


@pytest.mark.parametrize("size", [5, 25])  # few pairs: subset by subset; many: all pairs once
def test_subsets_are_those_drawn(size: int) -> None:
    real, generated = two_sets(3)
    rng = np.random.default_rng(0)
    subset_rows = [(rng.choice(40, size, replace=False), rng.choice(30, size, replace=False)) for _ in range(20)]
    theirs = [by_definition(real[rows], generated[columns]) for rows, columns in subset_rows]
    assert kernel_of_subsets(real, generated, subset_rows) == pytest.approx(np.array(theirs), rel=1e-9)
    distance = kernel_subsets(real, generated, rng=np.random.default_rng(0), subsets=20, size=size)
    assert distance.value == pytest.approx(np.mean(theirs))
    assert (distance.low, distance.high) == pytest.approx(tuple(np.quantile(theirs, [0.025, 0.975])))
    assert distance.settings == {"subsets": 20, "size": size}


def test_interval_leaves_out_one_at_a_time() -> None:
    real, generated = two_sets(4, 12, 15)
    left_real = [by_definition(np.delete(real, i, 0), generated) for i in range(12)]
    left_generated = [by_definition(real, np.delete(generated, i, 0)) for i in range(15)]
    error = np.sqrt(11 * np.var(left_real) + 14 * np.var(left_generated))
    distance = kernel_distance(real, generated)
    assert distance.high - distance.value == pytest.approx(1.959964 * error, rel=1e-5)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=20)
def test_laws(seed: int) -> None:
    real, generated = two_sets(seed)
    value = kernel_distance(real, generated).value
    rng = np.random.default_rng(seed)
    rotation = stats.ortho_group.rvs(5, random_state=rng)
    assert kernel_distance(real @ rotation, generated @ rotation).value == pytest.approx(value, abs=1e-10)
    assert kernel_distance(real[rng.permutation(40)], generated).value == pytest.approx(value, abs=1e-10)
    assert kernel_distance(generated, real).value == pytest.approx(value, abs=1e-10)
    away = [kernel_distance(real, real + shift).value for shift in (0.5, 1, 2)]
    assert away == sorted(away)


def test_no_bias() -> None:
    # a tenth of the images, the same distance on average
    rng = np.random.default_rng(0)
    real_pool, generated_pool = rng.normal(size=(3000, 4)), rng.normal(0.5, 1, (3000, 4))
    all_pairs = kernel_distance(real_pool, generated_pool)
    few = [kernel_distance(real_pool[i::100], generated_pool[i::100]).value for i in range(100)]
    assert np.mean(few) == pytest.approx(all_pairs.value, abs=4 * float(np.std(few)) / 10)


def test_what_is_not_defined() -> None:
    assert np.isnan(kernel_distance([[0.0], [1.0]], [[1.0], [2.0]]).low)  # nothing left to leave out
    with pytest.raises(StatisticsError, match="1 real images; needed are at least 2"):
        kernel_distance([[1.0]], [[1.0], [2.0]])
    with pytest.raises(StatisticsError, match="2 subsets of 2 images are the least; found 1, 1000"):
        kernel_subsets([[1.0], [2.0]], [[1.0], [2.0]], rng=np.random.default_rng(0), subsets=1)
