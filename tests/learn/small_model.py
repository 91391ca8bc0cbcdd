"""A model that trains in a moment, with a dropout that uses the random state, and numbers for it to learn.

Run as ``python small_model.py FOLDER KILLS SEED`` it is trained in child processes: once undisturbed, then killed
at random moments until it is finished; the final weights of both are written as bytes. Run in several processes as
``small_model.py FOLDER shared``, it is trained by all of them together.
"""

import os
import random
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import nn

from beholder.learn.processes.devices import is_main_process, process_count
from beholder.learn.recipe import Training
from beholder.learn.state import load_state
from beholder.learn.train import train
from beholder.models.trainable import Config, Groups, decayed_groups

FEATURES = 6


@dataclass(frozen=True, eq=False)
class Numbers:
    """A batch of numbers."""

    x: torch.Tensor
    y: torch.Tensor

    def to(self, device: torch.device) -> Self:
        return type(self)(self.x.to(device), self.y.to(device))


class SmallModel:
    """Two layers."""

    def __init__(self, seed: int = 0) -> None:
        torch.manual_seed(seed)
        self.module = nn.Sequential(nn.Linear(FEATURES, 8), nn.Tanh(), nn.Dropout(0.3), nn.Linear(8, 1))
        self.steps = 0

    @property
    def config(self) -> Config:
        return {}

    def prepare(self, image: Image.Image, rng: np.random.Generator | None) -> NDArray[np.float32]:
        raise NotImplementedError

    def parameter_groups(self, learning_rate: float, weight_decay: float) -> Groups:
        return decayed_groups(self.module, learning_rate, weight_decay)

    def loss(self, batch: Numbers) -> torch.Tensor:
        return nn.functional.mse_loss(self.module(batch.x)[:, 0], batch.y)

    def predict(self, batch: Numbers) -> Mapping[str, torch.Tensor]:
        return {"y": self.module(batch.x)[:, 0]}

    def after_step(self) -> None:
        self.steps += 1


@dataclass(frozen=True)
class NumbersLoader:
    """Batches that follow from the step alone."""

    batch: int = 16
    steps_per_epoch: int = 10
    wrong: bool = False

    def __call__(self, step: int, part: int) -> Numbers:
        return numbers([7, step, part], self.batch, noise=self.wrong)


def numbers(seed: list[int], count: int, *, noise: bool = False) -> Numbers:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, FEATURES)).astype(np.float32)
    y = np.tanh(x[:, 0] - 2 * x[:, 1]) if not noise else rng.normal(size=count).astype(np.float32) * 3
    return Numbers(torch.from_numpy(x), torch.from_numpy(y))


def validation_of(model: SmallModel) -> Mapping[str, float]:
    with torch.no_grad():
        return {"minus-error": -float(model.loss(numbers([8], 64))), "one": 1.0}


def settings(**changes: object) -> Training:
    defaults: dict[str, object] = {
        "steps": 60,
        "batch": 16,
        "learning_rate": 0.01,
        "weight_decay": 0.1,
        "warmup": 5,
        "validate_every": 10,
        "save_every": 7,
        "log_every": 5,
    }
    return Training.model_validate(defaults | changes)


STEP_SECONDS = 0.004
"""Slept in each step, so that kills fall everywhere."""


class SlowLoader(NumbersLoader):
    def __call__(self, step: int, part: int) -> Numbers:
        time.sleep(STEP_SECONDS)
        return super().__call__(step, part)


def once(folder: Path) -> None:
    """Train, or resume training, and write the weights and the curve."""
    model = SmallModel()
    summary = train(
        model,
        SlowLoader(),
        lambda: validation_of(model),
        settings(accumulate=2, save_every=3),
        folder,
        fingerprint="f",
        resume=True,
    )
    weights = b"".join(value.numpy().tobytes() for value in model.module.state_dict().values())
    (folder / "weights").write_bytes(weights)
    (folder / "curve").write_text(repr(summary.curve))


def shared(folder: Path) -> None:
    """Train in as many processes as there are, two parts per batch, without dropout (each would draw its own)."""
    model = SmallModel()
    model.module[2] = nn.Identity()
    training = settings(steps=5, accumulate=2 // process_count())
    train(model, NumbersLoader(), lambda: validation_of(model), training, folder, fingerprint="f", resume=True)
    if is_main_process():
        torch.save(model.module.state_dict(), folder / f"weights-of-{process_count()}.pt")


def in_child(folder: Path, lives: float | None) -> bool:
    """Return whether the child ended by itself; it is killed after ``lives`` seconds."""
    child = os.fork()
    if child == 0:
        once(folder)
        os._exit(0)
    if lives is not None:
        time.sleep(lives)
        os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1] == 0


def main(folder: Path, kills: int, seed: int) -> None:
    """Train both ways, and print the last saved step at each kill."""
    torch.set_num_threads(1)
    for name in ("warm", "undisturbed", "killed"):
        (folder / name).mkdir()
    once(folder / "warm")  # what is imported late is imported now, not in every child
    began = time.perf_counter()
    assert in_child(folder / "undisturbed", None)
    seconds = time.perf_counter() - began
    draw = random.Random(seed)
    killed_at = []
    for _ in range(kills):
        if in_child(folder / "killed", draw.uniform(0.15, 0.4) * seconds):  # several, however fast the disk
            break
        state = load_state(folder / "killed", "f")
        killed_at.append(state.step if state else 0)
    else:
        assert in_child(folder / "killed", None)
    print(*killed_at)


if __name__ == "__main__" and sys.argv[2] == "shared":
    shared(Path(sys.argv[1]))
elif __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
