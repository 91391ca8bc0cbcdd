"""Where a model is trained: devices, the processes that train together, precision and random states."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch
from accelerate import Accelerator, PartialState
from accelerate.state import AcceleratorState
from accelerate.utils import DistributedDataParallelKwargs, broadcast_object_list
from torch.utils import deterministic

from beholder.learn.recipe import Training
from beholder.learn.tracking import Tracking

PATH_OF_PART = 4
"""Separates the seeds of dropout from those of the data loader."""


def process_count() -> int:
    """Return the number of processes that train together."""
    return int(PartialState(cpu=_on_cpu()).num_processes)


def is_main_process() -> bool:
    """Return whether this process is the one that writes files."""
    return bool(PartialState(cpu=_on_cpu()).is_main_process)


def wait_for_all_processes() -> None:
    """Return once all processes that train together are here."""
    PartialState(cpu=_on_cpu()).wait_for_everyone()


def make_accelerator(training: Training, tracking: Tracking, folder: Path, *, skips_heads: bool) -> Accelerator:
    """Return accelerate's entry point for one training run.

    ``skips_heads``: parameters without a gradient are to be expected.
    """
    AcceleratorState._reset_state()  # a run before this one may have had another precision
    return Accelerator(
        cpu=_on_cpu(),
        mixed_precision=_precision(training),
        kwargs_handlers=[DistributedDataParallelKwargs(find_unused_parameters=skips_heads)],
        **tracking.accelerator_settings(folder),
    )


def same_everywhere(measures: Mapping[str, float]) -> dict[str, float]:
    """Return the measures of the main process, so that all processes decide alike."""
    if process_count() == 1:
        return dict(measures)
    return dict(broadcast_object_list([dict(measures)])[0])


@contextmanager
def deterministic_algorithms(device: torch.device) -> Iterator[None]:
    """Use only deterministic algorithms on a CPU; on other devices some may not exist.

    Torch would then also fill uninitialised memory, which takes a twentieth of the time; nothing here reads it.
    """
    deterministic_before = torch.are_deterministic_algorithms_enabled()
    fill_before = deterministic.fill_uninitialized_memory  # type: ignore[attr-defined]
    torch.use_deterministic_algorithms(deterministic_before or device.type == "cpu")
    deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(deterministic_before)
        deterministic.fill_uninitialized_memory = fill_before  # type: ignore[attr-defined]


def random_states() -> list[torch.Tensor]:
    """Return the random states of the CPU and of every GPU."""
    return [torch.get_rng_state(), *(torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [])]


def set_random_states(states: Sequence[torch.Tensor]) -> None:
    """Restore random states."""
    torch.set_rng_state(states[0])
    if len(states) > 1 and torch.cuda.is_available():
        torch.cuda.set_rng_state_all(list(states[1:]))


def seed_part(seed: int, step: int, part: int) -> None:
    """Set the random state of a part of a batch (its dropout), whichever process computes it."""
    sequence = np.random.SeedSequence([seed, PATH_OF_PART, step, part])
    torch.manual_seed(int(sequence.generate_state(1, np.uint64)[0] >> 1))


def _on_cpu() -> bool:
    """Return whether to train on the CPU: only if there is no accelerator."""
    return not torch.accelerator.is_available()


def _precision(training: Training) -> str:
    """Return accelerate's name of the precision."""
    if training.precision != "auto":
        return "no" if training.precision == "fp32" else training.precision
    if not torch.cuda.is_available():
        return "no"
    return "bf16" if torch.cuda.is_bf16_supported() else "fp16"
