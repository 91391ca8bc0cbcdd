"""Guiding a generator's samples by a scorer: ``beholder improve guide``."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import torch

from beholder.api.improving.page import write_improvement_page
from beholder.api.improving.prompts import real_images, seeds_of, study_prompts
from beholder.api.improving.repair import new_improvement
from beholder.improve.alarms.alarm import Alarm
from beholder.improve.alarms.watches import Watches
from beholder.improve.gains import Row
from beholder.improve.repair_run import begin_folder
from beholder.improve.tuning.before_after import SavedImages, save_sample, write_before_after
from beholder.improve.tuning.generators import load_trainable
from beholder.improve.tuning.guide import GuideSettings, guided_sample
from beholder.improve.tuning.reward import Reward, load_reward
from beholder.improve.tuning.watching import watch_generator
from beholder.models.pipelines.generator import TrainableGenerator
from beholder.models.pipelines.sampling import sample
from beholder.study.study import load_study

Progress = Callable[[str, int, int], None]

BATCH = 16
IMAGES = 64


@dataclass(frozen=True, eq=False)
class GeneratorChange:
    """What a change of a generator, or of its sampling, gained, and what gave warning."""

    gains: tuple[Row, ...]
    alarms: tuple[tuple[int, Alarm], ...]
    step: int = 0
    """Of tuning: the step whose weights are kept."""
    steps: int = 0
    """Of tuning: steps that were taken."""


def guide(
    folder: Path,
    *,
    generator: str,
    scorer: str,
    name: str = "guide",
    held_out: str | None = None,
    settings: GuideSettings | None = None,
    images: int = IMAGES,
    device: str | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> GeneratorChange:
    """Sample images of the study's prompts twice from the same noise, plainly and guided, and compare them.

    Args:
        folder: The study folder.
        generator: ``painted``, ``pixel-flow:FOLDER`` or ``diffusers:MODEL``.
        scorer: What guides: a scorer with gradients.
        name: Of the improvement.
        held_out: A second scorer, which has no say.
        settings: How strongly, and by what.
        images: At most so many, one per prompt.
        device: Where the scorers run.
        force: Replace an improvement of this name.
        progress: Called as work proceeds.

    Returns:
        Gains and alarms.
    """
    settings = settings or GuideSettings(iterations=8)
    improvement = new_improvement(folder, name, force=force)
    trainable, reward = load_trainable(generator), load_reward(scorer, device)
    second = load_reward(held_out, device) if held_out else None
    prompts = study_prompts(folder, images)
    seeds = seeds_of(len(prompts), load_study(folder).seed)
    before, after = [], []
    for start in range(0, len(prompts), BATCH):
        texts, drawn = prompts[start : start + BATCH], seeds[start : start + BATCH]
        with torch.no_grad():
            before.append(save_sample(trainable, sample(trainable, texts, drawn), texts, drawn))
        after.append(
            save_sample(trainable, guided_sample(trainable, reward, texts, drawn, settings), texts, drawn)
        )
        if progress:
            progress("guide", min(start + BATCH, len(prompts)), len(prompts))
    plain, guided = join_images(before), join_images(after)
    watches = watch_study(folder, trainable, plain, [second] if second else [])
    alarms = [(0, alarm) for alarm in watches.look(guided.pixels)]
    begin_folder(improvement)
    recorded = {"generator": str(trainable.identity), "scorer": reward.identity, **asdict(settings)}
    gains = write_before_after(
        improvement,
        "guide",
        trainable,
        plain,
        guided,
        reward=reward,
        held_out=second,
        alarms=alarms,
        settings=recorded,
    )
    write_improvement_page(improvement)
    return GeneratorChange(tuple(gains), tuple(alarms))


def watch_study(
    folder: Path, generator: TrainableGenerator, before: SavedImages, held_out: list[Reward]
) -> Watches:
    """Watches over a generator, with the study's real images as reference where there are enough."""
    height, width = before.pixels.shape[1:3]
    reference = real_images(folder, len(before.prompts), (height, width))
    return watch_generator(generator, before.prompts, before.seeds, held_out=held_out, reference=reference)


def join_images(parts: list[SavedImages]) -> SavedImages:
    """Several batches of images as one."""
    return SavedImages(
        tuple(prompt for part in parts for prompt in part.prompts),
        tuple(seed for part in parts for seed in part.seeds),
        torch.cat([torch.from_numpy(part.pixels) for part in parts]).numpy(),
        tuple(truth for part in parts for truth in part.truths),
    )
