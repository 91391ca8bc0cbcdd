"""The loss of one step of tuning, by method; all of them for any flow."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch.nn import functional

from beholder.improve.tuning.adapters import base_weights
from beholder.improve.tuning.reward import Gradients, Reward
from beholder.improve.tuning.settings import TuneSettings
from beholder.models.pipelines.generator import Context, TrainableGenerator
from beholder.models.pipelines.resumable import seeded
from beholder.models.pipelines.sampling import matching_errors, sample


@dataclass(frozen=True, eq=False)
class Prompts:
    """Prompts to sample from; each step draws some, with seeds of their own."""

    texts: tuple[str, ...]
    seeds: tuple[int, ...]
    """From which the seed of an image is drawn."""

    def draw(self, count: int, random: torch.Generator) -> tuple[list[str], list[int]]:
        """Draw prompts and seeds, with replacement."""
        rows = torch.randint(len(self.texts), (count,), generator=random)
        places = torch.randint(len(self.seeds), (count,), generator=random)
        return [self.texts[int(row)] for row in rows], [self.seeds[int(place)] for place in places]


@dataclass(frozen=True, eq=False)
class Examples:
    """Images that were chosen: their clean latents, and what weighs the parts of each (or nothing)."""

    latents: torch.Tensor  # (n, …)
    context_of: Callable[[Sequence[int]], Context]
    """From rows to their context."""
    weights: torch.Tensor | None = None  # (n, …)


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of images of one prompt, the preferred one first, with how often it was preferred."""

    winners: torch.Tensor  # (n, …)
    losers: torch.Tensor  # (n, …)
    context_of: Callable[[Sequence[int], bool], Context]
    """From rows, and whether the winners are meant, to their context."""
    share: torch.Tensor  # (n,), of the votes for the first


