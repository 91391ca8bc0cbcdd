"""Training: AdamW with warm-up and cosine decay, validation, early stopping, and resuming after a kill.

The trainer knows nothing of images or labels: it takes batches by step, and a function that validates the model.
On a CPU it is deterministic: a run that was killed at any moment and resumed ends with exactly the weights of one
that was not. Devices, several processes and mixed precision are handled by accelerate. Several processes train on
the batches of one, each on its parts of them, and a run continues with any number of processes.
"""

import logging
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Generic

import torch
from torch import nn

from beholder.errors import TrainingError
from beholder.learn.prefetch import BatchT, Loader, Prefetcher
from beholder.learn.processes.batch_norm import has_batch_norm, synchronise_batch_norm
from beholder.learn.processes.blocks import checkpoint_gradients, keep_activations
from beholder.learn.processes.devices import (
    deterministic_algorithms,
    make_accelerator,
    process_count,
    random_states,
    same_everywhere,
    seed_part,
    set_random_states,
)
from beholder.learn.processes.sharding import (
    Sharding,
    clip_gradients,
    full_optimiser_state,
    full_weights,
    load_full_optimiser_state,
    load_full_weights,
)
from beholder.learn.recipe import Training, faults_of_division
from beholder.learn.state import Curve, Point, State, load_state, save_state
from beholder.learn.tracking import UNTRACKED, Tracking
from beholder.models.trainable import ClipsApart, ComparesImages, SkipsHeads, Trainable

logger = logging.getLogger(__name__)

Validate = Callable[[], Mapping[str, float]]
"""Returns measures on the validation examples; the first selects the best weights, and higher is better."""

Progress = Callable[[int, int], None]
"""Is called with the steps done and the steps in all."""


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


def parts_per_process(training: Training) -> int:
    """Return the parts of a batch that each process trains on."""
    return training.parts // process_count() if training.parts else training.accumulate


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
    _refuse_what_cannot_be_divided(model, training)
    run = _Run(model, loader, validate, training, folder, fingerprint, tracking)
    with deterministic_algorithms(run.device), tracking.running(run.accelerator):
        return run.run_to_end(resume=resume, progress=progress)


