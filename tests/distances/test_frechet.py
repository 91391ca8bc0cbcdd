import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import linalg, stats
from torchmetrics.image.fid import _compute_fid

from beholder.distances.frechet import frechet, frechet_of_moments, frechet_value
from beholder.errors import StatisticsError

Floats = NDArray[np.float64]


def two_sets(seed: int, real: int, generated: int, dims: int) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    mixing = rng.normal(size=(dims, dims)) / np.sqrt(dims)
    return rng.normal(size=(real, dims)), rng.normal(0.2, 1, (generated, dims)) @ mixing


def by_definition(real: Floats, generated: Floats) -> float:
    real_covariance, generated_covariance = np.cov(real, rowvar=False), np.cov(generated, rowvar=False)
    shift = real.mean(axis=0) - generated.mean(axis=0)
    return float(
        shift @ shift
        + np.trace(real_covariance)
        + np.trace(generated_covariance)
        - 2 * np.trace(linalg.sqrtm(real_covariance @ generated_covariance).real)
    )


def test_by_hand() -> None:
    # one dim: means 1 and 4, variances 2 (0 and 2 about 1) and 8 (2 and 6): 9 + 2 + 8 − 2 √16 = 11
    assert frechet_value([[0.0], [2.0]], [[2.0], [6.0]]) == pytest.approx(11)
    # along separate axes they share no variance: |(1, 0) − (0, 1)|² + 2 + 2 − 0
    assert frechet_value([[0.0, 0.0], [2.0, 0.0]], [[0.0, 0.0], [0.0, 2.0]]) == pytest.approx(6)
    # four corners of a square, variance 4/3 each way, against the square doubled, 16/3: 2 · (4/3 + 16/3 − 2 · 8/3)
    square = np.array([[1.0, 1], [1, -1], [-1, 1], [-1, -1]])
    assert frechet(square, 2 * square).value == pytest.approx(8 / 3)
    assert frechet_of_moments([0, 0], np.eye(2), [3, 4], 4 * np.eye(2)) == pytest.approx(25 + 2 + 8 - 2 * 4)


@pytest.mark.parametrize(("real", "generated", "dims"), [(300, 200, 30), (90, 500, 64), (2000, 2000, 8)])
def test_the_definition(real: int, generated: int, dims: int) -> None:
    real_features, generated_features = two_sets(dims, real, generated, dims)
    theirs = by_definition(real_features, generated_features)
    assert frechet(real_features, generated_features).value == pytest.approx(theirs, rel=1e-9)
    assert frechet_value(real_features, generated_features) == pytest.approx(theirs, rel=1e-9)
    moments = [
        each for s in (real_features, generated_features) for each in (s.mean(axis=0), np.cov(s, rowvar=False))
    ]
    assert frechet_of_moments(*moments) == pytest.approx(theirs, rel=1e-9)
    torches = [torch.from_numpy(each) for each in moments]
    assert frechet_value(real_features, generated_features) == pytest.approx(
        float(_compute_fid(*torches)), rel=1e-6
    )
    # torch-fidelity's formula: eigenvalues of the product
    eigenvalues = np.linalg.eigvals(moments[1] @ moments[3]).astype(np.complex128)
    shift = moments[0] - moments[2]
    fidelity = shift @ shift + np.trace(moments[1]) + np.trace(moments[3]) - 2 * np.sqrt(eigenvalues).real.sum()
    assert frechet_value(real_features, generated_features) == pytest.approx(float(fidelity), rel=1e-6)


@pytest.mark.parametrize(("real", "generated"), [(20, 30), (20, 200), (200, 20), (2, 2), (51, 51)])
def test_fewer_images_than_dims(real: int, generated: int) -> None:
    real_features, generated_features = two_sets(7, real, generated, 50)
    # by another way: nuclear norm of the products, in eigenvalues of the full covariance matrices
    roots = [linalg.eigh(np.cov(each, rowvar=False)) for each in (real_features, generated_features)]
    halves = [vectors * np.sqrt(np.maximum(values, 0)) @ vectors.T for values, vectors in roots]
    shift = real_features.mean(axis=0) - generated_features.mean(axis=0)
    theirs = shift @ shift + sum(np.sum(h * h) for h in halves) - 2 * np.linalg.norm(halves[0] @ halves[1], "nuc")
    assert frechet_value(real_features, generated_features) == pytest.approx(theirs, rel=1e-6)
    assert frechet(real_features, generated_features).value == pytest.approx(
        frechet_value(real_features, generated_features), rel=1e-12
    )


def test_dead_features_cost_no_digits() -> None:
    real, generated = two_sets(3, 300, 300, 12)
    theirs = by_definition(real, generated)
    dead = np.zeros((300, 3))
    wide_real, wide_generated = (
        np.hstack([real, dead, real[:, :2]]),
        np.hstack([generated, dead, generated[:, :2]]),
    )
    doubled = by_definition(real * ([np.sqrt(2)] * 2 + [1] * 10), generated * ([np.sqrt(2)] * 2 + [1] * 10))
    assert frechet_value(np.hstack([real, dead]), np.hstack([generated, dead])) == pytest.approx(theirs, rel=1e-9)
    assert frechet_value(wide_real, wide_generated) == pytest.approx(
        doubled, rel=1e-9
    )  # a feature twice is one, longer
    assert frechet(wide_real, wide_generated).value == pytest.approx(doubled, rel=1e-9)


