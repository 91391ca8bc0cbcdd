"""All steps of an improvement with sound defaults: ``beholder improve FOLDER --generator … --scorer …``.

Filter: the best of several images per prompt. Repair: of what is still wrong with them, settings chosen on other
prompts of the study. Proof: the images that came out first against those in the end, blind. One page shows it all.
To change the generator itself is a step of its own: ``beholder improve tune``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from beholder.api.improving.filter import find_generator, painted_origin, painted_truth, size_of
from beholder.api.improving.page import write_improvement_page
from beholder.api.improving.proof import Proof, prove
from beholder.api.improving.repair import load_second, new_improvement
from beholder.errors import UserError
from beholder.generators.catalogue import open_generator
from beholder.improve.critic import Critic, load_critic
from beholder.improve.filter_run import FilterOptions, FilterRun, run_filter, selected_truths, write_selected
from beholder.improve.gains import Row
from beholder.improve.improvement import Improvement
from beholder.improve.inpainters import load_inpainter
from beholder.improve.pictures import MOST_DEVELOPMENT, SplitPictures, StudyPicture, study_pictures
from beholder.improve.record import record_improvement
from beholder.improve.repair_run import RepairOptions, RepairRun, begin_folder, repair_split, write_repairs
from beholder.improve.truth import write_truth
from beholder.models.pipelines.inpainter import Inpainter
from beholder.simulate.inpainting.oracle import WorldInpainter
from beholder.simulate.inpainting.origins import study_origins
from beholder.simulate.painter import GroundTruth
from beholder.study.generating import AnyGenerator, PainterGenerator
from beholder.study.study import load_study

Progress = Callable[[str, int, int], None]

PROMPTS = 40
"""Prompts that are improved, at most: half of those of the demo, so that settings are chosen on the others."""


@dataclass(frozen=True, eq=False)
class Loop:
    """What every step did."""

    improvement: Improvement
    filtered: FilterRun
    repaired: RepairRun | None
    gains: tuple[Row, ...]
    proof: Proof


def improve(
    folder: Path,
    *,
    generator: str,
    scorer: str,
    inpainter: str | None = None,
    held_out: str | None = None,
    name: str = "loop",
    candidates: int = 4,
    prompts: int = PROMPTS,
    simulate: bool = False,
    device: str | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> Loop:
    """Filter, repair, and prove; all of it on one page.

    Args:
        folder: The study folder.
        generator: One of the study file, or ``NAME=KIND:ARGUMENT``.
        scorer: A model of rich feedback by its folder, or another scorer: then nothing is repaired.
        inpainter: ``NAME`` or ``NAME:ARGUMENT``; that of the synthetic world for its painters, else none.
        held_out: A second scorer, which has no say in what is kept.
        name: Of the improvement.
        candidates: Images per prompt.
        prompts: At most so many prompts.
        simulate: Let simulated raters judge the outcome.
        device: Where networks run.
        force: Replace an improvement of this name.
        progress: Called as work proceeds.

    Returns:
        What every step did; the proof has no answers where people have still to give them.
    """
    improvement = new_improvement(folder, name, force=force)
    settings = find_generator(folder, generator)
    critic, second = load_critic(scorer, device), load_second(held_out, device)
    painter = _inpainter(inpainter, settings, critic)
    begin_folder(improvement)
    opened = open_generator(settings, folder)
    try:
        filtered = run_filter(
            improvement,
            opened,
            settings.name,
            critic,
            held_out=second,
            options=FilterOptions(candidates=candidates, prompts=prompts),
            size=size_of(folder, settings),
            truth=painted_truth(folder, settings),
            progress=progress,
        )
    finally:
        opened.close()
    changes = write_selected(improvement, filtered, critic, second)
    truths = selected_truths(filtered, changes)
    gains: list[Row] = [{**row, "step": "filter"} for row in filtered.gains]
    repaired = None
    if painter is not None:
        repaired = _repair(improvement, settings, filtered, changes, critic, painter, second, progress)
        rows, more = write_repairs(improvement, repaired, critic, painter, second)
        changes, truths = [*changes, *rows], [*truths, *more]
        gains += [{**row, "step": "repair"} for row in repaired.gains]
    _record(improvement, changes, gains, truths, filtered, repaired)
    proof = prove(folder, name, simulate=simulate, progress=progress)
    write_improvement_page(improvement)
    return Loop(improvement, filtered, repaired, tuple(gains), proof)


def _inpainter(name: str | None, settings: AnyGenerator, critic: Critic) -> Inpainter | None:
    """The inpainter that is named, or the erring one of the synthetic world for what its painters make."""
    if critic.heatmaps is None:
        if name is not None:
            raise UserError(f"{critic.name} does not say where an image is wrong: nothing can be repaired by it")
        return None
    if name is None:
        return load_inpainter("erring") if isinstance(settings, PainterGenerator) else None
    return load_inpainter(name)


def _repair(
    improvement: Improvement,
    settings: AnyGenerator,
    filtered: FilterRun,
    changes: list[Row],
    critic: Critic,
    inpainter: Inpainter,
    held_out: Critic | None,
    progress: Progress | None,
) -> RepairRun:
    """Repair what the filter kept; settings are chosen on images of the study with other prompts."""
    folder = improvement.study
    improved = [
        StudyPicture("", str(row["prompt"]), settings.name, folder / str(row["after"]))
        for row in changes
        if row["kept"]
    ]
    if not improved:
        raise UserError("the filter kept no image: more prompts or candidates may help, or a better scorer")
    texts = {picture.prompt for picture in improved}
    others = [picture for picture in study_pictures(folder) if picture.prompt not in texts]
    rng = np.random.default_rng([load_study(folder).seed, 24])
    count = min(len(others), MOST_DEVELOPMENT)
    development = [others[place] for place in sorted(rng.choice(len(others), count, replace=False).tolist())]
    if isinstance(inpainter, WorldInpainter) and isinstance(settings, PainterGenerator):
        origins = study_origins(folder)
        for picture in development:
            inpainter.know(origins[picture.image])
        for number, group in enumerate(filtered.candidates):
            chosen = group[int(filtered.chosen[number])]
            inpainter.know(painted_origin(folder, settings, chosen.picture.prompt, chosen.seed))
    split = SplitPictures(tuple(development), tuple(improved))
    return repair_split(
        folder, split, critic, inpainter, held_out=held_out, options=RepairOptions(), progress=progress
    )


def _record(
    improvement: Improvement,
    changes: list[Row],
    gains: list[Row],
    truths: list[tuple[str, GroundTruth]],
    filtered: FilterRun,
    repaired: RepairRun | None,
) -> None:
    if truths:
        write_truth(improvement, truths)
    steps = {"filter": filtered.settings} | ({} if repaired is None else {"repair": repaired.settings})
    record_improvement(
        improvement,
        {"changes": changes, "gains": gains, "alarms": [], "proofs": []},
        settings=steps,  # type: ignore[arg-type]
        seed=load_study(improvement.study).seed,
    )
