"""Training: AdamW with warm-up and cosine, looks at the validation, early stop, and going on after a kill.

The trainer knows nothing of images or labels: it takes batches by step, and a function that looks at the
validation. On a CPU it is deterministic: a run that was killed at any moment and resumed ends with the very
weights of one that was not. Devices, several processes and mixed precision are accelerate's.
"""

import logging
import math
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar

import torch
from accelerate import Accelerator, PartialState
from accelerate.state import AcceleratorState
from torch import nn
from torch.utils import deterministic

from beholder.errors import TrainingError
from beholder.learn.recipe import Training
from beholder.learn.state import Curve, Point, State, load_state, save_state
from beholder.models.trainable import Movable, Trainable

logger = logging.getLogger(__name__)

Fed = TypeVar("Fed", bound=Movable)
Fed_co = TypeVar("Fed_co", bound=Movable, covariant=True)

Look = Callable[[], Mapping[str, float]]
"""Looks at the validation examples; the first measure decides, and more of it is better."""

Progress = Callable[[int, int], None]


class Feeding(Protocol[Fed_co]):
    """Batches by step: the same for the same step, whenever it is asked for."""

    @property
    def steps_an_epoch(self) -> int:
        """Steps in which every example is seen once."""
        ...

    def __call__(self, step: int, part: int) -> Fed_co:
        """A part of the batch of a step, both from 0."""
        ...


@dataclass(frozen=True, slots=True)
class Trained:
    """What came of it: the weights are those of ``step``."""

    step: int
    steps: int
    value: float
    """the measure that decides, at that step"""
    curve: Curve
    seconds: float
    """spent in all parts of a run that was resumed"""
    stopped_early: bool


def devices() -> int:
    """How many processes train together."""
    return int(PartialState(cpu=_on_cpu()).num_processes)


def leads() -> bool:
    """Whether this process is the one that writes."""
    return bool(PartialState(cpu=_on_cpu()).is_main_process)


def train(
    model: Trainable[Fed],
    feed: Feeding[Fed],
    look: Look,
    training: Training,
    folder: Path,
    *,
    fingerprint: str,
    resume: bool,
    progress: Progress | None = None,
) -> Trained:
    """Train the model in place and leave it with the weights of its best look (or the last ones).

    ``folder`` keeps the state of the run. With ``resume`` a state that is there is gone on from, provided that its
    ``fingerprint`` (of data, split and recipe) is the same; else the run begins anew.
    """
    run = _Run(model, feed, look, training, folder, fingerprint)
    with _repeatable(run.device):
        return run.to_the_end(resume=resume, progress=progress)


def learning_rate_at(step: int, steps: int, training: Training) -> float:
    """The factor of the learning rate at a step from 0: a straight line up, then half a cosine down to 0."""
    if step < training.warmup:
        return (step + 1) / training.warmup
    if training.schedule == "constant":
        return 1.0
    way = (step - training.warmup) / max(steps - training.warmup, 1)
    return 0.5 * (1 + math.cos(math.pi * min(way, 1.0)))


class _Loss(nn.Module, Generic[Fed]):
    """The loss as a module, so that accelerate can wrap it for several devices."""

    def __init__(self, model: Trainable[Fed]) -> None:
        super().__init__()
        self.inner = model.module
        self._model = model

    def forward(self, batch: Fed) -> torch.Tensor:
        """The loss of a batch."""
        return self._model.loss(batch)


