import numpy as np
import pytest

from beholder.errors import StatisticsError
from beholder.stats.prediction.heatmap_summary import heatmap_summary


def test_by_hand() -> None:
    heatmap = np.zeros((10, 20))
    heatmap[1:3, 14:18] = 0.8  # the summit: 8 pixels, columns 14 to 17, rows 1 and 2
    heatmap[8, 1] = 0.8  # as high, but smaller
    heatmap[5, :] = 0.4
    summary = heatmap_summary(heatmap)
    assert summary.peak == 0.8
    assert [summary.x, summary.y] == pytest.approx([16 / 20, 2 / 10])
    assert summary.where == "top right"
    assert summary.mean == pytest.approx((9 * 0.8 + 20 * 0.4) / 200)
    assert summary.above_half == pytest.approx(9 / 200)


@pytest.mark.parametrize(
    ("row", "column", "where"),
    [
        (0, 0, "top left"),
        (0, 4, "top"),
        (4, 0, "left"),
        (4, 4, "centre"),
        (8, 4, "bottom"),
        (8, 8, "bottom right"),
    ],
)
def test_places_in_words(row: int, column: int, where: str) -> None:
    heatmap = np.zeros((9, 9))
    heatmap[row, column] = 1
    assert heatmap_summary(heatmap).where == where


def test_a_map_that_is_the_same_everywhere_has_its_place_in_the_middle() -> None:
    for level in (0.0, 0.3):
        summary = heatmap_summary(np.full((7, 5), level))
        assert (summary.peak, summary.x, summary.y, summary.where) == (level, 0.5, 0.5, "centre")


def test_mirroring_moves_the_place_alone() -> None:
    heatmap = np.random.default_rng(0).random((12, 18))
    summary, mirrored = heatmap_summary(heatmap), heatmap_summary(heatmap[:, ::-1])
    assert mirrored.x == pytest.approx(1 - summary.x)
    assert (mirrored.y, mirrored.peak, mirrored.above_half) == (summary.y, summary.peak, summary.above_half)


@pytest.mark.parametrize("heatmap", [np.zeros(3), np.zeros((0, 3)), np.array([[np.nan]])])
def test_what_is_no_map_is_refused(heatmap: np.ndarray) -> None:
    with pytest.raises(StatisticsError, match="a heatmap is"):
        heatmap_summary(heatmap)
