"""Critics that see the ground truth of the synthetic world through noise: tests of improving need no network."""

import hashlib
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from beholder.improve.critic import Critic, Heatmap, Pixels
from beholder.simulate.grammar import draw_requests, prompt_text
from beholder.simulate.inpainting.oracle import WorldInpainter
from beholder.simulate.inpainting.origins import Origin
from beholder.simulate.painter import Policy

SIZE = 48
POLICY = Policy("bad", implausible=1.6, misaligned=0.1, composition=0.2, haze=0.2, severity=0.7)


def noisy_critic(world: WorldInpainter, noise: float, name: str) -> Critic:
    """Plausibility plus noise that is the same for the same pixels; heatmaps are the true regions, less sharp."""

    def score(images: Sequence[Pixels], prompts: Sequence[str]) -> np.ndarray:
        assert len(images) == len(prompts)
        return np.array([world.truth(image).plausibility + noise * _error(image, name) for image in images])

    def heatmaps(images: Sequence[Pixels], prompts: Sequence[str]) -> list[Heatmap]:
        assert len(images) == len(prompts)
        return [0.9 * world.truth(image).implausible.astype(np.float32) for image in images]

    return Critic(name, "plausibility", score, 1.96 * noise, heatmaps)


def _error(image: Pixels, name: str) -> float:
    digest = hashlib.sha256(name.encode() + image.tobytes()).digest()
    return float(np.random.default_rng(int.from_bytes(digest[:8], "big")).normal())


@pytest.fixture
def critic_of() -> Callable[[WorldInpainter, float, str], Critic]:
    return noisy_critic


@pytest.fixture
def origins() -> list[Origin]:
    """Twenty-four images, one per prompt."""
    requests = draw_requests(24, np.random.default_rng(8))
    return [Origin(prompt_text(request), POLICY, (number, 8), SIZE) for number, request in enumerate(requests)]
