"""Natural scene statistics: fits find the shape that was drawn; blur and noise move it as published."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import ndimage, stats

from beholder.scorers.natural_scene import (
    asymmetric_gaussian,
    features,
    generalised_gaussian,
    shape,
    spread,
)
from beholder.scorers.normalised_luma import normalised
from beholder.scorers.planes import Planes


@pytest.mark.parametrize("alpha", [0.8, 1.0, 2.0, 3.5])
def test_the_shape_that_was_drawn_is_found(alpha: float) -> None:
    values = stats.gennorm.rvs(alpha, size=(400, 400), random_state=1)
    fitted, variance = generalised_gaussian(values)
    assert fitted == pytest.approx(alpha, rel=0.03)
    assert variance == pytest.approx(np.mean(values**2))


def test_by_hand() -> None:
    # two values of equal size: (E|x|)²/E x² = 1, beyond every shape: the largest
    assert generalised_gaussian(np.array([[-2.0, 2.0]])) == pytest.approx((10.0, 4.0))
    # 1 at one place of two: (½)²/½ = ½, the ratio of the Laplacian, shape 1
    assert generalised_gaussian(np.array([[0.0, 1.0]]))[0] == pytest.approx(1.0, abs=0.0015)


def test_an_even_distribution_has_no_lean() -> None:
    values = stats.gennorm.rvs(1.5, size=(400, 400), random_state=2)
    alpha, mean, left, right = asymmetric_gaussian(values)
    assert alpha == pytest.approx(1.5, rel=0.03)
    assert mean == pytest.approx(0, abs=0.01)
    assert left == pytest.approx(right, rel=0.03)


def test_a_flat_image_is_defined() -> None:
    flat = Planes(np.full((16, 16, 3), 90, np.uint8))
    assert np.isfinite(features(flat)).all()
    assert len(features(flat)) == 36
    assert spread(flat) == pytest.approx(0, abs=1e-20)
    assert shape(flat) == pytest.approx(10)  # nothing to fit: the largest


def test_normalising_by_hand() -> None:
    # a constant image has nothing left
    assert normalised(np.full((9, 9), 7.0)) == pytest.approx(np.zeros((9, 9)), abs=1e-12)


def test_noise_raises_the_shape_and_blur_lowers_the_spread() -> None:
    rng = np.random.default_rng(3)
    base = ndimage.gaussian_filter(rng.laplace(size=(128, 128)).cumsum(0).cumsum(1), 1)
    scaled = 40 + 180 * (base - base.min()) / np.ptp(base)

    def image(y: NDArray[np.float64]) -> Planes:
        return Planes(np.clip(y, 0, 255).astype(np.uint8)[..., None].repeat(3, axis=2))

    noisy = image(scaled + rng.normal(scale=20, size=scaled.shape))
    assert shape(noisy) > 2 > shape(image(ndimage.gaussian_filter(scaled, 1)))
    assert spread(image(ndimage.gaussian_filter(scaled, 3))) < spread(noisy)
