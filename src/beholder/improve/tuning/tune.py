"""Tuning a generator's weights, watched: steps of a loss, looks at the alarms, and a stop where one is raised.

On a CPU it is deterministic: a run that was killed at any moment and resumed ends with the weights of one that was
not. What is kept are the weights of the last look at which no alarm was raised.
"""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from beholder.errors import UserError
from beholder.improve.alarms.alarm import Alarm, raised
from beholder.improve.tuning.adapters import add_lora
from beholder.improve.tuning.losses import (
    Examples,
    Pairs,
    Prompts,
    chosen_loss,
    pair_loss,
    policy_loss,
    reward_loss,
)
from beholder.improve.tuning.reward import Reward
from beholder.improve.tuning.settings import TuneSettings
from beholder.models.pipelines.generator import TrainableGenerator
from beholder.models.pipelines.resumable import Run, drop_state, resume_run, save_run, take_steps

Look = Callable[[], list[Alarm]]
"""Looks at the generator as it is now."""


@dataclass(frozen=True, eq=False)
class Material:
    """What a generator is tuned on: prompts and a reward, images that were chosen, or pairs."""

    prompts: Prompts | None = None
    reward: Reward | None = None
    examples: Examples | None = None
    pairs: Pairs | None = None
    fingerprint: str = ""
    """Of all that, for resuming."""


@dataclass(frozen=True, slots=True)
class Tuned:
    """How a run ended; the generator has the weights of ``step``."""

    step: int
    """The last look without an alarm, whose weights are kept."""
    steps: int
    """Steps that were taken."""
    alarms: tuple[tuple[int, Alarm], ...]
    """Every finding of every look, with its step."""

    @property
    def stopped(self) -> tuple[Alarm, ...]:
        """The alarms that ended the run."""
        return tuple(alarm for _, alarm in self.alarms if alarm.raised)


def tune(
    generator: TrainableGenerator,
    material: Material,
    settings: TuneSettings,
    folder: Path,
    *,
    look: Look | None = None,
    resume: bool = True,
    stop_at_alarm: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> Tuned:
    """Tune the generator in place, by a LoRA that is added to its network.

    Args:
        generator: what is tuned.
        material: on what; which parts it needs follows from the method.
        settings: how.
        folder: where the state of the run lies.
        look: looks at the alarms; without it nothing is watched.
        resume: continue from a saved state of the same run.
        stop_at_alarm: whether a raised alarm ends the run.
        progress: called with the steps done, and all.

    Returns:
        How it ended, with all alarms.
    """
    step_loss = _loss(generator, material, settings)
    parameters = add_lora(generator, settings.rank, settings.seed)
    optimiser = torch.optim.AdamW(parameters.values(), lr=settings.rate, weight_decay=0.0)
    run = Run(parameters, optimiser, json.dumps([asdict(settings), material.fingerprint]))
    run.tensors = _copied(run)
    if not (resume and resume_run(folder, run)):
        _note(run, look() if look else [])
    ended = stop_at_alarm and _stopped(run)

    def reported(step: int) -> torch.Tensor:
        if progress:
            progress(step, settings.steps)
        return step_loss(step)

    while run.step < settings.steps and not ended:
        end = min((run.step // settings.check_every + 1) * settings.check_every, settings.steps)
        take_steps(run, end, reported)
        alarms = look() if look else []
        _note(run, alarms)
        ended = bool(raised(alarms)) and stop_at_alarm
        if not ended:
            run.tensors = _copied(run)
        save_run(folder, run)
    if progress:
        progress(settings.steps, settings.steps)
    return _ended(run)


def _loss(
    generator: TrainableGenerator, material: Material, settings: TuneSettings
) -> Callable[[int], torch.Tensor]:
    """The loss of a step; an error where the method needs what is not there."""
    prompts, reward, examples, pairs = material.prompts, material.reward, material.examples, material.pairs
    if settings.method in ("draft", "refl") and prompts and reward:
        gradients = reward.gradients
        if gradients is None:
            raise UserError(f"scorer '{reward.name}' has no gradients; tune by it with --method ddpo")
        return lambda step: reward_loss(generator, gradients, prompts, settings, step)
    if settings.method == "ddpo" and prompts and reward:
        if reward.gradients is not None:
            raise UserError(
                f"scorer '{reward.name}' has gradients, which say more than policy gradients do: tune by it with "
                "--method draft or refl; ddpo is for scorers without gradients"
            )
        return lambda step: policy_loss(generator, reward, prompts, settings, step)
    if settings.method == "sft" and examples:
        return lambda step: chosen_loss(generator, examples, settings, step)
    if settings.method == "dpo" and pairs:
        return lambda step: pair_loss(generator, pairs, settings, step)
    needs = {"sft": "images that were chosen", "dpo": "pairs of images that raters compared"}
    raise UserError(f"tuning by {settings.method} needs {needs.get(settings.method, 'prompts and a scorer')}")


def _stopped(run: Run) -> bool:
    """Whether the last look of a run that is resumed had ended it."""
    return run.step > 0 and any(note["at"] == run.step and note["raised"] for note in run.notes)


def _note(run: Run, alarms: list[Alarm]) -> None:
    """Note what a look found, in plain numbers: a state with others could not be read back."""
    run.notes += [
        {"at": run.step, **{name: _plain(part) for name, part in asdict(alarm).items()}} for alarm in alarms
    ]


def _plain(part: object) -> object:
    return part.item() if isinstance(part, np.generic) else part


def _copied(run: Run) -> dict[str, torch.Tensor]:
    copies = {name: parameter.detach().clone() for name, parameter in run.parameters.items()}
    return {**copies, "step": torch.tensor(run.step)}


def _ended(run: Run) -> Tuned:
    """Put the weights back that are kept."""
    with torch.no_grad():
        for name, parameter in run.parameters.items():
            parameter.copy_(run.tensors[name])
    return Tuned(int(run.tensors["step"]), run.step, tuple(map(_finding, run.notes)))


def _finding(note: dict[str, Any]) -> tuple[int, Alarm]:
    return int(note["at"]), Alarm(**{name: part for name, part in note.items() if name != "at"})


def finish(folder: Path) -> None:
    """Delete the state of a run whose outcome is saved."""
    drop_state(folder)
