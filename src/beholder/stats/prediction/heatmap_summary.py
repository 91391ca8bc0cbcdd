"""A heatmap in a few numbers: how high it reaches, where, and how much of the image it covers."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from beholder.errors import StatisticsError

NEAR = 0.9
"""Summits reach this proportion of the highest value: a marked disk is level, and has no single highest pixel."""

ROWS, COLUMNS = ("top", "", "bottom"), ("left", "", "right")


@dataclass(frozen=True, slots=True)
class HeatmapSummary:
    """What a map of values from 0 to 1 says."""

    peak: float
    """The highest value."""
    x: float
    """Middle of the largest summit, from 0 at the left to 1 at the right; ½ where a map is the same everywhere."""
    y: float
    """The same from 0 at the top to 1 at the bottom."""
    mean: float
    above_half: float
    """Proportion of the pixels above ½."""

    @property
    def where(self) -> str:
        """The third of the image in which the summit lies, both ways: ``top left``, ``right``, ``centre``."""
        row, column = (min(int(3 * place), 2) for place in (self.y, self.x))
        return f"{ROWS[row]} {COLUMNS[column]}".strip() or "centre"


def heatmap_summary(heatmap: ArrayLike) -> HeatmapSummary:
    """Sum up a map (height, width)."""
    from scipy import ndimage  # noqa: PLC0415 - a sixth of the report's imports, and few reports have heatmaps

    values = np.asarray(heatmap, np.float64)
    if values.ndim != 2 or not values.size or not np.isfinite(values).all():
        raise StatisticsError(f"a heatmap is (height, width) of finite numbers; found the shape {values.shape}")
    peak = float(values.max())
    regions, count = ndimage.label(values >= NEAR * peak)
    sizes = np.bincount(regions.ravel(), minlength=count + 1)
    sizes[0] = 0  # what is below the summits
    rows, columns = np.nonzero(regions == sizes.argmax())
    return HeatmapSummary(
        peak=peak,
        x=float((columns.mean() + 0.5) / values.shape[1]),
        y=float((rows.mean() + 0.5) / values.shape[0]),
        mean=float(values.mean()),
        above_half=float((values > 0.5).mean()),
    )