def reward_loss(
    generator: TrainableGenerator, gradients: Gradients, prompts: Prompts, settings: TuneSettings, step: int
) -> torch.Tensor:
    """DRaFT or ReFL: less the mean reward, and the anchor."""
    random = seeded(settings.seed, step)
    texts, seeds = prompts.draw(settings.batch, random)
    steps = settings.sampling_steps or generator.steps
    stop, last = None, settings.last
    if settings.method == "refl":
        stop, last = steps - int(torch.randint(max(steps // 3, 1), (1,), generator=random)), 1
    drawn = sample(generator, texts, seeds, steps=steps, last=last, stop=stop)
    loss = -gradients(drawn.images, texts).mean()
    return loss + _anchored(generator, drawn.latents, generator.context(texts, seeds), settings, random)


def chosen_loss(
    generator: TrainableGenerator, examples: Examples, settings: TuneSettings, step: int
) -> torch.Tensor:
    """SFT: the error of the velocity on images that were chosen, weighed where weights are given."""
    random = seeded(settings.seed, step)
    rows = torch.randint(len(examples.latents), (settings.batch,), generator=random)
    clean, context = examples.latents[rows], examples.context_of(rows.tolist())
    noise, times = _noised(clean, random)
    weights = examples.weights[rows] if examples.weights is not None else None
    errors = matching_errors(generator, clean, context, noise, times, weights)
    loss = errors.mean() if weights is None else _weighted_mean(errors, weights.flatten(1).mean(1))
    return loss + _anchored(generator, clean, context, settings, random)


def _weighted_mean(errors: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """The mean of errors (n,), so that an image that weighs less as a whole counts less."""
    return (errors * weights).sum() / weights.sum().clamp_min(1e-8)


def pair_loss(generator: TrainableGenerator, pairs: Pairs, settings: TuneSettings, step: int) -> torch.Tensor:
    """Diffusion-DPO with soft votes p: −p log σ(m) − (1 − p) log σ(−m), with m = −β (Δ of winner − Δ of loser).

    Δ is the error of the velocity less that of the base, at the same noise and time.
    """
    random = seeded(settings.seed, step)
    rows = torch.randint(len(pairs.winners), (settings.batch,), generator=random)
    noise, times = _noised(pairs.winners[rows], random)
    differences = []
    for latents, won in ((pairs.winners, True), (pairs.losers, False)):
        context = pairs.context_of(rows.tolist(), won)
        tuned = matching_errors(generator, latents[rows], context, noise, times)
        with base_weights(generator), torch.no_grad():
            base = matching_errors(generator, latents[rows], context, noise, times)
        differences.append(tuned - base)
    margins = -settings.beta * (differences[0] - differences[1])
    share = pairs.share[rows].to(margins)
    return -(share * functional.logsigmoid(margins) + (1 - share) * functional.logsigmoid(-margins)).mean()


def policy_loss(
    generator: TrainableGenerator, reward: Reward, prompts: Prompts, settings: TuneSettings, step: int
) -> torch.Tensor:
    """DDPO: the log-probability of each step that was taken, times how much better its image is than others.

    Noise is drawn again at each step: x' = (1 − t') x̂₀ + t' (√(1 − η²) ε̂ + η z). Half of a batch shares a prompt
    with the other half, so that images of one prompt are compared.
    """
    random = seeded(settings.seed, step)
    texts, seeds = prompts.draw(max(settings.batch // 2, 1), random)
    texts, seeds = texts * 2, [*seeds, *(seed + 1 for seed in seeds)]
    context, latents = generator.context(texts, seeds), generator.noise(texts, seeds)
    times = generator.times(settings.sampling_steps or generator.steps)
    moves = []
    with torch.no_grad():
        for now, after in pairwise(times):
            mean = _noisy_mean(generator, latents, now, after, context, settings.noise)
            drawn = torch.randn(latents.shape, generator=random).to(latents)
            following = mean + after * settings.noise * drawn
            moves.append((latents, following, now, after))
            latents = following
        rewards = torch.from_numpy(reward.plain(generator.decode(latents, context), texts)).to(latents)
    halves = rewards.reshape(2, -1)
    advantages = ((halves - halves.mean(0)) / rewards.std().clamp_min(1e-6)).flatten()
    total = latents.new_zeros(())
    for before, following, now, after in moves[:-1]:  # the last step has no noise, so no probability
        mean = _noisy_mean(generator, before, now, after, context, settings.noise)
        errors = ((following - mean) / (after * settings.noise)).square().flatten(1).mean(1)
        total = total + (advantages * errors).mean() / 2
    return total / len(moves) + _anchored(generator, latents, context, settings, random)


def _noisy_mean(
    generator: TrainableGenerator,
    latents: torch.Tensor,
    now: torch.Tensor,
    after: torch.Tensor,
    context: Context,
    share: float,
) -> torch.Tensor:
    velocity = generator.velocity(latents, now.expand(len(latents)), context)
    clean = latents - now * velocity
    mean: torch.Tensor = (1 - after) * clean + after * (1 - share**2) ** 0.5 * (clean + velocity)
    return mean


def _anchored(
    generator: TrainableGenerator,
    clean: torch.Tensor,
    context: Context,
    settings: TuneSettings,
    random: torch.Generator,
) -> torch.Tensor:
    """The weighted squared distance of the velocity from the base's, at noised latents."""
    if not settings.anchor:
        return clean.new_zeros(())
    clean = clean.detach()
    noise, times = _noised(clean, random)
    between = clean + (noise - clean) * times.reshape(-1, *[1] * (clean.ndim - 1))
    with base_weights(generator), torch.no_grad():
        base = generator.velocity(between, times, context)
    return settings.anchor * (generator.velocity(between, times, context) - base).square().mean()


def _noised(clean: torch.Tensor, random: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Noise and times for latents (n, …): drawn on the CPU, where a seed gives the same for every device."""
    noise, times = torch.randn(clean.shape, generator=random), torch.rand(len(clean), generator=random)
    return noise.to(clean), times.to(clean)