def _refuse_what_cannot_be_divided(model: Trainable[BatchT], training: Training) -> None:
    """Raise an error, in every process, if these processes would not train what a single one does."""
    processes = process_count()
    faults = faults_of_division(training, processes)
    if training.parts and has_batch_norm(model.module):
        faults.append("training.parts is set; this model normalises over complete batches, leave it out")
    if processes > 1 and isinstance(model, ComparesImages) and model.compares_images:
        faults.append("this model compares all images of a batch with each other: train it in one process")
    if faults:
        raise TrainingError("; ".join(faults))


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
        skips_heads = isinstance(model, SkipsHeads) and model.skips_heads
        self.accelerator = make_accelerator(training, tracking, folder, skips_heads=skips_heads)
        self.device = self.accelerator.device
        self.parts = parts_per_process(training)
        self.first_part = self.accelerator.process_index * self.parts
        self.seeds_parts = bool(training.parts) or self.accelerator.num_processes > 1
        if self.accelerator.num_processes > 1:
            synchronise_batch_norm(model.module)
        if training.gradient_checkpointing and not checkpoint_gradients(model.module):
            logger.warning("training.gradient_checkpointing has no effect: this model repeats no blocks")
        self.loss: nn.Module = _Loss(model)
        self.sharding = Sharding(self.loss) if training.sharded else None
        groups = model.parameter_groups(training.learning_rate, training.weight_decay)
        optimiser = torch.optim.AdamW(
            groups,
            lr=training.learning_rate,
            betas=training.betas,
            eps=training.epsilon,
            weight_decay=0.0,
            fused=True if self.device.type == "cpu" and not training.sharded else None,
        )
        self.rates = [float(group["lr"]) for group in optimiser.param_groups]
        if self.sharding is None:
            self.loss, self.optimiser = self.accelerator.prepare(self.loss, optimiser)
        else:
            self.optimiser = self.accelerator.prepare(optimiser)
        self.steps = training.steps or max(round((training.epochs or 0) * loader.steps_per_epoch), 1)
        self.points: list[Point] = []
        self.best: Point | None = None
        self.looks_since_best = 0
        self._best_weights: Mapping[str, torch.Tensor] = {}
        self.began = time.monotonic()

    def run_to_end(self, *, resume: bool, progress: Progress | None) -> TrainingSummary:
        """Run the remaining steps."""
        step = self._begin(resume=resume)
        own_parts = range(self.first_part, self.first_part + self.parts)
        stopped = self._out_of_patience()
        with Prefetcher(self.loader, own_parts, step, self.steps) as prefetcher:
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
        self._finish(step)
        selected = self.best if self.training.keep_best and self.best else Point(step, "validation", "", math.nan)
        early = stopped and step < self.steps
        return TrainingSummary(
            selected.step, step, selected.value, tuple(self.points), time.monotonic() - self.began, early
        )

    def _finish(self, step: int) -> None:
        """Leave the model complete, and with the weights that were selected."""
        if self.sharding is not None:
            self.sharding.undo()
        keep_activations(self.model.module)
        if self.training.keep_best and self.best is not None and self.best.step != step:
            self.model.module.load_state_dict(dict(self._best_weights))
        self.model.module.eval()

    def _begin(self, *, resume: bool) -> int:
        """Restore the saved state if there is one; return the step to start from."""
        state = load_state(self.folder, self.fingerprint) if resume else None
        if state is None:
            torch.manual_seed(self.training.seed + 1)
            return 0
        load_full_weights(self.model.module, state.weights)
        load_full_optimiser_state(self.optimiser.optimizer, state.optimiser)
        if self.accelerator.scaler is not None:
            self.accelerator.scaler.load_state_dict(state.scaler)
        set_random_states(state.random)
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
        total_loss = self._backward(step, batches)
        if not math.isfinite(total_loss):
            raise TrainingError(
                f"the loss is {total_loss} at step {step}: lower the learning rate, or clip gradients"
            )
        if self.sharding is not None:
            self.sharding.average_complete_gradients()
        if self.training.clip:
            self._clip(self.training.clip)
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

    def _backward(self, step: int, batches: list[BatchT]) -> float:
        """Add up the gradients of this process's parts of a batch; return the loss of the complete batch."""
        total_loss = 0.0
        for part, batch in enumerate(batches):
            last = part == len(batches) - 1
            if self.seeds_parts:
                seed_part(self.training.seed, step, self.first_part + part)
            synchronising = nullcontext() if last or self.sharding else self.accelerator.no_sync(self.loss)
            with synchronising, self.accelerator.autocast():
                loss = self.loss(batch.to(self.device)) / len(batches)
            self.accelerator.backward(loss)
            total_loss += float(loss.detach())
        if self.accelerator.num_processes == 1:
            return total_loss
        return float(self.accelerator.reduce(torch.tensor(total_loss, device=self.device), reduction="mean"))

    def _clip(self, largest: float) -> None:
        if self.sharding is None:
            together: Sequence[Iterable[nn.Parameter]] = [self.loss.parameters()]
            for parameters in self.model.clipped_apart if isinstance(self.model, ClipsApart) else together:
                self.accelerator.clip_grad_norm_(parameters, largest)
        else:
            self.accelerator.unscale_gradients()
            clip_gradients(self.loss.parameters(), largest)

    def _validate(self, step: int) -> None:
        """Validate the model, and copy its weights if it is the best so far."""
        self.model.module.eval()
        gathered = self.sharding.gathered() if self.sharding else nullcontext()
        with gathered, torch.no_grad(), self.accelerator.autocast():
            measures_here = same_everywhere(self.validate())
        points = [Point(step, "validation", measure, value) for measure, value in measures_here.items()]
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
        is_main = self.accelerator.is_main_process
        weights = full_weights(self.model.module, keep=is_main)
        optimiser = full_optimiser_state(self.optimiser.optimizer, keep=is_main)
        if is_main:
            state = State(
                fingerprint=self.fingerprint,
                step=step,
                weights=weights,
                optimiser=optimiser,
                scaler=self.accelerator.scaler.state_dict() if self.accelerator.scaler is not None else {},
                random=random_states(),
                curve=tuple(self.points),
                best=self.best,
                best_weights=self._best_weights,
                looks_since_best=self.looks_since_best,
                seconds=time.monotonic() - self.began,
            )
            save_state(self.folder, state)
        self.accelerator.wait_for_everyone()


def _copy_weights(module: nn.Module) -> dict[str, torch.Tensor]:
    return {name: value.cpu().clone() for name, value in full_weights(module).items()}
