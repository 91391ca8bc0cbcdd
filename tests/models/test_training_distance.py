"""Distances to training images: calibrated on held-out ones, each way to be unlike, and kept in a file."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from beholder.errors import WeightsError
from beholder.models.training_distance import (
    TrainingDistance,
    fit_training_distance,
    read_training_distance,
    write_training_distance,
)

DIMS, STATISTICS = (12, 20), 5


def vectors(count: int, seed: int) -> NDArray[np.float32]:
    """Features that vary in six directions, and statistics of pixels."""
    rng = np.random.default_rng(seed)
    directions = np.random.default_rng(9).normal(size=(6, sum(DIMS)))
    features = rng.normal(size=(count, 6)) @ directions + 0.1 * rng.normal(size=(count, sum(DIMS)))
    return np.hstack([features, rng.normal(size=(count, STATISTICS))]).astype(np.float32)


@pytest.fixture(scope="module")
def distance() -> TrainingDistance:
    return fit_training_distance(vectors(200, 0), vectors(100, 1), DIMS)


def test_one_in_twenty_held_out_images_is_beyond_one(distance: TrainingDistance) -> None:
    shifts = distance.shifts(vectors(100, 1))
    assert (shifts > 1).sum() <= 5
    assert (shifts >= 1).sum() >= 5
    assert (distance.shifts(vectors(2000, 2)) > 1).mean() == pytest.approx(0.05, abs=0.06)


def test_each_way_to_be_unlike_is_seen(distance: TrainingDistance) -> None:
    usual = vectors(50, 3)
    far, off, pixels = usual.copy(), usual.copy(), usual.copy()
    far[:, : sum(DIMS)] *= 8  # along the components, away from every training image
    off[:, 12:32] += np.random.default_rng(4).normal(size=20) * 3  # off the components, in the second encoder
    pixels[:, -STATISTICS:] += 6
    for unlike, parts in ((far, [0]), (off, [2]), (pixels, [3])):
        assert (distance.shifts(unlike) > 1).all()
        scaled = (distance.parts(unlike) - distance.medians) / distance.units
        assert (scaled[:, parts] > distance.unit).all()
    scaled = (distance.parts(pixels) - distance.medians) / distance.units
    np.testing.assert_allclose(scaled[:, :3], ((distance.parts(usual) - distance.medians) / distance.units)[:, :3])


def test_statistics_of_pixels_alone() -> None:
    trained, held_out = vectors(200, 0)[:, -STATISTICS:], vectors(100, 1)[:, -STATISTICS:]
    distance = fit_training_distance(trained, held_out, ())
    assert distance.head is None
    assert (distance.shifts(held_out) > 1).sum() <= 5
    assert (distance.shifts(held_out + 8) > 1).all()


@pytest.mark.parametrize("dims", [DIMS, ()])
def test_a_file_gives_the_same_distances(tmp_path: Path, dims: tuple[int, ...]) -> None:
    first = 0 if dims else sum(DIMS)
    distance = fit_training_distance(vectors(60, 0)[:, first:], vectors(40, 1)[:, first:], dims)
    write_training_distance(tmp_path / "shift.safetensors", distance)
    again = read_training_distance(tmp_path / "shift.safetensors")
    usual = vectors(30, 5)[:, first:]
    np.testing.assert_allclose(again.shifts(usual), distance.shifts(usual), rtol=1e-3)


def test_columns_that_never_vary_do_not_break_it() -> None:
    trained, held_out = vectors(60, 0), vectors(40, 1)
    trained[:, 3], held_out[:, 3] = 2.0, 2.0
    assert np.isfinite(fit_training_distance(trained, held_out, DIMS).shifts(held_out)).all()


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "shift.safetensors").write_bytes(b"no")
    with pytest.raises(WeightsError, match=r"shift\.safetensors: no distances"):
        read_training_distance(tmp_path / "shift.safetensors")
