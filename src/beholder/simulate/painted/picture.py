"""A painted image and its exact ground truth, from the canvas and the latents.

With P₀ the clean picture, F(s) a flaw's difference from it (blended between its renderings at severity 0, ½ and
1), A the difference that a wrong attribute makes, m its mixture, h the haze, c the loss of contrast, g the gains
and B the patterns with amplitudes a:

    P₁ = clip(P₀ + Σ m A + Σ F(s))          P₂ = ½₀ + (P₁ − ½₀)(1 − 0.66 c), with ½₀ = 0.55
    P₃ = haze(P₂, h)                        P  = clip(eᵍ P₃ + Σ a B)

Scores follow :mod:`beholder.simulate.ground_truth` for soft values: a mixture counts as that part of a wrong
attribute, periodic patterns as an implausible region that fills the frame, a colour cast as a flaw of composition.
"""

import numpy as np
from numpy.typing import NDArray

from beholder.simulate import ground_truth as score
from beholder.simulate.backdrop import Pixels
from beholder.simulate.composition import haze
from beholder.simulate.grammar import Attribute, prompt_text, stated
from beholder.simulate.painted.canvas import LEVELS, Canvas, patterns
from beholder.simulate.painted.latents import ABSENT_BELOW, Parts, pattern, split, tint
from beholder.simulate.painter import GroundTruth, Picture

VISIBLE = ABSENT_BELOW
"""Severity from which a flaw is named, and marked in the masks."""
WRONG = 0.5
"""Mixture from which an attribute counts as wrong in the list of misaligned words."""
DIFFERENT = 0.1
"""Difference of a channel from which a pixel shows that an attribute is wrong."""
MIDDLE, FLATTEST = np.float32(0.55), np.float32(0.66)


def picture(canvas: Canvas, latents: NDArray[np.float32]) -> Picture:
    """Return the image of latents (dims,) on a canvas, with its ground truth."""
    parts = split(latents[None])
    pixels = render_latents(canvas, parts)
    return Picture(
        (pixels * 255 + np.float32(0.5)).astype(np.uint8), prompt_text(canvas.request), truth(canvas, parts)
    )


def render_latents(canvas: Canvas, parts: Parts[NDArray[np.float32]]) -> Pixels:
    """Return the pixels (size, size, 3) of the first row of ``parts``."""
    levels = level_weights(parts.severities[0])  # (regions, levels)
    flaws = np.einsum("rl,rlhwc->hwc", levels, canvas.flawed.astype(np.float32))
    wrong = np.einsum("k,khwc->hwc", parts.mixtures[0], canvas.altered.astype(np.float32))
    pixels = np.clip(canvas.clean + wrong + flaws, 0, 1)
    pixels = MIDDLE + (pixels - MIDDLE) * (1 - FLATTEST * parts.contrast[0])
    pixels = haze(pixels, float(parts.haze[0]))
    texture = np.einsum("k,khwc->hwc", parts.amplitudes[0], patterns(pixels.shape[0]))
    return np.asarray(np.clip(pixels * np.exp(parts.gains[0]) + texture, 0, 1), np.float32)


def level_weights(severities: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return how much of each rendered level a severity shows, (regions, levels); linear between the levels."""
    half, full = LEVELS
    upper = np.clip((severities - half) / (full - half), 0, 1)
    lower = np.clip(severities / half, 0, 1) - upper
    return np.stack([lower, upper], -1).astype(np.float32)


def truth(canvas: Canvas, parts: Parts[NDArray[np.float32]]) -> GroundTruth:
    """Return the ground truth of the first row of ``parts``."""
    severities = [float(severity) for severity in parts.severities[0]]
    fog, grid, cast = float(parts.haze[0]), pattern(parts.amplitudes[0]), tint(parts.gains[0])
    visibilities = [
        score.visibility(severity, np.count_nonzero(mask) / mask.size)
        for severity, mask in zip(severities, canvas.masks, strict=True)
    ] + [score.visibility(grid, 1.0)]
    composition = 1 - (1 - float(parts.contrast[0])) * (1 - cast)
    plausibility = score.plausibility(visibilities, fog)
    mixtures = {
        attribute: float(mixture)
        for attribute, mixture in zip(canvas.candidates, parts.mixtures[0], strict=True)
        if attribute is not None
    }
    alignment = soft_alignment(canvas, mixtures)
    aesthetics = score.aesthetics(score.taste(canvas.scene), composition, fog, plausibility)
    wrong = tuple(attribute for attribute, mixture in mixtures.items() if mixture >= WRONG)
    words = stated(canvas.request)
    return GroundTruth(
        implausible=_implausible(canvas, severities, grid),
        misaligned=_misaligned(canvas, parts.mixtures[0]),
        misaligned_words=tuple(sorted(word for attribute in wrong for word in words[attribute])),
        plausibility=plausibility,
        alignment=alignment,
        aesthetics=aesthetics,
        overall=score.overall(plausibility, alignment, aesthetics),
        detectability=score.detectability(visibilities, fog),
        flaws=_names(canvas, severities, wrong, parts, grid, cast),
    )


def soft_alignment(canvas: Canvas, mixtures: dict[Attribute, float]) -> float:
    """Return (1 − W)^1.5, with W the weight of what is wrong, each attribute counted by its mixture."""
    total = sum(score.ATTRIBUTE_WEIGHTS[attribute.name] for attribute in stated(canvas.request))
    wrong = sum(mixture * score.ATTRIBUTE_WEIGHTS[attribute.name] for attribute, mixture in mixtures.items())
    return float((1 - wrong / total) ** 1.5)


def _implausible(canvas: Canvas, severities: list[float], grid: float) -> NDArray[np.bool_]:
    mask = np.full(canvas.labels.shape, grid >= VISIBLE)
    for severity, region in zip(severities, canvas.masks, strict=True):
        if severity >= VISIBLE:
            mask |= region
    return mask


def _misaligned(canvas: Canvas, mixtures: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Return where the picture differs from the one that was asked for, because of a wrong attribute."""
    different = np.abs(canvas.altered[mixtures >= WRONG]).max(axis=(0, 3), initial=0) > DIFFERENT
    return np.asarray(different, np.bool_)


def _names(
    canvas: Canvas,
    severities: list[float],
    wrong: tuple[Attribute, ...],
    parts: Parts[NDArray[np.float32]],
    grid: float,
    cast: float,
) -> tuple[str, ...]:
    of_frame = {
        "flat contrast": float(parts.contrast[0]),
        "colour cast": cast,
        "pattern": grid,
        "haze": parts.haze[0],
    }
    return (
        *(f"wrong {attribute.name}" for attribute in wrong),
        *(kind for kind, severity in zip(canvas.kinds, severities, strict=True) if severity >= VISIBLE),
        *(name for name, severity in of_frame.items() if severity >= VISIBLE),
    )
