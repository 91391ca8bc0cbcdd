"""The settings of tuning."""

from dataclasses import dataclass
from typing import Literal

Method = Literal["draft", "refl", "sft", "dpo", "ddpo"]
"""DRaFT and ReFL follow a reward's gradients; SFT takes images that were chosen; DPO people's pairs; DDPO a reward
without gradients."""

METHODS: dict[str, str] = {
    "draft": "the reward's gradient through the last steps of sampling (Clark et al. 2024)",
    "refl": "the reward's gradient at an image predicted along the way (Xu et al. 2023)",
    "sft": "training on images that were chosen",
    "dpo": "Diffusion-DPO, on raters' own pairs (Wallace et al. 2024)",
    "ddpo": "policy gradients, for scorers without gradients (Black et al. 2024)",
}


@dataclass(frozen=True, slots=True)
class TuneSettings:
    """How a generator is tuned."""

    method: Method = "draft"
    steps: int = 60
    batch: int = 12
    rate: float = 1e-3
    rank: int = 8
    anchor: float = 1.0
    """Weight of the squared distance of the velocity from the base's; 0 lets the generator go wherever the scorer
    leads it."""
    last: int = 1
    """DRaFT: sampling steps with gradients."""
    beta: float = 500.0
    """DPO: how far a pair may move the generator from the base; more is less far."""
    noise: float = 0.3
    """DDPO: part of the noise that is drawn again at each step."""
    sampling_steps: int | None = None
    check_every: int = 10
    """Steps between two looks at the alarms."""
    seed: int = 0
