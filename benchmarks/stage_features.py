"""What features of all stages cost beside the bare forward pass: ``python benchmarks/stage_features.py``.

Processor seconds on one core, alternating runs, medians of the ratios: ``make bench`` has these rows too (``python
benchmarks/run.py stage_features``). Cheaper forward passes, with what they cost in agreement, are in
``forward_ways.py``.
"""

import time
from collections.abc import Iterator
from functools import partial
from typing import TypeVar

import numpy as np
import torch
from harness import Comparison, measure, table
from numpy.typing import NDArray
from PIL import Image

from beholder.models.allocator import keep_freed_memory
from beholder.models.encoders.catalogue import ENCODERS, EncoderEntry, load_encoder
from beholder.models.encoders.efficientnet_lite import load_network
from beholder.models.encoders.encoder import Encoder
from beholder.models.encoders.stage_features import VARIANTS

Laid = TypeVar("Laid", torch.Tensor, torch.nn.Module)
BATCH, TURNS = 4, 5


def main() -> None:
    print(table([measure(row) for row in comparisons()]))


def comparisons() -> Iterator[Comparison]:
    """Features of every encoder of stages, against the bare forward pass of its network on the same arrays."""
    torch.set_num_threads(1)
    keep_freed_memory()  # as the commands do
    for name, entry in sorted(ENCODERS.items(), key=lambda item: item[0], reverse=True):
        if not staged(entry):
            continue
        encoder = load_encoder(name)
        network = load_network(name, VARIANTS[entry.variant].size, entry.weights)[0].eval()
        prepared = np.stack(prepare_all(encoder, noise()))
        whole = " of part of the network" if VARIANTS[entry.variant].depth else ""
        task = f"features{whole} by {name}, {BATCH} images of {prepared.shape[-1]} px, against its bare forward"
        bare = partial(forward, last_channels(network), last_channels(torch.from_numpy(prepared)))
        yield Comparison(task, partial(encoder.network, prepared), bare, "torch", TURNS, time.process_time)


@torch.inference_mode()
def forward(network: torch.nn.Module, pixels: torch.Tensor) -> torch.Tensor:
    features: torch.Tensor = network(pixels)
    return features


def last_channels(tensor_or_network: Laid) -> Laid:
    return tensor_or_network.to(memory_format=torch.channels_last)  # type: ignore[call-overload,no-any-return]


def noise() -> list[Image.Image]:
    rng = np.random.default_rng(0)
    return [Image.fromarray(rng.integers(0, 256, (512, 512, 3), np.uint8)) for _ in range(BATCH)]


def prepare_all(encoder: Encoder, images: list[Image.Image]) -> list[NDArray[np.float32]]:
    return [encoder.preprocessing.prepare(image) for image in images]


def staged(entry: EncoderEntry) -> bool:
    return entry.module == "stage_features"


if __name__ == "__main__":
    main()
