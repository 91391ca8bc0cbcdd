"""The flow of the painted generator: a small network that turns noise into latents, given the circumstances.

Straight paths from data x₀ to noise ε, x_t = (1 − t) x₀ + t ε; the network learns their velocity ε − x₀ (Lipman et
al., "Flow matching", 2023; Liu et al., "Rectified flow", 2023).
"""

import math
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import nn

from beholder.simulate.flaws import FLAWS
from beholder.simulate.grammar import draw_requests
from beholder.simulate.painted.canvas import candidate_attributes
from beholder.simulate.painted.habits import FEATURES, Circumstances, draw_latents, features
from beholder.simulate.painted.latents import DIMS, FIRST_GAIN, FIRST_PATTERN, REGIONS

WIDTH = 160
CLOCK = 16
"""Numbers that a time is spread over."""
BASE = Path(__file__).with_name("base.safetensors")
"""The weights before anybody improves them; ``python -m beholder.simulate.painted.flow`` trains them again."""


class PaintedFlow(nn.Module):
    """The velocity of latents (n, dims) at times (n,), given features of the circumstances (n, features)."""

    scale: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(DIMS + CLOCK + FEATURES, WIDTH)
        self.second = nn.Linear(WIDTH, WIDTH)
        self.third = nn.Linear(WIDTH, WIDTH)
        self.last = nn.Linear(WIDTH, DIMS)
        self.register_buffer("scale", _scale())

    def forward(self, latents: torch.Tensor, times: torch.Tensor, circumstances: torch.Tensor) -> torch.Tensor:
        """Return the velocity, in units of the latents divided by ``scale``."""
        hidden = nn.functional.silu(self.first(torch.cat([latents, clock(times), circumstances], 1)))
        hidden = hidden + nn.functional.silu(self.second(hidden))
        hidden = hidden + nn.functional.silu(self.third(hidden))
        velocity: torch.Tensor = self.last(hidden)
        return velocity


def clock(times: torch.Tensor) -> torch.Tensor:
    """Return sines and cosines of times (n,) in 0 to 1; (n, CLOCK)."""
    rates = torch.exp(torch.arange(CLOCK // 2) * (math.log(64) / (CLOCK // 2 - 1)))
    angles = times[:, None] * rates * (math.pi / 2)
    return torch.cat([angles.sin(), angles.cos()], 1)


def _scale() -> torch.Tensor:
    """Return the latents' standard deviations, roughly, by which they are divided for the flow."""
    scale = torch.full((DIMS,), 0.5)
    scale[FIRST_GAIN:FIRST_PATTERN] = 0.03
    scale[FIRST_PATTERN:] = 0.004
    return scale


def load_base() -> PaintedFlow:
    """Return the flow with the weights that come with beholder."""
    flow = PaintedFlow()
    flow.load_state_dict(load_file(BASE))
    return flow.eval()


def train_base(*, seed: int = 0, examples: int = 40_000, steps: int = 12_000, batch: int = 512) -> PaintedFlow:
    """Train the flow on latents drawn by the generator's habits; a third of the attributes' words is not heard."""
    rng = np.random.default_rng([seed, 22])
    torch.manual_seed(seed)
    flow = PaintedFlow()
    drawn = [_draw_example(rng) for _ in range(examples)]
    conditions = torch.from_numpy(np.stack([features(example) for example in drawn]))
    clean = torch.from_numpy(np.stack([draw_latents(example, rng) for example in drawn])) / flow.scale
    optimiser = torch.optim.AdamW(flow.parameters(), lr=2e-3, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    for _ in range(steps):
        rows = torch.randint(examples, (batch,))
        noise, times = torch.randn(batch, DIMS), torch.rand(batch)
        between = torch.lerp(clean[rows], noise, times[:, None])
        loss = (flow(between, times, conditions[rows]) - (noise - clean[rows])).square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    return flow.eval()


def _draw_example(rng: np.random.Generator) -> Circumstances:
    (request,) = draw_requests(1, rng)
    kinds = tuple(tuple(FLAWS)[int(number)] for number in rng.integers(len(FLAWS), size=REGIONS))
    candidates = candidate_attributes(request, rng)
    unheard = frozenset(candidate for candidate in candidates if candidate is not None and rng.random() < 1 / 3)
    return Circumstances(request, kinds, candidates, unheard)


if __name__ == "__main__":
    save_file(train_base().state_dict(), BASE)
