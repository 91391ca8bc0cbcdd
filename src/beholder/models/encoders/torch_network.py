"""A torch module as a function of arrays, as encoders hold it."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import torch
from numpy.typing import NDArray

from beholder.models.encoders.encoder import Vectors

CPU_PIXELS = 4 * 224 * 224
"""Per forward pass on a CPU: maps of more fall out of its cache, and out of the heaps that a thread keeps."""


def as_network(
    module: torch.nn.Module, output: Callable[[torch.Tensor], torch.Tensor] | None = None
) -> Callable[[NDArray[np.float32]], Vectors]:
    """The module for inference, on the GPU if there is one; ``output`` replaces its ``forward``."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    module.eval().requires_grad_(requires_grad=False).to(device)
    module.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    forward = output or module

    def network(images: NDArray[np.float32]) -> Vectors:
        size = len(images)
        if device.type == "cpu":
            size = max(CPU_PIXELS // (images.shape[-2] * images.shape[-1]), 1)
        with torch.inference_mode():
            inputs = torch.from_numpy(images).to(device, memory_format=torch.channels_last)
            parts = [forward(part).float().cpu() for part in torch.split(inputs, size)]
            vectors: Vectors = torch.cat(parts).numpy()
            return vectors

    return network


@contextmanager
def share_cores(workers: int) -> Iterator[None]:
    """A context in which torch uses, per call, the number of cores divided by that of workers.

    A process that was given some of the cores says so by ``OMP_NUM_THREADS``, as workers of a cluster do.
    """
    before = torch.get_num_threads()
    lent = os.environ.get("OMP_NUM_THREADS", "")
    cores = int(lent) if lent.isdigit() and int(lent) > 0 else os.cpu_count() or 1
    torch.set_num_threads(max(cores // workers, 1))
    try:
        yield
    finally:
        torch.set_num_threads(before)
