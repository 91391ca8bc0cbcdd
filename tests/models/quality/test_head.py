"""The kernel head: worked by hand, against scikit-learn, and the packaged one."""

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file
from sklearn.kernel_ridge import KernelRidge

from beholder.errors import WeightsError
from beholder.models.components import signed_roots
from beholder.models.quality.head import KernelHead, read_head
from beholder.models.quality.packaged import CARD, HEAD, load_quality_model
from beholder.models.quality.training_set import FOLDER, TRAINING_IMAGES, training_images

BY_HAND = KernelHead(
    columns=np.array([2, 0]),
    mean=np.array([1.0, 0.0]),
    standard_deviation=np.array([2.0, 1.0]),
    components=np.eye(2),
    centres=np.array([[0.0, 0.0], [3.0, 4.0]]),
    coefficients=np.array([1.0, -2.0]),
    gamma=np.log(2),
    intercept=2.5,
    neighbours=1,
    shift_unit=0.5,
    conformal_width=1.0,
)


def test_a_score_and_a_shift_by_hand() -> None:
    # Columns 2 and 0 of (−1, 7, 9) are 9 and −1; signed roots 3 and −1; standardised (3 − 1)/2 = 1 and −1.
    # Squared distances: to (0, 0) 2, to (3, 4) 4 + 25 = 29. Kernel with γ = ln 2: ¼ and 2⁻²⁹.
    # Score 2.5 + ¼ − 2·2⁻²⁹; the nearest centre is √2 away, in units of ½: 2√2.
    vectors = np.array([[-1.0, 7.0, 9.0]], np.float32)
    assert BY_HAND.scores(vectors) == pytest.approx([2.75 - 2 * 2.0**-29], abs=1e-12)
    assert BY_HAND.shifts(vectors) == pytest.approx([2 * 2**0.5])


def test_it_is_kernel_ridge_regression() -> None:
    rng = np.random.default_rng(0)
    vectors, labels = rng.normal(size=(30, 4)).astype(np.float32), rng.normal(size=30)
    points = signed_roots(vectors)
    oracle = KernelRidge(alpha=0.3, kernel="rbf", gamma=0.7).fit(points, labels)
    head = KernelHead(
        columns=np.arange(4),
        mean=np.zeros(4),
        standard_deviation=np.ones(4),
        components=np.eye(4),
        centres=points,
        coefficients=oracle.dual_coef_,
        gamma=0.7,
        intercept=0.0,
        neighbours=2,
        shift_unit=1.0,
        conformal_width=1.0,
    )
    others = rng.normal(size=(7, 4)).astype(np.float32)
    np.testing.assert_allclose(head.scores(others), oracle.predict(signed_roots(others)), atol=1e-9)
    # a training image's nearest centre is itself, so the mean of two distances is half of that to the next
    assert (head.shifts(vectors) > 0).all()


def test_a_file_that_is_no_head_is_refused(tmp_path: Path) -> None:
    save_file({"mean": np.zeros(2, np.float32)}, tmp_path / "other.safetensors")
    with pytest.raises(WeightsError, match="not a head"):
        read_head(tmp_path / "other.safetensors")
    with pytest.raises(WeightsError, match="not a head"):
        read_head(tmp_path / "missing.safetensors")


def test_the_packaged_files_are_small_and_documented() -> None:
    sizes = [(FOLDER / name).stat().st_size for name in (HEAD, TRAINING_IMAGES, CARD)]
    assert sum(sizes) < 2_000_000
    card = (FOLDER / CARD).read_text(encoding="utf-8")
    for words in ("AGIQA-3K", "MIT", "held-out", "python benchmarks/agiqa_scorer.py"):
        assert words in card


def test_every_centre_is_a_training_image() -> None:
    model = load_quality_model()
    assert len(model.head.centres) == len(training_images().prefixes) == len(model.head.coefficients)
    assert model.head.columns.max() < sum(encoder.dims for encoder in model.encoders)
    assert 0 < model.head.conformal_width < 2.5
