"""Repair: paint the masked part of each image again, several times, and keep the best if it is better by a margin.

The scorer that chooses among the tries is the one that judges whether to keep: its score after is biased upward,
more so with more tries. So a change is kept only where the gain exceeds a margin from the scorer's own interval
(:mod:`beholder.improve.margin`), and gains are measured by others as well (:mod:`beholder.improve.gains`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beholder.improve.critic import Critic, Pixels
from beholder.improve.masks import Mask
from beholder.models.pipelines.inpainter import Inpainter, inpaint_within

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Repair:
    """What became of one image."""

    before: Pixels
    after: Pixels
    """The image before, where the change was not kept."""
    mask: Mask
    best: Pixels
    """The best try, kept or not."""
    own_before: float
    own_best: float
    tries: int
    accepted: bool
    reason: str

    @property
    def own_after(self) -> float:
        """The score of what is left in the end."""
        return self.own_best if self.accepted else self.own_before

    @property
    def area(self) -> float:
        """Proportion of the image that the mask covers."""
        return float(self.mask.mean())


def repair_images(
    images: Sequence[Pixels],
    prompts: Sequence[str],
    masks: Sequence[Mask],
    critic: Critic,
    inpainter: Inpainter,
    *,
    tries: int = 4,
    margin: float = 0.0,
    seed: int = 0,
    progress: Progress | None = None,
) -> list[Repair]:
    """Repair images one by one.

    Args:
        images: The images.
        prompts: One for each.
        masks: What is painted again; images with an empty mask stay as they are.
        critic: Chooses among the tries, and says whether the best is better.
        inpainter: What paints.
        tries: Of each image.
        margin: Gain in the critic's score from which a change is kept.
        seed: With the number of the image and the try, that of the inpainter.
        progress: Called with the images done, and all.

    Returns:
        What became of each image.
    """
    scores = critic.score(images, prompts)
    repairs = []
    for number, (image, prompt, mask) in enumerate(zip(images, prompts, masks, strict=True)):
        repairs.append(
            _repair(image, prompt, mask, float(scores[number]), critic, inpainter, tries, margin, [seed, number])
        )
        if progress:
            progress(number + 1, len(images))
    return repairs


def _repair(
    image: Pixels,
    prompt: str,
    mask: Mask,
    score: float,
    critic: Critic,
    inpainter: Inpainter,
    tries: int,
    margin: float,
    seeds: list[int],
) -> Repair:
    if not mask.any():
        return Repair(image, image, mask, image, score, score, 0, accepted=False, reason="nothing to repair")
    try_seeds = np.random.SeedSequence(seeds).generate_state(tries).tolist()
    candidates = inpaint_within(inpainter, [image] * tries, [mask] * tries, [prompt] * tries, try_seeds)
    after = critic.score(candidates, [prompt] * tries)
    best = int(np.argmax(after))
    gain = float(after[best]) - score
    accepted = gain > margin
    reason = f"gain {gain:+.3f}, margin {margin:.3f}"
    return Repair(
        image,
        candidates[best] if accepted else image,
        mask,
        candidates[best],
        score,
        float(after[best]),
        tries,
        accepted=accepted,
        reason=("better by more than the margin: " if accepted else "not better by the margin: ") + reason,
    )


def pixels_changed_outside(repair: Repair) -> int:
    """Count the pixels outside the mask that differ between before and after."""
    differs: NDArray[np.bool_] = (repair.before != repair.after).any(axis=-1)
    return int((differs & ~repair.mask).sum())
