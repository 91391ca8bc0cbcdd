"""Training: AdamW with warm-up and cosine decay, validation, early stopping, and resuming after a kill.

The trainer knows nothing of images or labels: it takes batches by step, and a function that validates the model.
On a CPU it is deterministic: a run that was killed at any moment and resumed ends with exactly the weights of one
that was not. Devices, several processes and mixed precision are handled by accelerate.
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
from beholder.learn.tracking import UNTRACKED, Tracking
from beholder.models.trainable import Movable, Trainable

logger = logging.getLogger(__name__)

BatchT = TypeVar("BatchT", bound=Movable)
BatchT_co = TypeVar("BatchT_co", bound=Movable, covariant=True)

Validate = Callable[[], Mapping[str, float]]
"""Returns measures on the validation examples; the first selects the best weights, and higher is better."""

Progress = Callable[[int, int], None]
"""Is called with the steps done and the steps in all."""


class Loader(Protocol[BatchT_co]):
    """A data loader: batches by step, always the same batch for the same step."""

    @property
    def steps_per_epoch(self) -> int:
        """Steps in which every example is seen once."""
        ...

    def __call__(self, step: int, part: int) -> BatchT_co:
        """Return a part of the batch of a step, both counted from 0."""
        ...


@dataclass(frozen=True, slots=True)
class TrainingSummary:
    """Outcome of a training run; the weights are those of ``step``."""

    step: int
    steps: int
    value: float
    """The selecting validation measure at that step."""
    curve: Curve
    seconds: float
    """Time spent, including runs that were interrupted."""
    stopped_early: bool


def process_count() -> int:
    """Return the number of processes that train together."""
    return int(PartialState(cpu=_on_cpu()).num_processes)


def is_main_process() -> bool:
    """Return whether this process is the one that writes files."""
    return bool(PartialState(cpu=_on_cpu()).is_main_process)


def train(
    model: Trainable[BatchT],
    loader: Loader[BatchT],
    validate: Validate,
    training: Training,
    folder: Path,
    *,
    fingerprint: str,
    resume: bool,
    progress: Progress | None = None,
    tracking: Tracking = UNTRACKED,
) -> TrainingSummary:
    """Train the model in place and leave it with the weights of its best validation (or the last ones).

    ``folder`` holds the state of the run. With ``resume`` training continues from a saved state whose
    ``fingerprint`` (of data, split and recipe) must be the same; without a saved state it starts from the
    beginning. ``tracking`` says where the curve is logged to, besides the summary.
    """
    run = _Run(model, loader, validate, training, folder, fingerprint, tracking)
    with _deterministic(run.device), tracking.running(run.accelerator):
        return run.run_to_end(resume=resume, progress=progress)


def learning_rate_factor(step: int, steps: int, training: Training) -> float:
    """Return the factor of the learning rate at a step from 0: linear warm-up, then cosine decay to 0."""
    if step < training.warmup:
        return (step + 1) / training.warmup
    if training.schedule == "constant":
        return 1.0
    progress = (step - training.warmup) / max(steps - training.warmup, 1)
    return 0.5 * (1 + math.cos(math.pi * min(progress, 1.0)))


class _Loss(nn.Module, Generic[BatchT]):
    """The loss as a module, so that accelerate can wrap it for several devices."""

    def __init__(self, model: Trainable[BatchT]) -> None:
        super().__init__()
        self.inner = model.module
        self._model = model

    def forward(self, batch: BatchT) -> torch.Tensor:
        """Return the loss of a batch."""
        return self._model.loss(batch)


class _Run(Generic[BatchT]):
    """One training run."""

    def __init__(
        self,
        model: Trainable[BatchT],
        loader: Loader[BatchT],
        validate: Validate,
        training: Training,
        folder: Path,
        fingerprint: str,
        tracking: Tracking,
    ) -> None:
        self.model, self.loader, self.validate, self.training, self.folder = (
            model,
            loader,
            validate,
            training,
            folder,
        )
        self.fingerprint, self.tracking = fingerprint, tracking
        AcceleratorState._reset_state()  # a run before this one may have had another precision
        self.accelerator = Accelerator(
            cpu=_on_cpu(), mixed_precision=_precision(training), **tracking.accelerator_settings(folder)
        )
        self.device = self.accelerator.device
        groups = model.parameter_groups(training.learning_rate, training.weight_decay)
        optimiser = torch.optim.AdamW(
            groups, lr=training.learning_rate, betas=training.betas, eps=training.epsilon, weight_decay=0.0
        )
        self.rates = [float(group["lr"]) for group in optimiser.param_groups]
        self.loss, self.optimiser = self.accelerator.prepare(_Loss(model), optimiser)
        self.steps = training.steps or max(round((training.epochs or 0) * loader.steps_per_epoch), 1)
        self.points: list[Point] = []
        self.best: Point | None = None
        self.looks_since_best = 0
        self._best_weights: Mapping[str, torch.Tensor] = {}
        self.began = time.monotonic()

    def run_to_end(self, *, resume: bool, progress: Progress | None) -> TrainingSummary:
        """Run the remaining steps."""
        step = self._begin(resume=resume)
        parts = self.training.accumulate
        stopped = self._out_of_patience()
        with _Prefetcher(
            self.loader, self.accelerator.process_index * parts, parts, step, self.steps
        ) as prefetcher:
            while step < self.steps and not stopped:
                self._step(step, prefetcher.take(step))
                step += 1
                if progress:
                    progress(step, self.steps)
                if step % self.training.validate_every == 0 or step == self.steps:
                    self._validate(step)
                    stopped = self._out_of_patience()
                if step % self.training.save_every == 0 or step == self.steps or stopped:
                    self._save(step)
        if self.training.keep_best and self.best is not None and self.best.step != step:
            self.model.module.load_state_dict(dict(self._best_weights))
        self.model.module.eval()
        selected = self.best if self.training.keep_best and self.best else Point(step, "validation", "", math.nan)
        early = stopped and step < self.steps
        return TrainingSummary(
            selected.step, step, selected.value, tuple(self.points), time.monotonic() - self.began, early
        )

    def _begin(self, *, resume: bool) -> int:
        """Restore the saved state if there is one; return the step to start from."""
        state = load_state(self.folder, self.fingerprint) if resume else None
        if state is None:
            torch.manual_seed(self.training.seed + 1)
            return 0
        self.model.module.load_state_dict(dict(state.weights))
        self.optimiser.load_state_dict(state.optimiser)
        if self.accelerator.scaler is not None:
            self.accelerator.scaler.load_state_dict(state.scaler)
        _set_random_states(state.random)
        self.points, self.best, self.looks_since_best = list(state.curve), state.best, state.looks_since_best
        self._best_weights = state.best_weights
        self.began -= state.seconds
        logger.info("resuming at step %d of %d", state.step, self.steps)
        return state.step

    def _step(self, step: int, batches: list[BatchT]) -> None:
        """Take one step of the optimiser over the parts of a batch."""
        factor = learning_rate_factor(step, self.steps, self.training)
        for group, rate in zip(self.optimiser.param_groups, self.rates, strict=True):
            group["lr"] = rate * factor
        self.model.module.train()
        total_loss = 0.0
        for part, batch in enumerate(batches):
            last = part == len(batches) - 1
            with nullcontext() if last else self.accelerator.no_sync(self.loss), self.accelerator.autocast():
                loss = self.loss(batch.to(self.device)) / len(batches)
            self.accelerator.backward(loss)
            total_loss += float(loss.detach())
        if not math.isfinite(total_loss):
            raise TrainingError(
                f"the loss is {total_loss} at step {step}: lower the learning rate, or clip gradients"
            )
        if self.training.clip:
            self.accelerator.clip_grad_norm_(self.loss.parameters(), self.training.clip)
        self.optimiser.step()
        self.optimiser.zero_grad()
        self.model.after_step()
        if (step + 1) % self.training.log_every == 0 or step + 1 == self.steps:
            self._record(
                [
                    Point(step + 1, "train", "loss", total_loss),
                    Point(step + 1, "train", "learning-rate", self.rates[0] * factor),
                ]
            )
            logger.info("step %d of %d: loss %.4f", step + 1, self.steps, total_loss)

    def _validate(self, step: int) -> None:
        """Validate the model, and copy its weights if it is the best so far."""
        self.model.module.eval()
        with torch.no_grad(), self.accelerator.autocast():
            points = [Point(step, "validation", measure, value) for measure, value in self.validate().items()]
        self._record(points)
        measures = ", ".join(f"{point.measure} {point.value:.4f}" for point in points)
        logger.info("step %d of %d: validation %s", step, self.steps, measures)
        selecting = points[0]
        if self.best is None or selecting.value > self.best.value or math.isnan(self.best.value):
            self.best, self.looks_since_best = selecting, 0
            self._best_weights = _copy_weights(self.model.module)
        else:
            self.looks_since_best += 1

    def _record(self, points: list[Point]) -> None:
        self.points += points
        self.tracking.log(self.accelerator, points)

    def _out_of_patience(self) -> bool:
        return self.training.patience is not None and self.looks_since_best >= self.training.patience

    def _save(self, step: int) -> None:
        if self.accelerator.is_main_process:
            state = State(
                fingerprint=self.fingerprint,
                step=step,
                weights=self.model.module.state_dict(),
                optimiser=self.optimiser.state_dict(),
                scaler=self.accelerator.scaler.state_dict() if self.accelerator.scaler is not None else {},
                random=_random_states(),
                curve=tuple(self.points),
                best=self.best,
                best_weights=self._best_weights,
                looks_since_best=self.looks_since_best,
                seconds=time.monotonic() - self.began,
            )
            save_state(self.folder, state)
        self.accelerator.wait_for_everyone()


class _Prefetcher(Generic[BatchT]):
    """This process's parts of each batch; the next batch is prepared while the current one trains."""

    def __init__(self, loader: Loader[BatchT], first_part: int, parts: int, step: int, steps: int) -> None:
        self._loader, self._parts, self._steps = loader, range(first_part, first_part + parts), steps
        self._pool = ThreadPoolExecutor(1)
        self._next: Future[list[BatchT]] | None = self._pool.submit(self._load, step) if step < steps else None

    def __enter__(self) -> "_Prefetcher[BatchT]":
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def take(self, step: int) -> list[BatchT]:
        """Return the parts of this step; steps must be taken in order."""
        assert self._next is not None
        batches = self._next.result()
        self._next = self._pool.submit(self._load, step + 1) if step + 1 < self._steps else None
        return batches

    def _load(self, step: int) -> list[BatchT]:
        return [self._loader(step, part) for part in self._parts]


@contextmanager
def _deterministic(device: torch.device) -> Iterator[None]:
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


def _copy_weights(module: nn.Module) -> dict[str, torch.Tensor]:
    return {name: value.detach().cpu().clone() for name, value in module.state_dict().items()}


def _random_states() -> list[torch.Tensor]:
    """Return the random states of the CPU and of every GPU."""
    return [torch.get_rng_state(), *(torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [])]


def _set_random_states(states: list[torch.Tensor]) -> None:
    torch.set_rng_state(states[0])
    if len(states) > 1 and torch.cuda.is_available():
        torch.cuda.set_rng_state_all(states[1:])
