"""How the scores of one scorer respond to changes: the figures, before any words."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from beholder.audit.robustness.hard_negatives import KINDS, hard_negatives
from beholder.audit.robustness.pictures import HARMFUL, HARMLESS, as_png

Score = Callable[[Sequence[bytes], Sequence[str | None]], NDArray[np.float64]]
"""From images (the bytes of files) and prompts to scores, one per image."""

BATCH = 16


@dataclass(frozen=True, eq=False)
class Responses:
    """Scores of images before and after each change; higher is better."""

    before: NDArray[np.float64]  # (images,)
    harmless: Mapping[str, NDArray[np.float64]]  # change -> (images,)
    harmful: Mapping[str, NDArray[np.float64]]  # change -> (images,)
    wrong_prompts: Mapping[str, tuple[NDArray[np.float64], NDArray[np.float64]]]
    """Kind -> scores with the right and with the wrong prompt, of the images that have one."""


def measure_responses(
    score: Score,
    pictures: Sequence[Image.Image],
    prompts: Sequence[str | None],
    rng: np.random.Generator,
    *,
    sign: float = 1.0,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> Responses:
    """Score images again after every change of the image and of the prompt.

    Args:
        score: The scorer.
        pictures: Images of entries.
        prompts: The prompt of each, where it has one.
        rng: For changes that are drawn.
        sign: −1 where lower scores are better.
        progress: Called with how many changes are done, and how many there are.
    """
    total = 2 + len(HARMLESS) + len(HARMFUL)
    plain = [as_png(picture) for picture in pictures]
    before = sign * _in_batches(score, plain, prompts)
    changed: dict[str, NDArray[np.float64]] = {}
    for done, (name, change) in enumerate((HARMLESS | HARMFUL).items(), 1):
        progress(done, total)
        files = [as_png(change(picture, rng)) for picture in pictures]
        changed[name] = sign * _in_batches(score, files, prompts)
    progress(total - 1, total)
    wrong = _wrong_prompts(score, plain, prompts, before, rng, sign)
    progress(total, total)
    return Responses(
        before,
        {name: changed[name] for name in HARMLESS},
        {name: changed[name] for name in HARMFUL},
        wrong,
    )


def _wrong_prompts(
    score: Score,
    files: Sequence[bytes],
    prompts: Sequence[str | None],
    before: NDArray[np.float64],
    rng: np.random.Generator,
    sign: float,
) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
    places: dict[str, list[int]] = {kind: [] for kind in KINDS}
    texts: dict[str, list[str]] = {kind: [] for kind in KINDS}
    everything = [prompt for prompt in prompts if prompt]
    for place, prompt in enumerate(prompts):
        for kind, text in hard_negatives(prompt, everything, rng) if prompt else ():
            places[kind].append(place)
            texts[kind].append(text)
    return {
        kind: (before[where], sign * _in_batches(score, [files[place] for place in where], texts[kind]))
        for kind, where in places.items()
        if where
    }


def _in_batches(score: Score, files: Sequence[bytes], prompts: Sequence[str | None]) -> NDArray[np.float64]:
    parts = [score(files[k : k + BATCH], prompts[k : k + BATCH]) for k in range(0, len(files), BATCH)]
    return np.concatenate(parts)
