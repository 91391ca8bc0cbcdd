"""The watches over a generator: its images of some prompts before a change, and a look at them after it."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from beholder.improve.alarms.alarm import Alarm
from beholder.improve.alarms.watches import Images, Score, Thresholds, Watches
from beholder.improve.tuning.reward import Reward, to_bytes
from beholder.models.encoders.catalogue import load_encoder
from beholder.models.pipelines.generator import TrainableGenerator
from beholder.models.pipelines.sampling import sample

ENCODER = "efficientnet-lite0"
"""Of diversity and of the Fréchet distance, unless another one is named."""
OTHER_SEEDS = 7919
"""Added to a seed for another image of the same prompt."""


def watch_generator(
    generator: TrainableGenerator,
    prompts: Sequence[str],
    seeds: Sequence[int],
    *,
    held_out: Sequence[Reward] = (),
    reference: Images | None = None,
    encoder: str = ENCODER,
    thresholds: Thresholds | None = None,
) -> Watches:
    """The watches, from images of the generator as it is now."""
    features = load_encoder(encoder)
    others = [seed + OTHER_SEEDS for seed in seeds]
    return Watches(
        tuple(prompts),
        images_now(generator, prompts, seeds),
        images_now(generator, prompts, others),
        features.encode,
        reference,
        {reward.name: _score(reward) for reward in held_out},
        thresholds or Thresholds(),
    )


def look_now(watches: Watches, generator: TrainableGenerator, seeds: Sequence[int]) -> list[Alarm]:
    """Compare the generator's images now with those before."""
    return watches.look(images_now(generator, watches.prompts, seeds))


@torch.no_grad()
def images_now(
    generator: TrainableGenerator, prompts: Sequence[str], seeds: Sequence[int], batch: int = 32
) -> Images:
    """Images of a generator as they are saved."""
    parts = [
        to_bytes(sample(generator, prompts[start : start + batch], seeds[start : start + batch]).images)
        for start in range(0, len(prompts), batch)
    ]
    return np.concatenate(parts)


def _score(reward: Reward) -> Score:
    def score(images: Images, prompts: Sequence[str]) -> NDArray[np.float64]:
        return reward.plain(torch.from_numpy(images).movedim(-1, 1).float() / 255, prompts)

    return score
