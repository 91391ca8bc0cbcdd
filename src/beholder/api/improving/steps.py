"""The steps of a walk: each does its part, and writes what it came to."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import numpy as np
from PIL import Image

from beholder.api.improving.generator import painted_origin, size_of, trainable_of
from beholder.api.improving.pace import Progress
from beholder.api.improving.prompts import study_prompts
from beholder.api.improving.repair import load_second
from beholder.api.improving.tune import LORA, STATE, TuneRun, drop_tuning, run_tune, save_tuned
from beholder.api.improving.walk import Walk
from beholder.errors import UserError
from beholder.generators.catalogue import open_generator
from beholder.improve.critic import Critic, load_critic
from beholder.improve.filter_run import FilterOptions, Truth, run_filter, selected_truths, write_selected
from beholder.improve.gains import Row
from beholder.improve.improvement import Improvement
from beholder.improve.inpainters import load_inpainter
from beholder.improve.pictures import MOST_DEVELOPMENT, SplitPictures, StudyPicture, study_pictures
from beholder.improve.repair_run import RepairOptions, repair_split, write_repairs
from beholder.improve.tuning.before_after import save_before_after
from beholder.improve.tuning.material import PromptSplit
from beholder.improve.tuning.settings import TuneSettings
from beholder.improve.unseen import not_trained_on
from beholder.models.architectures import RICH_ARCHITECTURES
from beholder.models.pipelines.inpainter import Inpainter
from beholder.models.weights.checkpoint import read_record
from beholder.scorers.catalogue import trained_folder
from beholder.simulate.inpainting.oracle import WorldInpainter
from beholder.simulate.inpainting.origins import study_origins
from beholder.study.generating import AnyGenerator, PainterGenerator
from beholder.study.study import load_study

UNSEEN = 40
"""Prompts on which a tuned generator is compared, and watched, at most."""
SETTINGS = TuneSettings(batch=8, rate=2e-3, anchor=0.3)
"""Of tuning: those with which the true gain was measured."""
FEWEST_DEVELOPMENT = 16
"""Images that no scorer was trained on, below which others serve as well to choose the settings of a repair on."""
FEWEST_UNSEEN = 8
"""Prompts below which a generator is not tuned: there would be nothing to compare it on."""


@dataclass(frozen=True, eq=False)
class Judges:
    """The scorer that decides, and the one that has no say, by their names and loaded."""

    scorer: str
    held_out: str | None
    critic: Critic
    second: Critic | None
    device: str | None = None


def load_judges(scorer: str, held_out: str | None, device: str | None) -> Judges:
    """Load both scorers."""
    return Judges(scorer, held_out, load_critic(scorer, device), load_second(held_out, device), device)


def half_of_prompts(folder: Path, most: int) -> int:
    """How many prompts are filtered: at most half of the study's, so that the others are unseen."""
    return min(most, max(len(study_prompts(folder)) // 2, 1))


def check_inpainter(name: str | None, critic: Critic) -> None:
    """Raise an error for an inpainter that is not known, or that nothing could be painted by."""
    if name is None:
        return
    if critic.heatmaps is None:
        raise UserError(f"{critic.name} does not say where an image is wrong: leave --inpainter out")
    load_inpainter(name)


def filter_step(
    walk: Walk, settings: AnyGenerator, judges: Judges, *, truth: Truth | None, progress: Progress
) -> None:
    """Choose the best of several images per prompt."""
    improvement, options = walk.improvement, walk.options
    opened = open_generator(settings, improvement.study)
    try:
        run = run_filter(
            improvement,
            opened,
            settings.name,
            judges.critic,
            held_out=judges.second,
            options=FilterOptions(_whole(options["candidates"]), _whole(options["prompts"]), precision=None),
            size=size_of(improvement.study, settings),
            truth=truth,
            progress=progress,
        )
    finally:
        opened.close()
    changes = write_selected(improvement, run, judges.critic, judges.second)
    chosen = [group[int(place)] for group, place in zip(run.candidates, run.chosen, strict=True)]
    seeds = {candidate.picture.prompt: candidate.seed for candidate in chosen}
    recorded = {**run.settings, "seeds": [[prompt, seed] for prompt, seed in seeds.items()]}
    walk.finish(
        "filter",
        recorded,  # type: ignore[arg-type]
        changes=changes,
        gains=run.gains,
        truths=selected_truths(run, changes),
    )


def repair_step(walk: Walk, settings: AnyGenerator, judges: Judges, *, progress: Progress) -> None:
    """Repair what the filter kept; settings are chosen on images of the study with other prompts."""
    name = walk.options["inpainter"]
    if judges.critic.heatmaps is None:
        walk.leave_out("repair", f"{judges.critic.name} does not say where an image is wrong")
        return
    if name is None and not isinstance(settings, PainterGenerator):
        walk.leave_out("repair", f"no --inpainter is named for images of '{settings.name}'")
        return
    improved = _filtered(walk, settings.name)
    texts = {picture.prompt for picture in improved}
    others = [picture for picture in study_pictures(walk.improvement.study) if picture.prompt not in texts]
    if not improved or not others:
        walk.leave_out(
            "repair",
            "the filter kept no image" if others else "the study has no other prompts to choose settings on",
        )
        return
    inpainter = load_inpainter(str(name or "erring"))
    development = _development(walk, others, judges)
    _introduce(inpainter, walk, settings, development)
    run = repair_split(
        walk.improvement.study,
        SplitPictures(tuple(development), tuple(improved)),
        judges.critic,
        inpainter,
        held_out=judges.second,
        options=RepairOptions(),
        progress=progress,
    )
    rows, truths = write_repairs(walk.improvement, run, judges.critic, inpainter, judges.second)
    walk.finish("repair", run.settings, changes=rows, gains=run.gains, truths=truths)  # type: ignore[arg-type]


def _filtered(walk: Walk, generator: str) -> list[StudyPicture]:
    """The images that the filter kept."""
    changes = walk.improvement.store.read("changes")
    return [
        StudyPicture("", row["prompt"], generator, walk.improvement.study / row["after"])
        for row in changes.iter_rows(named=True)
        if row["method"] == "filter" and row["kept"]
    ]


def _development(walk: Walk, others: list[StudyPicture], judges: Judges) -> list[StudyPicture]:
    """Images to choose settings on, of those that no scorer was trained on where there are enough."""
    unseen = not_trained_on(walk.improvement.study, others, (judges.critic, judges.second))
    others = unseen if len(unseen) >= FEWEST_DEVELOPMENT else others
    rng = np.random.default_rng([load_study(walk.improvement.study).seed, 24])
    count = min(len(others), MOST_DEVELOPMENT)
    return [others[place] for place in sorted(rng.choice(len(others), count, replace=False).tolist())]


def _introduce(inpainter: Inpainter, walk: Walk, settings: AnyGenerator, development: list[StudyPicture]) -> None:
    """Let an inpainter of the synthetic world know how the images were painted."""
    if not isinstance(inpainter, WorldInpainter) or not isinstance(settings, PainterGenerator):
        return
    origins = study_origins(walk.improvement.study)
    for picture in development:
        inpainter.know(origins[picture.image])
    seeds = cast("list[tuple[str, int]]", walk.done["filter"]["seeds"])
    for prompt, seed in seeds:
        inpainter.know(painted_origin(walk.improvement.study, settings, prompt, seed))


def tune_step(walk: Walk, settings: AnyGenerator, judges: Judges, *, progress: Progress) -> None:
    """Tune the generator on the prompts that were filtered, and compare it on others; an alarm ends it."""
    improvement, generator = walk.improvement, trainable_of(settings)
    if generator is None:
        walk.leave_out(
            "tune",
            f"'{settings.name}' is reached by its images alone ({settings.kind}); painted, pixel-flow and "
            "diffusers can be tuned",
        )
        return
    tuned = dict.fromkeys(improvement.store.read("changes").filter(method="filter")["prompt"].to_list())
    unseen = [prompt for prompt in study_prompts(improvement.study) if prompt not in tuned][:UNSEEN]
    if len(unseen) < FEWEST_UNSEEN:
        walk.leave_out("tune", f"{len(unseen)} prompts are left to compare on; {FEWEST_UNSEEN} are needed")
        return
    progress("watches", 0, 1)
    state = improvement.folder / f"tune{STATE}"
    run = run_tune(
        improvement.study,
        PromptSplit(tuple(tuned), tuple(unseen)),
        state,
        generator=generator,
        scorer=_as_reward(judges.scorer, judges.critic),
        held_out=None if judges.held_out is None else _as_reward(judges.held_out, judges.second),
        settings=replace(SETTINGS, steps=_whole(walk.options["tune-steps"])),
        any_method=True,
        device=judges.device,
        progress=progress,
    )
    save_tuned(run, improvement.folder / LORA, generator)
    compared = save_before_after(
        improvement,
        "tune",
        run.generator,
        run.before,
        run.after,
        reward=run.reward,
        held_out=run.held_out,
        place="tuned",
    )
    changes = _with_heatmaps(improvement, compared.changes, run, judges.critic)
    findings: list[Row] = [dict(alarm.row(step)) for step, alarm in run.tuned.alarms]
    walk.finish(
        "tune",
        {**run.recorded, "kept step": run.tuned.step, "steps taken": run.tuned.steps},
        changes=changes,
        gains=compared.gains,
        alarms=findings,
        truths=compared.truths,
    )
    drop_tuning(state)


def _as_reward(name: str, critic: Critic | None) -> str:
    """The name of a scorer as a reward: of a rich-feedback model, with the aspect that was chosen by."""
    trained = trained_folder(name)
    if trained is None or trained[1] is not None or critic is None:
        return name
    rich = read_record(trained[0]).architecture in RICH_ARCHITECTURES
    return f"{name}:{critic.aspect}" if rich else name


def _with_heatmaps(improvement: Improvement, changes: list[Row], run: TuneRun, critic: Critic) -> list[Row]:
    """Write where the images before were wrong, for those who look at them."""
    if critic.heatmaps is None:
        return changes
    rows = []
    for row, levels in zip(changes, critic.heatmaps(list(run.before.pixels), run.before.prompts), strict=True):
        path = improvement.masks / f"{row['change']}-heatmap.png"
        Image.fromarray(np.rint(np.clip(levels, 0, 1) * 255).astype(np.uint8)).save(path)
        rows.append({**row, "heatmap": improvement.relative(path)})
    return rows


def _whole(option: object) -> int:
    return int(str(option))
