"""From heatmaps to masks: thresholds, growth and areas, by hand."""

import numpy as np
import pytest

from beholder.errors import FaultsError
from beholder.improve.masks import MaskSettings, build_mask, shift_mask


def heatmap(*spots: tuple[int, int, int, float]) -> np.ndarray:
    """Squares of a side at a row and column, with a level."""
    levels = np.zeros((40, 40), np.float32)
    for row, column, side, level in spots:
        levels[row : row + side, column : column + side] = level
    return levels


def test_what_is_at_or_above_the_threshold() -> None:
    mask = build_mask(heatmap((5, 5, 4, 0.5), (20, 20, 4, 0.4)), (40, 40), MaskSettings(0.5, 0.0))
    assert mask.sum() == 16
    assert mask[5:9, 5:9].all()


def test_a_disk_grows_it() -> None:
    """By hand: a single pixel within 2 pixels is 1 + 4 + 4 + 4 = 13 pixels."""
    mask = build_mask(heatmap((20, 20, 1, 1.0)), (40, 40), MaskSettings(0.5, 0.05, least_area=0.0))
    assert mask.sum() == 13


def test_small_spots_are_left() -> None:
    settings = MaskSettings(0.5, 0.0, least_area=5 / 1600)
    assert build_mask(heatmap((5, 5, 2, 1.0), (20, 20, 3, 1.0)), (40, 40), settings).sum() == 9
    assert not build_mask(heatmap((5, 5, 2, 1.0)), (40, 40), settings).any()
    assert not build_mask(heatmap(), (40, 40), settings).any()


def test_a_mask_that_is_too_large_has_a_higher_threshold() -> None:
    levels = np.tile(np.linspace(0, 1, 40, dtype=np.float32), (40, 1))
    mask = build_mask(levels, (40, 40), MaskSettings(0.2, 0.0, most_area=0.25))
    assert 0.2 <= mask.mean() <= 0.25
    assert mask[:, -1].all()


def test_a_heatmap_of_another_size_is_resized() -> None:
    mask = build_mask(heatmap((0, 0, 20, 1.0)), (80, 60), MaskSettings(0.5, 0.0))
    assert mask.shape == (80, 60)
    assert mask[:39, :29].all()
    assert not mask[42:].any()


def test_a_shifted_mask_has_the_same_area() -> None:
    mask = build_mask(heatmap((5, 5, 9, 1.0)), (40, 40), MaskSettings(0.5, 0.0))
    shifted = shift_mask(mask, np.random.default_rng(1))
    assert shifted.sum() == mask.sum()
    assert not np.array_equal(shifted, mask)


def test_settings_that_cannot_be() -> None:
    with pytest.raises(FaultsError, match="threshold is 2"):
        MaskSettings(2.0)
    with pytest.raises(FaultsError, match="must be larger"):
        MaskSettings(least_area=0.5, most_area=0.4)
