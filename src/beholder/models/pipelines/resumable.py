"""A run of gradient steps that can be killed at any moment and resumed to equal bits."""

import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from beholder.errors import TrainingError
from beholder.tables.atomic import write_atomically

STATE = "state.pt"
UNREADABLE = (pickle.UnpicklingError, RuntimeError, EOFError, OSError, ValueError, KeyError, TypeError)


@dataclass(eq=False)
class Run:
    """What changes while a run goes on; the batch and the noise of a step follow from the step and the seed."""

    parameters: dict[str, torch.nn.Parameter]
    optimiser: torch.optim.Optimizer
    fingerprint: str
    """Of the data and the settings: a run is resumed with equal ones only."""
    step: int = 0
    notes: list[dict[str, Any]] = field(default_factory=list)
    """What was recorded on the way, as plain dictionaries."""
    tensors: dict[str, torch.Tensor] = field(default_factory=dict)
    """Other tensors that change with the steps, such as the best weights so far."""


def save_run(folder: Path, run: Run) -> None:
    """Write the state; if the process is killed meanwhile, the previous state remains."""
    content = {
        "fingerprint": run.fingerprint,
        "step": run.step,
        "parameters": {name: parameter.detach() for name, parameter in run.parameters.items()},
        "optimiser": run.optimiser.state_dict(),
        "notes": run.notes,
        "tensors": run.tensors,
    }
    folder.mkdir(parents=True, exist_ok=True)
    with write_atomically(folder / STATE) as file:
        torch.save(content, file)


def resume_run(folder: Path, run: Run) -> bool:
    """Put a saved state into ``run``; return whether there was one. That of another run is an error."""
    path = folder / STATE
    if not path.is_file():
        return False
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
        fingerprint = content["fingerprint"]
    except UNREADABLE as error:
        raise TrainingError(f"{path}: cannot be read ({error}). Start again with --force") from error
    if fingerprint != run.fingerprint:
        raise TrainingError(
            f"{path}: the state of another run: its images, prompts or settings have changed since. Undo the "
            "change to resume, or start again with --force"
        )
    with torch.no_grad():
        for name, parameter in run.parameters.items():
            parameter.copy_(content["parameters"][name])
    run.optimiser.load_state_dict(content["optimiser"])
    run.step, run.notes, run.tensors = int(content["step"]), list(content["notes"]), dict(content["tensors"])
    return True


def drop_state(folder: Path) -> None:
    """Delete the state of a run that has ended."""
    (folder / STATE).unlink(missing_ok=True)


def seeded(seed: int, step: int, purpose: int = 0) -> torch.Generator:
    """A random generator of one step, whatever ran before it."""
    return torch.Generator("cpu").manual_seed((seed * 1_000_003 + step) * 31 + purpose)


def take_steps(run: Run, steps: int, step: Callable[[int], torch.Tensor], *, clip: float | None = 1.0) -> float:
    """Take steps of the optimiser until ``steps``, and return their mean loss; ``step`` returns that of a step."""
    losses = []
    while run.step < steps:
        loss = step(run.step)
        if not bool(torch.isfinite(loss)):
            raise TrainingError(f"the loss is {float(loss.detach())} at step {run.step}: lower the learning rate")
        run.optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        if clip is not None:
            torch.nn.utils.clip_grad_norm_(list(run.parameters.values()), clip)
        run.optimiser.step()
        run.step += 1
        losses.append(float(loss.detach()))
    return sum(losses) / max(len(losses), 1)