class _Run(Generic[Fed]):
    """One training run."""

    def __init__(
        self,
        model: Trainable[Fed],
        feed: Feeding[Fed],
        look: Look,
        training: Training,
        folder: Path,
        fingerprint: str,
    ) -> None:
        self.model, self.feed, self.look, self.training, self.folder = model, feed, look, training, folder
        self.fingerprint = fingerprint
        AcceleratorState._reset_state()  # a run before this one may have had another precision
        self.accelerator = Accelerator(cpu=_on_cpu(), mixed_precision=_precision(training))
        self.device = self.accelerator.device
        groups = model.parameter_groups(training.learning_rate, training.weight_decay)
        optimiser = torch.optim.AdamW(
            groups, lr=training.learning_rate, betas=training.betas, eps=training.epsilon, weight_decay=0.0
        )
        self.rates = [float(group["lr"]) for group in optimiser.param_groups]
        self.loss, self.optimiser = self.accelerator.prepare(_Loss(model), optimiser)
        self.steps = training.steps or max(round((training.epochs or 0) * feed.steps_an_epoch), 1)
        self.points: list[Point] = []
        self.best: Point | None = None
        self.looks_since_best = 0
        self._best_weights: Mapping[str, torch.Tensor] = {}
        self.began = time.monotonic()

    def to_the_end(self, *, resume: bool, progress: Progress | None) -> Trained:
        """All steps that are still to do."""
        step = self._begin(resume=resume)
        parts = self.training.accumulate
        stopped = self._spent()
        with _Ahead(self.feed, self.accelerator.process_index * parts, parts, step, self.steps) as coming:
            while step < self.steps and not stopped:
                self._step(step, coming.take(step))
                step += 1
                if progress:
                    progress(step, self.steps)
                if step % self.training.validate_every == 0 or step == self.steps:
                    self._validate(step)
                    stopped = self._spent()
                if step % self.training.save_every == 0 or step == self.steps or stopped:
                    self._save(step)
        if self.training.keep_best and self.best is not None and self.best.step != step:
            self.model.module.load_state_dict(dict(self._best_weights))
        self.model.module.eval()
        kept = self.best if self.training.keep_best and self.best else Point(step, "validation", "", math.nan)
        early = stopped and step < self.steps
        return Trained(kept.step, step, kept.value, tuple(self.points), time.monotonic() - self.began, early)

    def _begin(self, *, resume: bool) -> int:
        """The step to begin with: that of the state, where there is one."""
        found = load_state(self.folder, self.fingerprint) if resume else None
        if found is None:
            torch.manual_seed(self.training.seed + 1)
            return 0
        self.model.module.load_state_dict(dict(found.weights))
        self.optimiser.load_state_dict(found.optimiser)
        if self.accelerator.scaler is not None:
            self.accelerator.scaler.load_state_dict(found.scaler)
        _set_random(found.random)
        self.points, self.best, self.looks_since_best = list(found.curve), found.best, found.looks_since_best
        self._best_weights = found.best_weights
        self.began -= found.seconds
        logger.info("goes on at step %d of %d", found.step, self.steps)
        return found.step

    def _step(self, step: int, batches: list[Fed]) -> None:
        """One step of the optimiser over the parts of a batch."""
        factor = learning_rate_at(step, self.steps, self.training)
        for group, rate in zip(self.optimiser.param_groups, self.rates, strict=True):
            group["lr"] = rate * factor
        self.model.module.train()
        total = 0.0
        for place, batch in enumerate(batches):
            last = place == len(batches) - 1
            with nullcontext() if last else self.accelerator.no_sync(self.loss), self.accelerator.autocast():
                loss = self.loss(batch.to(self.device)) / len(batches)
            self.accelerator.backward(loss)
            total += float(loss.detach())
        if not math.isfinite(total):
            raise TrainingError(f"the loss is {total} at step {step}: lower the learning rate, or clip gradients")
        if self.training.clip:
            self.accelerator.clip_grad_norm_(self.loss.parameters(), self.training.clip)
        self.optimiser.step()
        self.optimiser.zero_grad()
        self.model.after_step()
        if (step + 1) % self.training.log_every == 0 or step + 1 == self.steps:
            self.points.append(Point(step + 1, "train", "loss", total))
            self.points.append(Point(step + 1, "train", "learning-rate", self.rates[0] * factor))
            logger.info("step %d of %d: loss %.4f", step + 1, self.steps, total)

    def _validate(self, step: int) -> None:
        """A look at the validation; the weights are kept where it is the best so far."""
        self.model.module.eval()
        with torch.no_grad(), self.accelerator.autocast():
            found = [Point(step, "validation", measure, value) for measure, value in self.look().items()]
        self.points += found
        told = ", ".join(f"{one.measure} {one.value:.4f}" for one in found)
        logger.info("step %d of %d: validation %s", step, self.steps, told)
        deciding = found[0]
        if self.best is None or deciding.value > self.best.value or math.isnan(self.best.value):
            self.best, self.looks_since_best = deciding, 0
            self._best_weights = _copied(self.model.module)
        else:
            self.looks_since_best += 1

    def _spent(self) -> bool:
        return self.training.patience is not None and self.looks_since_best >= self.training.patience

    def _save(self, step: int) -> None:
        if self.accelerator.is_main_process:
            state = State(
                fingerprint=self.fingerprint,
                step=step,
                weights=self.model.module.state_dict(),
                optimiser=self.optimiser.state_dict(),
                scaler=self.accelerator.scaler.state_dict() if self.accelerator.scaler is not None else {},
                random=_random(),
                curve=tuple(self.points),
                best=self.best,
                best_weights=self._best_weights,
                looks_since_best=self.looks_since_best,
                seconds=time.monotonic() - self.began,
            )
            save_state(self.folder, state)
        self.accelerator.wait_for_everyone()


