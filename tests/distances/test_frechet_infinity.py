import numpy as np
import pytest

from beholder.distances.frechet import frechet, frechet_value
from beholder.distances.frechet_infinity import frechet_by_size, frechet_infinity, subset_sizes
from beholder.errors import StatisticsError


def test_sizes_as_published() -> None:
    assert subset_sizes(50_000).tolist()[:2] == [5000, 8214]
    assert subset_sizes(50_000)[-1] == 50_000
    assert subset_sizes(1000)[0] == 100
    assert len(subset_sizes(1000)) == 15


@pytest.mark.parametrize(("real", "dims"), [(300, 40), (30, 40), (300, 150), (40, 40), (300, 12)])
def test_nested_sums_are_separate_distances(real: int, dims: int) -> None:
    rng = np.random.default_rng(dims)
    real_features = rng.normal(size=(real, dims)).astype(np.float32)
    generated_features = (rng.normal(size=(400, dims)) @ rng.normal(size=(dims, dims)) / 4 + 3).astype(np.float32)
    sizes = subset_sizes(400)
    separate = [frechet_value(real_features, generated_features[:size]) for size in sizes]
    assert frechet_by_size(real_features, generated_features, sizes) == pytest.approx(separate, rel=1e-8)


def test_mapping_covariances_or_images_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    scale = 10.0 ** (-np.arange(12)[:, None] / 3)  # variances from 1 down to 10⁻⁷
    real, generated = (
        rng.normal(shift, 1, (3000, 12)) @ (scale * rng.normal(size=(12, 12))) for shift in (0, 0.1)
    )
    sizes = subset_sizes(3000)
    covariances = frechet_by_size(real, generated, sizes)
    monkeypatch.setattr("beholder.distances.frechet_infinity.MANY", np.inf)
    images = frechet_by_size(real, generated, sizes)
    assert (covariances != images).any()  # rounding
    assert covariances == pytest.approx(images, rel=1e-9)


def test_singular_real_images() -> None:
    rng = np.random.default_rng(0)
    real, generated = rng.normal(size=(200, 6)), rng.normal(1, 2, (200, 6))
    real, generated = (
        np.hstack([real, real[:, :1], real[:, :1] * 0]),
        np.hstack([generated, generated[:, :1], generated[:, :1] * 0]),
    )
    separate = [frechet_value(real, generated[:size]) for size in (50, 200)]
    assert frechet_by_size(real, generated, np.array([50, 200])) == pytest.approx(separate, rel=1e-6)


def test_the_line() -> None:
    rng = np.random.default_rng(3)
    real, generated = rng.normal(size=(500, 20)), rng.normal(0.2, 1.1, (600, 20))
    distance = frechet_infinity(real, generated, rng=np.random.default_rng(8))
    sizes = subset_sizes(600)
    ordered = generated[np.random.default_rng(8).permutation(600)]
    slope, intercept = np.polyfit(1 / sizes, [frechet_value(real, ordered[:size]) for size in sizes], 1)
    assert distance.value == pytest.approx(intercept, rel=1e-9)
    assert slope > 0
    assert distance.settings == {"points": 15, "smallest": 60}
    again = frechet_infinity(real, generated, rng=np.random.default_rng(8))
    assert (again.value, again.low, again.high) == (distance.value, distance.low, distance.high)
    assert distance.low < distance.value < distance.high


def test_takes_the_bias_away() -> None:
    # one distribution: FD is 0 in truth; the real images are many, so that the bias is that of the generated ones
    rng = np.random.default_rng(1)
    real = rng.normal(size=(40_000, 16))
    plain, far = [], []
    for seed in range(8):
        generated = np.random.default_rng(seed).normal(size=(400, 16))
        plain.append(frechet(real, generated).value)
        far.append(frechet_infinity(real, generated, rng=np.random.default_rng(seed)).value)
    assert abs(np.mean(far)) < np.mean(plain) / 4


def test_needs_images_for_a_line() -> None:
    with pytest.raises(StatisticsError, match="99 generated images; needed are at least 100 for a line"):
        frechet_infinity(np.ones((9, 2)), np.ones((99, 2)), rng=np.random.default_rng(0))
    same = frechet_infinity(np.ones((9, 2)), np.ones((100, 2)), rng=np.random.default_rng(0))
    assert same.value == pytest.approx(0)
