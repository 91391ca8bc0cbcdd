"""A torch module as the plain function of arrays that an encoder holds."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import torch
from numpy.typing import NDArray

from beholder.models.encoders.encoder import Vectors


def as_network(
    module: torch.nn.Module, output: Callable[[torch.Tensor], torch.Tensor] | None = None
) -> Callable[[NDArray[np.float32]], Vectors]:
    """The module for inference, on the GPU if there is one; ``output`` takes the place of its ``forward``."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    module.eval().requires_grad_(requires_grad=False).to(device)
    module.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    forward = output or module

    def network(images: NDArray[np.float32]) -> Vectors:
        with torch.inference_mode():
            given = torch.from_numpy(images).to(device, memory_format=torch.channels_last)
            vectors: Vectors = forward(given).float().cpu().numpy()
            return vectors

    return network


@contextmanager
def share_cores(workers: int) -> Iterator[None]:
    """Within it, torch uses as many threads a call as there are cores for each of the workers."""
    before = torch.get_num_threads()
    torch.set_num_threads(max((os.cpu_count() or 1) // workers, 1))
    try:
        yield
    finally:
        torch.set_num_threads(before)
