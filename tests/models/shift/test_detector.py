"""The detector of domain shift: worked by hand, its residual against a projection, and the packaged one's file."""

from pathlib import Path

import numpy as np
import pytest

from beholder.errors import WeightsError
from beholder.models.components import components_and_residuals
from beholder.models.quality.head import KernelHead
from beholder.models.quality.packaged import SHIFT, load_quality_model
from beholder.models.quality.training_set import FOLDER
from beholder.models.shift.detector import ShiftDetector, read_shift_detector


def make_head(components: np.ndarray) -> KernelHead:
    columns = len(components)
    return KernelHead(
        columns=np.arange(columns),
        mean=np.zeros(columns),
        standard_deviation=np.ones(columns),
        components=components,
        centres=np.zeros((1, components.shape[1])),
        coefficients=np.zeros(1),
        gamma=1.0,
        intercept=0.0,
        neighbours=1,
        shift_unit=1.0,
        conformal_width=1.0,
    )


def test_a_shift_by_hand() -> None:
    # (4, 9, 16) has the signed roots (2, 3, 4); the component is the first axis, of deviation 4: 2/4 = .5.
    # Two stages: columns 0 and 1, of which 3² = 9 is left over, and column 2, of which 4² = 16 is.
    # Residuals: (ln 9 − (ln 9 − 1))/2 = .5 and (ln 16 − ln 16)/1 = 0.
    # One statistic of pixels, −20, of mean −2 and deviation 1: −18, clipped to −8; whitened by ⅓ it is
    # −6, of size 6, squared 36: 2 ln 37.
    # Score .5·2 + .5·4 + 0·8 − 8·1 + 6·½ + 2 ln 37·3 + 1 = 6 ln 37 − 1; less the median, 6 ln 37 − 4, by
    # the unit, 6: .5.
    head = make_head(np.array([[1.0], [0.0], [0.0]]))
    detector = ShiftDetector(
        scales=np.array([4.0]),
        bounds=np.array([0, 2, 3]),
        centres=np.array([np.log(9) - 1, np.log(16)]),
        units=np.array([2.0, 1.0]),
        pixel_means=np.array([-2.0]),
        pixel_deviations=np.array([1.0]),
        pixel_whitening=np.array([[1 / 3]]),
        weights=np.array([2.0, 4.0, 8.0, 1.0, 0.5, 3.0]),
        intercept=1.0,
        median=6 * np.log(37) - 4,
        unit=6.0,
    )
    assert detector.shifts(head, np.array([[4.0, 9.0, 16.0, -20.0]], np.float32)) == pytest.approx([0.5])


def test_the_residual_is_what_a_projection_leaves_over() -> None:
    rng = np.random.default_rng(0)
    components = np.linalg.qr(rng.normal(size=(6, 2)))[0]
    roots = rng.normal(size=(5, 6))
    vectors = (np.sign(roots) * roots**2).astype(np.float32)
    points, residuals = components_and_residuals(make_head(components), np.array([0, 4, 6]), vectors)
    left_over = (roots - roots @ components @ components.T) ** 2
    np.testing.assert_allclose(points, roots @ components, rtol=1e-5)
    expected = np.column_stack([left_over[:, :4].sum(axis=1), left_over[:, 4:].sum(axis=1)])
    np.testing.assert_allclose(np.exp(residuals), expected, rtol=1e-5)


def test_the_packaged_detector_belongs_to_the_packaged_head(tmp_path: Path) -> None:
    assert read_shift_detector(FOLDER / SHIFT)[1] == load_quality_model().sha256
    (tmp_path / SHIFT).write_bytes(b"no")
    with pytest.raises(WeightsError, match="not a detector of shifts"):
        read_shift_detector(tmp_path / SHIFT)
