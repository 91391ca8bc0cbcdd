"""Settings of a repair, chosen on images that are not repaired afterwards.

Every threshold and dilation of a small grid is tried on the development images; the one with the highest mean
gain by the judge is chosen, a change counting where the scorer that repairs would keep it at a margin of 0. The
judge is a held-out scorer where there is one. The margin then follows from the changes at the chosen setting.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from beholder.improve.critic import Critic, Heatmap, Pixels
from beholder.improve.margin import Margin, choose_margin
from beholder.improve.masks import MaskSettings, build_mask
from beholder.improve.repair import Repair, repair_images
from beholder.models.pipelines.inpainter import Inpainter

THRESHOLDS = (0.1, 0.2, 0.3, 0.45)
DILATIONS = (0.0, 0.03, 0.06)

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Tried:
    """One setting of the grid, and what the judge says of it."""

    threshold: float
    dilation: float
    gain: float


@dataclass(frozen=True, slots=True)
class RepairChoice:
    """The chosen settings, and what they were chosen from."""

    masks: MaskSettings
    margin: float
    basis: Margin | None
    """What the margin follows from; nothing where it was set."""
    judge: str
    images: int
    tried: tuple[Tried, ...]


def choose_repair(
    images: Sequence[Pixels],
    prompts: Sequence[str],
    heatmaps: Sequence[Heatmap],
    critic: Critic,
    inpainter: Inpainter,
    *,
    held_out: Critic | None = None,
    settings: MaskSettings | None = None,
    tries: int = 4,
    margin: float | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> RepairChoice:
    """Choose threshold, dilation and margin on development images.

    Args:
        images: Development images: none of them is repaired afterwards.
        prompts: One for each.
        heatmaps: One for each.
        critic: The scorer that repairs.
        inpainter: What paints.
        held_out: The scorer that judges; the critic itself where there is none.
        settings: The areas that are allowed.
        tries: Of each image.
        margin: A margin that is set, in place of the one that follows from the scorer's interval.
        seed: Of the tries.
        progress: Called with the settings tried, and all.

    Returns:
        The choice.
    """
    judge, base = held_out or critic, settings or MaskSettings()
    judged_before = judge.score(images, prompts)
    grid = [
        replace(base, threshold=threshold, dilation=dilation)
        for threshold, dilation in product(THRESHOLDS, DILATIONS)
    ]
    gains, changes = [], []
    for number, candidate in enumerate(grid):
        masks = [
            build_mask(heatmap, image.shape[:2], candidate)
            for image, heatmap in zip(images, heatmaps, strict=True)
        ]
        repairs = repair_images(images, prompts, masks, critic, inpainter, tries=tries, seed=seed)
        judged_best = judge.score([repair.best for repair in repairs], prompts)
        counted = np.array([repair.accepted for repair in repairs])
        gains.append(float(np.where(counted, judged_best - judged_before, 0.0).mean()))
        changes.append((repairs, judged_best))
        if progress:
            progress(number + 1, len(grid))
    best = int(np.argmax(gains))
    basis = None
    if margin is None:
        basis = _margin(critic, judged_before if held_out is not None else None, *changes[best])
    return RepairChoice(
        masks=grid[best],
        margin=basis.margin if basis is not None else margin or 0.0,
        basis=basis,
        judge=judge.name,
        images=len(images),
        tried=tuple(
            Tried(candidate.threshold, candidate.dilation, gain)
            for candidate, gain in zip(grid, gains, strict=True)
        ),
    )


def _margin(
    critic: Critic,
    judged_before: NDArray[np.float64] | None,
    repairs: Sequence[Repair],
    judged_best: NDArray[np.float64],
) -> Margin:
    """Return the margin by the changes at the chosen setting; ``judged_before`` is by a held-out scorer."""
    if judged_before is None:
        return choose_margin(critic.half_width)
    changed = [place for place, repair in enumerate(repairs) if repair.tries]
    return choose_margin(
        critic.half_width,
        [repairs[place].own_before for place in changed],
        [repairs[place].own_best for place in changed],
        judged_before[changed],
        judged_best[changed],
    )
