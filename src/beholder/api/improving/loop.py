"""All steps of an improvement with sound defaults: ``beholder improve FOLDER --generator … --scorer …``.

Filter: the best of several images per prompt. Repair: of what is still wrong with them, settings chosen on other
prompts of the study. Tune: the generator itself, on the prompts that were filtered, compared on the others. Proof:
images before against images after, blind. One page shows it all; a second call does only what is not done.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import polars as pl

from beholder.api.improving.generator import find_generator, generator_truth, trainable_of
from beholder.api.improving.pace import PARTS, Pace, Progress
from beholder.api.improving.page import write_improvement_page
from beholder.api.improving.proof import Proof, prove
from beholder.api.improving.steps import (
    Judges,
    check_inpainter,
    filter_step,
    half_of_prompts,
    load_judges,
    repair_step,
    tune_step,
)
from beholder.api.improving.walk import Walk, is_begun, open_walk, rests_on
from beholder.api.study_folder import StudyFolder, folder_of
from beholder.errors import UserError, unknown_name
from beholder.improve.improvement import Improvement
from beholder.improve.proof import FEWEST, count_pairs
from beholder.stats.frames.result_table import ResultTable
from beholder.study.generating import AnyGenerator
from beholder.study.study import load_study
from beholder.tables.provenance import Plain

PROMPTS = 40
"""Prompts that are filtered, at most; never more than half of the study's."""
STEPS = tuple(PARTS)
OPTIONAL = ("repair", "tune", "proof")
"""Steps that can be left out."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Improved(ResultTable):
    """How much better images are after an improvement: one row per step and measure."""

    page: Path
    """All of it on one page."""
    alarms: tuple[str, ...]
    """Signs that images grew worse while the score rose; tuning ended there."""
    left_out: tuple[str, ...]
    """Steps that were left out, and why."""
    proof: Proof | None
    """What raters say; without rows where people have still to be asked."""


def improve(
    study: str | Path | StudyFolder,
    *,
    generator: str,
    scorer: str,
    inpainter: str | None = None,
    held_out: str | None = None,
    name: str = "loop",
    candidates: int = 4,
    prompts: int = PROMPTS,
    tune_steps: int = 60,
    skip: Sequence[str] = (),
    simulate: bool = False,
    device: str | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> Improved:
    """Filter, repair, tune and prove, as ``beholder improve FOLDER`` does; all of it on one page.

    Args:
        study: The study, or its folder.
        generator: One of the study file, ``painted``, ``pixel-flow:FOLDER``, ``diffusers:MODEL``, or
            ``NAME=KIND:ARGUMENT``. The last kinds of generators cannot be tuned, unless they are one of these.
        scorer: A model of rich feedback by its folder, or another scorer: then nothing is repaired.
        inpainter: ``NAME`` or ``NAME:ARGUMENT``; that of the synthetic world for its painters, else none.
        held_out: A second scorer, which has no say in what is kept.
        name: Of the improvement.
        candidates: Images per prompt.
        prompts: At most so many prompts are filtered, and at most half of the study's.
        tune_steps: Of tuning.
        skip: Steps that are left out: ``repair``, ``tune``, ``proof``.
        simulate: Let simulated raters judge the outcome.
        device: Where networks run.
        force: Replace an improvement of this name, or begin it again.
        progress: Called with what is being done, how much of all is done, and how much that is.

    Returns:
        The gains, with confidence intervals over prompts; the alarms; and the proof, which has no answers where
        people have still to give them. What was done before is not done again.

    Example:
        >>> import beholder as bh
        >>> options = {"candidates": 2, "skip": ["tune", "proof"]}
        >>> scorer = "my-study/models/tiny-two-tower"
        >>> improved = bh.improve("my-study", generator="poor=painter:dune", scorer=scorer, **options)
        >>> list(improved["measure"]), improved.page.as_posix()
        (['own', 'ground truth'], 'my-study/improvements/loop/improvement.html')
        >>> improved.left_out[1]
        'tune: left out: as it was asked to be'
    """
    folder = folder_of(study)
    load_study(folder)
    settings, improvement = find_generator(folder, generator), Improvement(folder, name)
    _check(settings, skip, simulate=simulate)
    options: dict[str, Plain] = {
        **{"generator": generator, "scorer": scorer, "inpainter": inpainter, "held-out": held_out},
        **{"candidates": candidates, "prompts": half_of_prompts(folder, prompts), "tune-steps": tune_steps},
        "skip": [step for step in OPTIONAL if step in skip and step != "proof"],
        **rests_on(folder, {"scorer": scorer, "held-out": held_out}),
    }
    judges = None
    if force or not is_begun(improvement):  # what is wrong with scorers is said before anything is written
        judges = load_judges(scorer, held_out, device)
        check_inpainter(inpainter, judges.critic)
    walk = open_walk(improvement, options, force=force)
    pending = [step for step in STEPS if step not in walk.done and step not in skip]
    pace = Pace(progress, pending)
    if set(pending) - {"proof"}:
        pace("loading the scorers", 0, 1)
        _take_steps(walk, settings, judges or load_judges(scorer, held_out, device), skip, pace)
    proof = None if "proof" in skip else _prove(walk, pace, simulate=simulate)
    write_improvement_page(improvement)
    return _improved(walk, proof)


def _check(settings: AnyGenerator, skip: Sequence[str], *, simulate: bool) -> None:
    """Raise an error for what cannot work, before anything is done."""
    for step in skip:
        if step not in OPTIONAL:
            raise UserError(unknown_name("step that can be left out", step, OPTIONAL))
    knows = (trainable_of(settings) or "").partition(":")[0] == "painted"
    if simulate and "proof" not in skip and not knows:
        raise UserError(
            f"simulated raters need the ground truth of the images, which only the synthetic world knows, not "
            f"'{settings.name}'. Ask people: leave --simulate out"
        )


def _take_steps(walk: Walk, settings: AnyGenerator, judges: Judges, skip: Sequence[str], pace: Progress) -> None:
    """Do what is not done yet, in order."""
    work: dict[str, Callable[[], None]] = {
        "filter": lambda: filter_step(
            walk, settings, judges, truth=generator_truth(walk.improvement.study, settings), progress=pace
        ),
        "repair": lambda: repair_step(walk, settings, judges, progress=pace),
        "tune": lambda: tune_step(walk, settings, judges, progress=pace),
    }
    for step, take in work.items():
        if step in skip and step not in walk.done:
            walk.leave_out(step, "as it was asked to be")
        elif step not in walk.done:
            take()


def _prove(walk: Walk, pace: Progress, *, simulate: bool) -> Proof | None:
    """Ask raters; nothing where too little has changed to ask about."""
    improvement = walk.improvement
    number = count_pairs(improvement)
    if number < FEWEST:
        note = f"proof: left out: images of {number} prompts changed; a comparison needs at least {FEWEST}"
        walk.notes = list(dict.fromkeys([*walk.notes, note]))
        walk.save()
        return None
    return prove(improvement.study, improvement.name, simulate=simulate, progress=pace)


def _improved(walk: Walk, proof: Proof | None) -> Improved:
    store = walk.improvement.store
    gains = store.read("gains").drop("improvement")
    raised = store.read_or_empty("alarms").filter("raised").sort("step")
    columns = ("step", "measure", "name", "gain", "low", "high", "possible", "worse", "images", "prompts")
    sentences = raised.select(pl.format("step {}: {}", "step", "sentence")).to_series()
    alarms = tuple(sentences.unique(maintain_order=True))
    return Improved(
        title=f"gains of {walk.improvement.name}",
        rows=gains.select(columns),
        method="over prompts",
        estimate="gain",
        keys=3,
        level=float(cast("float", gains["level"][0])) if gains.height else None,
        reference=0.0,
        signed=True,
        notes=(*(f"ALARM at {alarm}" for alarm in alarms), *walk.notes, f"page: {walk.improvement.page}"),
        page=walk.improvement.page,
        alarms=alarms,
        left_out=tuple(walk.notes),
        proof=proof,
    )
