"""Better samples from the same weights: the gradient of a reward during sampling, or the noise optimised for it.

*Guidance*: at each step the predicted clean latents x̂₀ are moved along the gradient g of the reward at the image
that they would give, which changes the velocity to v − strength · g / ‖g‖ · √dims (Bansal et al., "Universal
guidance for diffusion models", 2023, with the step's size bounded).

*Noise*: the noise ε is moved along the gradient through the whole sampling, and put back onto the sphere on which
noise lies, ‖ε‖ = √dims: an image that the generator would make anyway, with some probability (Eyring et al.,
"ReNO", 2024).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from beholder.errors import UserError
from beholder.improve.tuning.reward import Gradients, Reward
from beholder.models.pipelines.generator import TrainableGenerator
from beholder.models.pipelines.sampling import Sample, sample


@dataclass(frozen=True, slots=True)
class GuideSettings:
    """How strongly samples are guided, and how long noise is optimised; 0 leaves either out."""

    strength: float = 0.0
    """Of guidance: the part of the noise's own size by which each step is corrected."""
    from_time: float = 0.7
    """Guidance starts at this time: earlier predictions are too blurred to be scored."""
    iterations: int = 0
    """Of the optimisation of the noise."""
    rate: float = 0.15
    """How far each iteration moves the noise, as a part of its own size."""
    steps: int | None = None
    """Of sampling; by default the generator's usual number."""


def guided_sample(
    generator: TrainableGenerator,
    reward: Reward,
    prompts: Sequence[str],
    seeds: Sequence[int],
    settings: GuideSettings,
) -> Sample:
    """Sample images whose reward is higher; with both kinds, the noise is optimised before sampling is guided."""
    if reward.gradients is None:
        raise UserError(
            f"scorer '{reward.name}' has no gradients, which guidance needs; use best of n instead: beholder "
            "improve filter"
        )
    noise = generator.noise(prompts, seeds)
    if settings.iterations:
        noise = optimise_noise(generator, reward.gradients, prompts, seeds, noise, settings)
    if not settings.strength:
        with torch.no_grad():
            return sample(generator, prompts, seeds, noise=noise, steps=settings.steps)
    context = generator.context(prompts, seeds)
    gradients = reward.gradients

    def correct(latents: torch.Tensor, velocity: torch.Tensor, time: torch.Tensor) -> torch.Tensor:
        if float(time) > settings.from_time:
            return velocity
        clean = (latents - time * velocity).detach().requires_grad_()
        with torch.enable_grad():
            total = gradients(generator.decode(clean, context), prompts).sum()
            (slope,) = torch.autograd.grad(total, clean)
        return velocity - settings.strength * _to_sphere(slope)

    with torch.no_grad():
        return sample(generator, prompts, seeds, noise=noise, steps=settings.steps, correct=correct)


def optimise_noise(
    generator: TrainableGenerator,
    gradients: Gradients,
    prompts: Sequence[str],
    seeds: Sequence[int],
    noise: torch.Tensor,
    settings: GuideSettings,
) -> torch.Tensor:
    """The best of the noises that gradient ascent passes through, image by image."""
    best, highest = noise, noise.new_full((len(noise),), -torch.inf)
    lengths = _lengths(noise)
    for iteration in range(settings.iterations + 1):
        leaf = noise.detach().requires_grad_()
        drawn = sample(generator, prompts, seeds, noise=leaf, steps=settings.steps)
        rewards = gradients(drawn.images, prompts).to(noise)  # a scorer may run on another device
        better = rewards.detach() > highest
        highest = torch.where(better, rewards.detach(), highest)
        best = torch.where(better.reshape(-1, *[1] * (noise.ndim - 1)), leaf.detach(), best)
        if iteration == settings.iterations:
            break
        (slope,) = torch.autograd.grad(rewards.sum(), leaf)
        moved = noise + settings.rate * _to_sphere(slope)
        noise = moved * (lengths / _lengths(moved))
    return best


def _to_sphere(slope: torch.Tensor) -> torch.Tensor:
    """Gradients (n, …) of the length of noise, √dims; those of length 0 stay 0."""
    scaled: torch.Tensor = slope / _lengths(slope).clamp_min(1e-12) * float(slope[0].numel()) ** 0.5
    return scaled


def _lengths(rows: torch.Tensor) -> torch.Tensor:
    lengths: torch.Tensor = torch.linalg.vector_norm(rows.flatten(1), dim=1)
    return lengths.reshape(-1, *[1] * (rows.ndim - 1))