@given(st.integers(0, 2**32 - 1), st.sampled_from([(40, 60, 8), (12, 9, 20), (12, 80, 20)]))
@settings(max_examples=20)
def test_laws(seed: int, shape: tuple[int, int, int]) -> None:
    real, generated = two_sets(seed, *shape)
    value = frechet_value(real, generated)
    rng = np.random.default_rng(seed)
    rotation = stats.ortho_group.rvs(shape[2], random_state=rng)
    scale = value + float(real.var() + generated.var())
    assert frechet_value(real[rng.permutation(len(real))], generated) == pytest.approx(value, abs=1e-9 * scale)
    assert frechet_value(real @ rotation + 5, generated @ rotation + 5) == pytest.approx(value, abs=1e-9 * scale)
    assert frechet_value(generated, real) == pytest.approx(value, abs=1e-9 * scale)
    assert frechet_value(3 * real, 3 * generated) == pytest.approx(9 * value, abs=1e-8 * scale)
    assert frechet_value(real, real) == pytest.approx(0, abs=1e-10 * scale)
    shifts = [frechet_value(real, real + shift) for shift in (0.1, 0.5, 2.0)]
    assert shifts == pytest.approx([shape[2] * shift**2 for shift in (0.1, 0.5, 2.0)])
    distance = frechet(real, generated)
    assert distance.value == pytest.approx(value, abs=1e-9 * scale)
    assert 0 <= distance.low <= distance.value <= distance.high


def test_covariances_that_are_nearly_singular() -> None:
    # variances that fall off by eight powers of ten, mixed: a condition number as of networks' features, and worse
    rng = np.random.default_rng(4)
    mixing = np.logspace(0, -4, 40)[:, None] * stats.ortho_group.rvs(40, random_state=rng)
    real, generated = rng.normal(size=(400, 40)) @ mixing, rng.normal(0.1, 1.2, (300, 40)) @ mixing
    singular = (
        np.linalg.qr((real - real.mean(axis=0)) / np.sqrt(399))[1]
        @ np.linalg.qr((generated - generated.mean(axis=0)) / np.sqrt(299))[1].T
    )
    shift = real.mean(axis=0) - generated.mean(axis=0)
    theirs = shift @ shift + real.var(axis=0, ddof=1).sum() + generated.var(axis=0, ddof=1).sum()
    theirs -= 2 * np.linalg.norm(singular, "nuc")
    assert frechet_value(real, generated) == pytest.approx(theirs, rel=1e-9)


def test_single_precision_is_summed_in_double() -> None:
    real, generated = two_sets(1, 500, 500, 10)
    far_real, far_generated = (real + 1000).astype(np.float32), (generated + 1000).astype(np.float32)
    assert frechet_value(far_real, far_generated) == pytest.approx(
        frechet_value(far_real.astype(np.float64), far_generated.astype(np.float64)), rel=1e-12
    )


@pytest.mark.parametrize(("images", "dims"), [(80, 10), (25, 40)])
def test_interval_is_that_of_weights(images: int, dims: int) -> None:
    # The influence of an image is what a little more weight on it changes: by difference quotient.
    real, generated = two_sets(5, images, images, dims)

    def weighted(weights: Floats, mirrored: bool) -> float:
        mean = weights @ (generated if mirrored else real)
        half = np.sqrt(weights)[:, None] * ((generated if mirrored else real) - mean)
        other = real if mirrored else generated
        fixed = (other - other.mean(axis=0)) / np.sqrt(images)
        shift = mean - other.mean(axis=0)
        return float(
            shift @ shift + (half**2).sum() + (fixed**2).sum() - 2 * np.linalg.norm(half @ fixed.T, "nuc")
        )

    even, step, total = np.full(images, 1 / images), 1e-6, 0.0
    for mirrored in (False, True):
        slopes = []
        for image in range(images):
            more = even * (1 - step)
            more[image] += step
            slopes.append((weighted(more, mirrored) - weighted(even, mirrored)) / step)
        total += float(np.var(slopes, ddof=1)) / images
    distance = frechet(real, generated)
    assert (distance.high - distance.value) / 1.959964 == pytest.approx(np.sqrt(total), rel=0.05)


def test_what_is_not_defined() -> None:
    good = np.ones((3, 2))
    with pytest.raises(StatisticsError, match="0 real images; needed are at least 2; 1 generated images"):
        frechet(np.empty((0, 2)), [[1.0, 2.0]])
    with pytest.raises(StatisticsError, match=r"1 of 3 real images have NaN.*row 1.*2 of 3 generated.*row 0"):
        frechet([[1.0, 2.0], [np.nan, 1.0], [0.0, 0.0]], [[np.inf, 2.0], [np.nan, 1.0], [0.0, 0.0]])
    with pytest.raises(StatisticsError, match="have 2 dims and the generated 3; use one encoder"):
        frechet(good, np.ones((3, 3)))
    with pytest.raises(StatisticsError, match=r"shape \(3,\); needed is \(images, dims\)"):
        frechet(np.ones(3), good)
    with pytest.raises(StatisticsError, match="found <U1"):
        frechet([["a"]], good)
    with pytest.raises(StatisticsError, match="level between 0 and 1; found 95"):
        frechet(good, good, level=95)
    assert frechet(good, good).value == frechet(good, good).high == 0  # all images alike
    assert frechet(good, good + 1).value == pytest.approx(2)
