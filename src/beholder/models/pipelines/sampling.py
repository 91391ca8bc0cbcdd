"""Sampling from a flow, with gradients where they are asked for, and with the hooks of guidance.

From t = 1 down to 0 in steps of Euler's method: x ← x + (t' − t) v(x, t). The clean latents that a step predicts
are x̂₀ = x − t v.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from beholder.models.pipelines.generator import Context, TrainableGenerator, Words

Correct = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]
"""From latents, velocity and time to a corrected velocity."""


@dataclass(frozen=True, slots=True)
class Emphasis:
    """Words to which a prompt's image should pay more attention.

    The velocity becomes v₀ + weight · (v − v₀), where v₀ is that of the prompt without these words: 1 changes
    nothing, more follows the words more closely.
    """

    words: Words
    weight: float = 3.0


@dataclass(frozen=True, eq=False)
class Sample:
    """Images and the clean latents that they were decoded from."""

    images: torch.Tensor  # (n, 3, height, width), from 0 to 1
    latents: torch.Tensor  # (n, …)


def sample(
    generator: TrainableGenerator,
    prompts: Sequence[str],
    seeds: Sequence[int],
    *,
    noise: torch.Tensor | None = None,
    steps: int | None = None,
    last: int = 0,
    stop: int | None = None,
    emphasis: Emphasis | None = None,
    correct: Correct | None = None,
) -> Sample:
    """Sample images.

    Args:
        generator: what is sampled from.
        prompts: one per image.
        seeds: one per image.
        noise: to start from; by default that of the seeds.
        steps: of Euler's method; by default the generator's usual number.
        last: how many of the last steps have gradients towards the weights and the latents before them.
        stop: the step at which the clean latents are predicted instead of sampling on; by default the end.
        emphasis: words to be followed more closely.
        correct: changes the velocity at every step.

    Returns:
        The images, with gradients if ``last`` is more than 0 or the noise requires them.
    """
    context = generator.context(prompts, seeds)
    plain = generator.context(prompts, seeds, emphasis.words) if emphasis else None
    latents = generator.noise(prompts, seeds) if noise is None else noise
    times = generator.times(steps or generator.steps)
    end = len(times) - 1 if stop is None else stop
    through = noise is not None and noise.requires_grad
    for step in range(end):
        with torch.set_grad_enabled(through or step >= end - last):
            velocity = _velocity(generator, latents, times[step], context, plain, emphasis)
            if correct is not None:
                velocity = correct(latents, velocity, times[step])
            following = times[step + 1] if step < end - 1 or stop is None else torch.zeros(())
            latents = latents + (following - times[step]) * velocity
    with torch.set_grad_enabled(through or last > 0):
        return Sample(generator.decode(latents, context), latents)


def _velocity(
    generator: TrainableGenerator,
    latents: torch.Tensor,
    time: torch.Tensor,
    context: Context,
    plain: Context | None,
    emphasis: Emphasis | None,
) -> torch.Tensor:
    times = time.expand(len(latents))
    velocity = generator.velocity(latents, times, context)
    if emphasis is None or plain is None:
        return velocity
    without = generator.velocity(latents, times, plain)
    return without + emphasis.weight * (velocity - without)


def matching_errors(
    generator: TrainableGenerator,
    clean: torch.Tensor,
    context: Context,
    noise: torch.Tensor,
    times: torch.Tensor,
    weights: torch.Tensor | None = None,
) -> torch.Tensor:
    """The squared error of the velocity at latents between ``clean`` and ``noise``, (n,): the loss of training.

    ``weights`` (n, …) weigh the parts of the latents, for instance by where an image is implausible.
    """
    shape = (-1, *[1] * (clean.ndim - 1))
    between = clean + (noise - clean) * times.reshape(shape)
    errors = (generator.velocity(between, times, context) - (noise - clean)).square()
    if weights is None:
        return errors.flatten(1).mean(1)
    spread = weights.expand_as(errors).flatten(1)
    return (errors.flatten(1) * spread).sum(1) / spread.sum(1).clamp_min(1e-8)
