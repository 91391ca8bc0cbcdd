"""Following the words that were missed: ``beholder improve words``."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch

from beholder.api.improving.guide import BATCH, IMAGES, GeneratorChange, join_images, watch_study
from beholder.api.improving.page import write_improvement_page
from beholder.api.improving.prompts import seeds_of, study_prompts
from beholder.api.improving.repair import new_improvement
from beholder.errors import UserError
from beholder.improve.gains import Row
from beholder.improve.repair_run import begin_folder
from beholder.improve.tuning.before_after import SavedImages, save_sample, truth_gains, write_before_after
from beholder.improve.tuning.generators import load_trainable
from beholder.improve.tuning.words import (
    WordSettings,
    follow_words,
    predicts_words,
    random_words,
    until_aligned,
    word_predictor,
)
from beholder.models.pipelines.generator import TrainableGenerator
from beholder.models.pipelines.sampling import sample
from beholder.scorers.rich.members import Member, load_members
from beholder.study.study import load_study

Progress = Callable[[str, int, int], None]


def words(
    folder: Path,
    *,
    generator: str,
    scorer: str,
    name: str = "words",
    settings: WordSettings | None = None,
    images: int = IMAGES,
    device: str | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> GeneratorChange:
    """Sample images of the study's prompts, predict their misaligned words, and sample again by these.

    Args:
        folder: The study folder.
        generator: ``painted``, ``pixel-flow:FOLDER`` or ``diffusers:MODEL``.
        scorer: The folder of a rich-feedback model that predicts misaligned words.
        name: Of the improvement.
        settings: How much weight the words get, or how many other seeds are tried.
        images: At most so many, one per prompt.
        device: Where the model runs.
        force: Replace an improvement of this name.
        progress: Called as work proceeds.

    Returns:
        Gains: by the ground truth where it is known, beside a control of random words.
    """
    settings = settings or WordSettings()
    improvement = new_improvement(folder, name, force=force)
    trainable = load_trainable(generator)
    (member,) = load_members([Path(scorer)], device)
    if not predicts_words(member):
        raise UserError(
            f"{scorer} predicts no misaligned words. Train one that does with the recipe tiny-rich-grounded, or "
            "rich-feedback on a GPU"
        )
    prompts = study_prompts(folder, images)
    seed = load_study(folder).seed
    seeds, rng = seeds_of(len(prompts), seed), np.random.default_rng([seed, 45])
    parts = []
    for start in range(0, len(prompts), BATCH):
        texts, drawn = prompts[start : start + BATCH], seeds[start : start + BATCH]
        parts.append(_follow(trainable, member, texts, drawn, settings, rng))
        if progress:
            progress("words", min(start + BATCH, len(prompts)), len(prompts))
    before, after, control = (join_images([part[place] for part in parts]) for place in range(3))
    alarms = [(0, alarm) for alarm in watch_study(folder, trainable, before, []).look(after.pixels)]
    begin_folder(improvement)
    more: list[Row] = truth_gains(before, control, "control")
    recorded = {"generator": str(trainable.identity), "scorer": f"{member.identity}:alignment", **asdict(settings)}
    gains = write_before_after(
        improvement,
        "words",
        trainable,
        before,
        after,
        reward=None,
        held_out=None,
        alarms=alarms,
        settings=recorded,
        more_gains=more,
    )
    write_improvement_page(improvement)
    return GeneratorChange(tuple(gains), tuple(alarms))


def _follow(
    generator: TrainableGenerator,
    member: Member,
    prompts: list[str],
    seeds: list[int],
    settings: WordSettings,
    rng: np.random.Generator,
) -> tuple[SavedImages, SavedImages, SavedImages]:
    """Images before, after, and with random words."""
    predict = word_predictor(member, settings.threshold)
    with torch.no_grad():
        plain = sample(generator, prompts, seeds)
    before = save_sample(generator, plain, prompts, seeds)
    missed = predict(plain.images, prompts)
    chosen = seeds
    if settings.tries:
        chosen = until_aligned(generator, prompts, seeds, predict, settings)[0]
        with torch.no_grad():
            missed = predict(sample(generator, prompts, chosen).images, prompts)
    followed = follow_words(generator, prompts, chosen, missed, settings)
    after = save_sample(generator, followed, prompts, chosen)
    at_random = follow_words(generator, prompts, seeds, random_words(prompts, missed, rng), settings)
    return before, after, save_sample(generator, at_random, prompts, seeds)
