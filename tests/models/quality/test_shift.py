"""The detector of domain shift: worked by hand, its residual against a projection, and the packaged one's file."""

from pathlib import Path

import numpy as np
import pytest

from beholder.errors import WeightsError
from beholder.models.quality.head import KernelHead
from beholder.models.quality.packaged import SHIFT, load_quality_model
from beholder.models.quality.shift import ShiftDetector, read_shift_detector, shift_features
from beholder.models.quality.training_set import FOLDER


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
    # (4, 9) has the signed roots (2, 3); the component is the first axis, of deviation 4: 2/4 = .5.
    # Left over: 3² = 9. Residual ln 9, less its median ln 9 − 1, by its unit 2: .5.
    # Exposure .5·2 + 0·ln 9 + 1 = 2, less 0, by 1: 2. The larger, by the threshold 4: .5.
    head = make_head(np.array([[1.0], [0.0]]))
    detector = ShiftDetector(
        scales=np.array([4.0]),
        weights=np.array([2.0, 0.0]),
        intercept=1.0,
        centres=np.array([np.log(9) - 1, 0.0]),
        units=np.array([2.0, 1.0]),
        threshold=4.0,
    )
    assert detector.shifts(head, np.array([[4.0, 9.0]], np.float32)) == pytest.approx([0.5])


def test_the_residual_is_what_a_projection_leaves_over() -> None:
    rng = np.random.default_rng(0)
    components = np.linalg.qr(rng.normal(size=(6, 2)))[0]
    roots = rng.normal(size=(5, 6))
    features = shift_features(make_head(components), np.ones(2), (np.sign(roots) * roots**2).astype(np.float32))
    left_over = roots - roots @ components @ components.T
    np.testing.assert_allclose(np.exp(features[:, -1]), (left_over**2).sum(axis=1), rtol=1e-5)


def test_the_packaged_detector_belongs_to_the_packaged_head(tmp_path: Path) -> None:
    assert read_shift_detector(FOLDER / SHIFT)[1] == load_quality_model().sha256
    (tmp_path / SHIFT).write_bytes(b"no")
    with pytest.raises(WeightsError, match="not a detector of shifts"):
        read_shift_detector(tmp_path / SHIFT)
