"""Tuning a generator's weights: ``beholder improve tune``."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import torch
from peft.utils import get_peft_model_state_dict

from beholder.api.improving.guide import BATCH, IMAGES, GeneratorChange, join_images, watch_study
from beholder.api.improving.page import write_improvement_page
from beholder.api.improving.prompts import seeds_of, study_prompts
from beholder.api.improving.repair import new_improvement
from beholder.errors import UserError
from beholder.improve.repair_run import begin_folder
from beholder.improve.tuning.adapters import base_weights, save_lora
from beholder.improve.tuning.before_after import SavedImages, save_sample, write_before_after
from beholder.improve.tuning.generators import load_trainable
from beholder.improve.tuning.material import (
    PromptSplit,
    best_material,
    pair_material,
    reward_material,
    split_prompts,
)
from beholder.improve.tuning.reward import Reward, load_reward
from beholder.improve.tuning.settings import TuneSettings
from beholder.improve.tuning.tune import Material, Tuned, finish
from beholder.improve.tuning.tune import tune as run_tuning
from beholder.improve.tuning.watching import look_now
from beholder.models.pipelines.generator import TrainableGenerator
from beholder.models.pipelines.sampling import sample
from beholder.scorers.catalogue import trained_folder
from beholder.scorers.rich.reward import HasGradients, load_feedback
from beholder.study.study import load_study
from beholder.tables.provenance import Plain

Progress = Callable[[str, int, int], None]

LORA = "lora"
STATE = ".state"
"""Ending of the folder, beside that of the improvement, from which an interrupted run is resumed."""
CANDIDATES = 4
"""Images per prompt of which supervised tuning takes the best."""


def tune(
    folder: Path,
    *,
    generator: str,
    scorer: str | None = None,
    name: str = "tune",
    held_out: str | None = None,
    settings: TuneSettings | None = None,
    pairs_of: Sequence[str] = (),
    weigh: bool = False,
    images: int = IMAGES,
    device: str | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> GeneratorChange:
    """Tune a generator by a scorer or by raters' pairs, watched by alarms, and compare it on unseen prompts.

    Args:
        folder: The study folder.
        generator: ``painted``, ``pixel-flow:FOLDER`` or ``diffusers:MODEL``.
        scorer: The reward; not needed for Diffusion-DPO.
        name: Of the improvement; a run of this name that was interrupted is resumed.
        held_out: A second scorer, which has no say and gives warning.
        settings: Method, steps, rate, rank, anchor.
        pairs_of: Diffusion-DPO: the generators of the study whose pairs raters compared; all by default.
        weigh: Supervised tuning: weigh the loss by the scorer's implausibility heatmap.
        images: At most so many unseen prompts to compare on, and to watch.
        device: Where the scorers run.
        force: Replace an improvement of this name.
        progress: Called as work proceeds.

    Returns:
        Gains on unseen prompts, all alarms, and the step whose weights are kept.
    """
    improvement = new_improvement(folder, name, force=force)
    study_seed = load_study(folder).seed
    split = split_prompts(study_prompts(folder), np.random.default_rng([study_seed, 46]))
    state = improvement.folder.with_name(f"{name}{STATE}")
    run = run_tune(
        folder,
        PromptSplit(split.tuned, split.unseen[:images]),
        state,
        generator=generator,
        scorer=scorer,
        held_out=held_out,
        settings=settings,
        pairs_of=pairs_of,
        weigh=weigh,
        device=device,
        resume=not force,
        progress=progress,
    )
    begin_folder(improvement)
    save_tuned(run, improvement.folder / LORA, generator)
    gains = write_before_after(
        improvement,
        "tune",
        run.generator,
        run.before,
        run.after,
        reward=run.reward,
        held_out=run.held_out,
        alarms=run.tuned.alarms,
        settings=run.recorded,
    )
    write_improvement_page(improvement)
    drop_tuning(state)
    return GeneratorChange(tuple(gains), run.tuned.alarms, run.tuned.step, run.tuned.steps)


@dataclass(frozen=True, eq=False)
class TuneRun:
    """A tuned generator, and its images of unseen prompts before and after."""

    generator: TrainableGenerator
    reward: Reward | None
    held_out: Reward | None
    tuned: Tuned
    before: SavedImages
    after: SavedImages
    settings: TuneSettings
    recorded: dict[str, Plain]


def run_tune(
    folder: Path,
    split: PromptSplit,
    state: Path,
    *,
    generator: str,
    scorer: str | None = None,
    held_out: str | None = None,
    settings: TuneSettings | None = None,
    pairs_of: Sequence[str] = (),
    weigh: bool = False,
    any_method: bool = False,
    device: str | None = None,
    resume: bool = True,
    progress: Progress | None = None,
) -> TuneRun:
    """Tune a generator on some prompts, and sample the others before and after; only ``state`` is written.

    Where ``any_method`` is set, DDPO takes the place of a method that needs gradients which the scorer lacks.
    """
    trainable = load_trainable(generator)
    reward = load_reward(scorer, device) if scorer else None
    second = load_reward(held_out, device) if held_out else None
    study_seed = load_study(folder).seed
    chosen = settings or TuneSettings()
    if any_method and reward is not None and reward.gradients is None:
        chosen = replace(chosen, method="ddpo")
    chosen = replace(chosen, seed=chosen.seed + study_seed)
    material = _material(folder, trainable, split.tuned, reward, chosen, pairs_of, scorer if weigh else None)
    unseen = list(split.unseen)
    seeds = seeds_of(len(unseen), study_seed)
    before = _draw(trainable, unseen, seeds)
    watches = watch_study(folder, trainable, before, [second] if second else [])
    tuned = run_tuning(
        trainable,
        material,
        chosen,
        state,
        look=lambda: look_now(watches, trainable, seeds),
        resume=resume,
        progress=(lambda done, total: progress("tune", done, total)) if progress else None,
    )
    after = _draw(trainable, unseen, seeds)
    with base_weights(trainable):
        identity = str(trainable.identity)
    recorded: dict[str, Plain] = {
        "generator": identity,
        "scorer": reward.identity if reward else "raters",
        **asdict(chosen),
    }
    return TuneRun(trainable, reward, second, tuned, before, after, chosen, recorded)


def save_tuned(run: TuneRun, folder: Path, generator: str) -> None:
    """Write the LoRA; that of a pipeline of diffusers also in its own format."""
    save_lora(folder, run.generator, run.settings.rank, {"generator": generator, "step": run.tuned.step})
    if hasattr(run.generator, "export_lora"):
        run.generator.export_lora(folder, get_peft_model_state_dict(run.generator.module))


def drop_tuning(state: Path) -> None:
    """Delete the state of a run whose outcome is saved."""
    finish(state)
    if state.is_dir():
        state.rmdir()


def _draw(generator: TrainableGenerator, prompts: list[str], seeds: list[int]) -> SavedImages:
    parts = []
    for start in range(0, len(prompts), BATCH):
        texts, drawn = prompts[start : start + BATCH], seeds[start : start + BATCH]
        with torch.no_grad():
            parts.append(save_sample(generator, sample(generator, texts, drawn), texts, drawn))
    return join_images(parts)


def _material(
    folder: Path,
    generator: TrainableGenerator,
    prompts: tuple[str, ...],
    reward: Reward | None,
    settings: TuneSettings,
    pairs_of: Sequence[str],
    weighed_by: str | None,
) -> Material:
    """What the method needs."""
    if settings.method == "dpo":
        return pair_material(folder, pairs_of, generator, prompts)
    if reward is None:
        raise UserError(f"tuning by {settings.method} needs --scorer; by raters' own pairs: --method dpo")
    if settings.method != "sft":
        return reward_material(prompts, reward, settings.seed)
    heatmaps: HasGradients | None = None
    if weighed_by is not None:
        trained = trained_folder(weighed_by)
        if trained is None:
            raise UserError(f"--weigh needs the folder of a rich-feedback model as --scorer, not '{weighed_by}'")
        heatmaps = load_feedback(trained[0])
    return best_material(generator, prompts, reward, candidates=CANDIDATES, seed=settings.seed, heatmaps=heatmaps)