class _Ahead(Generic[Fed]):
    """The parts of each step's batch for this process, the next step's being made while one trains."""

    def __init__(self, feed: Feeding[Fed], first_part: int, parts: int, step: int, steps: int) -> None:
        self._feed, self._parts, self._steps = feed, range(first_part, first_part + parts), steps
        self._pool = ThreadPoolExecutor(1)
        self._next: Future[list[Fed]] | None = self._pool.submit(self._made, step) if step < steps else None

    def __enter__(self) -> "_Ahead[Fed]":
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def take(self, step: int) -> list[Fed]:
        """The parts of this step; steps are taken one after the other."""
        assert self._next is not None
        found = self._next.result()
        self._next = self._pool.submit(self._made, step + 1) if step + 1 < self._steps else None
        return found

    def _made(self, step: int) -> list[Fed]:
        return [self._feed(step, part) for part in self._parts]


@contextmanager
def _repeatable(device: torch.device) -> Iterator[None]:
    """On a CPU only algorithms that give the same bits each time; elsewhere they may be missing.

    Torch would also fill new memory then, in case that it is read before it is written, which takes a twentieth of
    the time; nothing here does.
    """
    before = torch.are_deterministic_algorithms_enabled()
    filled = deterministic.fill_uninitialized_memory  # type: ignore[attr-defined]
    torch.use_deterministic_algorithms(before or device.type == "cpu")
    deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before)
        deterministic.fill_uninitialized_memory = filled  # type: ignore[attr-defined]


def _on_cpu() -> bool:
    """Whether to train on the CPU, where there is nothing else; several processes can share it."""
    return not torch.accelerator.is_available()


def _precision(training: Training) -> str:
    """What accelerate calls the precision."""
    if training.precision != "auto":
        return "no" if training.precision == "fp32" else training.precision
    if not torch.cuda.is_available():
        return "no"
    return "bf16" if torch.cuda.is_bf16_supported() else "fp16"


def _copied(module: nn.Module) -> dict[str, torch.Tensor]:
    return {name: value.detach().cpu().clone() for name, value in module.state_dict().items()}


def _random() -> list[torch.Tensor]:
    """The random states of the CPU and of every GPU."""
    return [torch.get_rng_state(), *(torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [])]


def _set_random(states: list[torch.Tensor]) -> None:
    torch.set_rng_state(states[0])
    if len(states) > 1 and torch.cuda.is_available():
        torch.cuda.set_rng_state_all(states[1:])
