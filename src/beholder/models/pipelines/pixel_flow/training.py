"""Training the pixel flow on images and their prompts; a run that is killed and resumed ends with equal bits."""

import hashlib
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load, save

from beholder.errors import WeightsError
from beholder.models.pipelines.pixel_flow.network import PixelFlowNetwork, PixelFlowSettings
from beholder.models.pipelines.resumable import Run, drop_state, resume_run, save_run, seeded, take_steps
from beholder.study.words import split_words
from beholder.tables.atomic import write_atomically

WEIGHTS, RECORD, CURVE = "pixel-flow.safetensors", "pixel-flow.json", "training.json"
DROPPED_PROMPTS, DROPPED_WORDS = 0.1, 0.1
"""Prompts that are left out in training, and words of the others: so that words can be weighed."""


@dataclass(frozen=True, slots=True)
class PixelFlowTraining:
    """How long and how fast the flow is trained."""

    steps: int = 2000
    batch: int = 32
    rate: float = 1.5e-3
    seed: int = 0
    save_every: int = 100
    average: float = 0.998
    """Of each step, how much of the averaged weights stays; those are the ones that are kept."""


def train_pixel_flow(
    images: NDArray[np.uint8],
    prompts: Sequence[str],
    folder: Path,
    training: PixelFlowTraining | None = None,
    *,
    resume: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> PixelFlowNetwork:
    """Train on images (n, 32, 32, 3) and their prompts; save the network and its training curve in ``folder``."""
    training = training or PixelFlowTraining()
    vocabulary = tuple(sorted({word for prompt in prompts for word in split_words(prompt)}))
    settings = PixelFlowSettings(vocabulary=vocabulary)
    torch.manual_seed(training.seed)
    network = PixelFlowNetwork(settings)
    network.to(memory_format=torch.channels_last)  # type: ignore[call-overload] # a tenth faster on a processor
    pixels = torch.from_numpy(images).movedim(-1, 1)
    numbers = word_numbers(prompts, settings)
    optimiser = torch.optim.AdamW(network.parameters(), lr=training.rate, betas=(0.9, 0.99), weight_decay=0.01)
    run = Run(dict(network.named_parameters()), optimiser, _fingerprint(images, prompts, training))
    run.tensors = {name: parameter.detach().clone() for name, parameter in run.parameters.items()}
    if resume:
        resume_run(folder, run)
    while run.step < training.steps:
        end = min((run.step // training.save_every + 1) * training.save_every, training.steps)
        loss = take_steps(run, end, lambda step: _loss(network, run, pixels, numbers, training, step))
        run.notes.append({"step": run.step, "loss": loss})
        save_run(folder, run)
        if progress:
            progress(run.step, training.steps)
    network.load_state_dict({**network.state_dict(), **run.tensors})
    save_pixel_flow(folder, network, settings)
    with write_atomically(folder / CURVE) as file:
        file.write(json.dumps(run.notes, indent=1).encode())
    drop_state(folder)
    return network.eval()


def word_numbers(
    prompts: Sequence[str], settings: PixelFlowSettings, without: Sequence[Sequence[int]] | None = None
) -> torch.Tensor:
    """Return the words of prompts as numbers (n, longest): 0 for none, 1 for an unknown or omitted word."""
    places = {word: number for number, word in enumerate(settings.vocabulary, start=2)}
    rows = torch.zeros(len(prompts), settings.longest, dtype=torch.int64)
    for row, prompt in enumerate(prompts):
        omitted = set(without[row]) if without else set()
        words = split_words(prompt)[: settings.longest]
        for place, word in enumerate(words):
            rows[row, place] = 1 if place in omitted else places.get(word, 1)
    rows[:, 0] = rows[:, 0].clamp_min(1)  # an empty prompt still has a place to attend to
    return rows


def save_pixel_flow(folder: Path, network: PixelFlowNetwork, settings: PixelFlowSettings) -> None:
    """Write weights and settings."""
    folder.mkdir(parents=True, exist_ok=True)
    state = {name: tensor.detach().contiguous() for name, tensor in network.state_dict().items()}
    with write_atomically(folder / WEIGHTS) as file:
        file.write(save(state))
    with write_atomically(folder / RECORD) as file:
        file.write(json.dumps(settings.model_dump(mode="json"), ensure_ascii=False, indent=1).encode())


def load_pixel_flow(folder: Path) -> tuple[PixelFlowNetwork, PixelFlowSettings]:
    """Return a saved network, ready to sample."""
    try:
        settings = PixelFlowSettings.model_validate_json((folder / RECORD).read_text(encoding="utf-8"))
        network = PixelFlowNetwork(settings)
        network.load_state_dict(load((folder / WEIGHTS).read_bytes()))
    except (OSError, ValueError, RuntimeError) as error:
        reason = str(error).partition("\n")[0]
        raise WeightsError(f"{folder}: no pixel flow can be read here ({reason})") from error
    return network.eval(), settings


def _loss(
    network: PixelFlowNetwork,
    run: Run,
    pixels: torch.Tensor,
    numbers: torch.Tensor,
    training: PixelFlowTraining,
    step: int,
) -> torch.Tensor:
    for group in run.optimiser.param_groups:
        group["lr"] = training.rate * _factor(step, training.steps)
    _average(run, training.average if step > 10 / (1 - training.average) else 0.9)
    random = seeded(training.seed, step)
    rows = torch.randint(len(pixels), (training.batch,), generator=random)
    clean = pixels[rows].float() / 127.5 - 1
    noise = torch.randn(clean.shape, generator=random)
    times = torch.randn(training.batch, generator=random).sigmoid()
    words = numbers[rows]
    left_out = torch.rand(words.shape, generator=random) < DROPPED_WORDS
    left_out |= torch.rand(training.batch, 1, generator=random) < DROPPED_PROMPTS
    words = torch.where(left_out & (words > 0), 1, words)
    between = torch.lerp(clean, noise, times[:, None, None, None])
    loss: torch.Tensor = (network(between, times, words) - (noise - clean)).square().mean()
    return loss


def _average(run: Run, share: float) -> None:
    with torch.no_grad():
        for name, parameter in run.parameters.items():
            run.tensors[name].lerp_(parameter, 1 - share)


def _factor(step: int, steps: int) -> float:
    """Return the factor of the learning rate: 100 steps of warm-up, and a cosine to a twentieth."""
    return min((step + 1) / 100, 1.0) * (0.05 + 0.95 * (1 + math.cos(math.pi * step / steps)) / 2)


def _fingerprint(images: NDArray[np.uint8], prompts: Sequence[str], training: PixelFlowTraining) -> str:
    digest = hashlib.sha256(np.ascontiguousarray(images).tobytes())
    digest.update(json.dumps([list(prompts), asdict(training)]).encode())
    return digest.hexdigest()
