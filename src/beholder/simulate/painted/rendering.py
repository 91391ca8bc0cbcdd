"""The picture of latents with gradients: the formulas of :mod:`beholder.simulate.painted.picture`, in torch.

Equal to the NumPy rendering within :data:`TOLERANCE`. Where a latent is clipped it has no gradient.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch.nn import functional

from beholder.simulate.composition import CAST, smoothing_width
from beholder.simulate.painted.canvas import LEVELS, Canvas, patterns
from beholder.simulate.painted.latents import CONTRAST, FIRST_GAIN, FIRST_PATTERN, HAZE, REGIONS
from beholder.simulate.painted.picture import FLATTEST, MIDDLE

TOLERANCE = 2e-5
"""Largest difference between a pixel here and in NumPy, of a full scale of 1."""


@dataclass(frozen=True, eq=False)
class Canvases:
    """The fixed parts of a batch of images, as tensors."""

    clean: torch.Tensor  # (n, 3, size, size)
    flawed: torch.Tensor  # (n, regions · levels, 3, size, size), 16 bits
    altered: torch.Tensor  # (n, candidates, 3, size, size), 16 bits


def stack_canvases(canvases: list[Canvas]) -> Canvases:
    """Return the fixed parts of several images of one size."""
    clean = np.stack([canvas.clean for canvas in canvases])
    flawed = np.stack([canvas.flawed for canvas in canvases])
    altered = np.stack([canvas.altered for canvas in canvases])
    return Canvases(
        torch.from_numpy(clean).movedim(-1, 1).contiguous(),
        torch.from_numpy(flawed).movedim(-1, 3).flatten(1, 2).contiguous(),
        torch.from_numpy(altered).movedim(-1, 2).contiguous(),
    )


def render_tensors(canvases: Canvases, latents: torch.Tensor) -> torch.Tensor:
    """Return the pixels (n, 3, size, size) of latents (n, dims), in 0 to 1."""
    bounded = latents[:, :FIRST_GAIN].clamp(0, 1)
    strengths = torch.cat([_level_weights(bounded[:, :REGIONS]), bounded[:, REGIONS:HAZE]], 1)
    differences = torch.cat([canvases.flawed, canvases.altered], 1).to(latents)
    pixels = (canvases.clean + torch.einsum("nk,nkchw->nchw", strengths, differences)).clamp(0, 1)
    pixels = float(MIDDLE) + (pixels - float(MIDDLE)) * (1 - float(FLATTEST) * _column(bounded, CONTRAST))
    pixels = _haze(pixels, _column(bounded, HAZE))
    gains = latents[:, FIRST_GAIN:FIRST_PATTERN].exp()[:, :, None, None]
    texture = torch.from_numpy(patterns(pixels.shape[-1])).movedim(-1, 1).to(latents)
    added = torch.einsum("nk,kchw->nchw", latents[:, FIRST_PATTERN:], texture)
    return (pixels * gains + added).clamp(0, 1)


def _column(bounded: torch.Tensor, column: int) -> torch.Tensor:
    return bounded[:, column, None, None, None]


def _level_weights(severities: torch.Tensor) -> torch.Tensor:
    """Return how much of each rendered level a severity shows, (n, regions · levels)."""
    half, full = LEVELS
    upper = ((severities - half) / (full - half)).clamp(0, 1)
    lower = (severities / half).clamp(0, 1) - upper
    return torch.stack([lower, upper], -1).flatten(1)


def _haze(pixels: torch.Tensor, strength: torch.Tensor) -> torch.Tensor:
    width = smoothing_width(pixels.shape[-1])
    padded = functional.pad(pixels, (width // 2,) * 4, mode="replicate")
    smooth = functional.avg_pool2d(padded, width, 1)
    blended = pixels + (smooth - pixels) * (0.85 * strength)
    cast = torch.from_numpy(CAST).to(pixels)[None, :, None, None]
    return blended + (cast - blended) * (0.22 * strength)
