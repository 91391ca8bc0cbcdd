"""The state of a training run on disk: everything needed to resume it as if it had never stopped."""

import pickle
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from beholder.errors import TrainingError
from beholder.tables.atomic import write_atomically

FILE_NAME = "state.pt"

UNREADABLE = (pickle.UnpicklingError, RuntimeError, EOFError, OSError, ValueError, KeyError, TypeError)
"""Exceptions that torch raises for a damaged file."""


@dataclass(frozen=True, slots=True)
class Point:
    """One value of a training curve."""

    step: int
    split: str
    """``train`` or ``validation``"""
    measure: str
    value: float


Curve = tuple[Point, ...]


@dataclass(frozen=True, eq=False)
class State:
    """Everything that changes during training. The learning rate and the batches follow from the step."""

    fingerprint: str
    step: int
    weights: Mapping[str, torch.Tensor]
    optimiser: dict[str, Any]
    scaler: dict[str, Any]
    """Of mixed precision."""
    random: list[torch.Tensor]
    curve: Curve
    best: Point | None
    best_weights: Mapping[str, torch.Tensor]
    looks_since_best: int
    """Validations since the best one."""
    seconds: float
    """Time spent so far, including runs that were interrupted."""


def save_state(folder: Path, state: State) -> None:
    """Write the state; if the process is killed meanwhile, the previous state remains."""
    content = {name: getattr(state, name) for name in State.__dataclass_fields__}
    content["weights"], content["best_weights"] = dict(state.weights), dict(state.best_weights)
    content["curve"] = [asdict(point) for point in state.curve]
    content["best"] = asdict(state.best) if state.best else None
    with write_atomically(folder / FILE_NAME) as file:
        torch.save(content, file)


def load_state(folder: Path, fingerprint: str) -> State | None:
    """Return the saved state, or None; an error if it is damaged or belongs to another recipe, labels or split."""
    path = folder / FILE_NAME
    if not path.is_file():
        return None
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
        curve = tuple(Point(**point) for point in content.pop("curve"))
        best = content.pop("best")
        state = State(**content, curve=curve, best=Point(**best) if best else None)
    except UNREADABLE as error:
        raise TrainingError(f"{path}: cannot be read ({error}). Start again with --force") from error
    if state.fingerprint != fingerprint:
        raise TrainingError(
            f"{path}: the state of another run: the recipe, the labels or the split have changed since. "
            "Undo the change to resume, or start again with --force"
        )
    return state


def drop_state(folder: Path) -> None:
    """Delete the state of a run that has ended."""
    (folder / FILE_NAME).unlink(missing_ok=True)
