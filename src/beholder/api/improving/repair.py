"""Repairing the images of a study: ``beholder improve repair``."""

from collections.abc import Callable
from pathlib import Path

from beholder.api.improving.page import write_improvement_page
from beholder.errors import UserError
from beholder.improve.critic import Critic, load_critic
from beholder.improve.improvement import Improvement
from beholder.improve.inpainters import load_inpainter
from beholder.improve.repair_run import RepairOptions, RepairRun, run_repair
from beholder.study.study import load_study

Progress = Callable[[str, int, int], None]


def repair(
    folder: Path,
    *,
    scorer: str,
    inpainter: str,
    name: str = "repair",
    held_out: str | None = None,
    options: RepairOptions | None = None,
    device: str | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> RepairRun:
    """Repair images of a study by what a scorer or the raters say is wrong, and write the page.

    Args:
        folder: The study folder.
        scorer: A model of rich feedback by its folder, or ``FOLDER:ASPECT``.
        inpainter: ``NAME`` or ``NAME:ARGUMENT``.
        name: Of the improvement.
        held_out: A second scorer, which has no say in what is kept.
        options: What can be set.
        device: Where networks run.
        force: Replace an improvement of this name.
        progress: Called as work proceeds.

    Returns:
        The settings, the repairs and the gains.
    """
    improvement = new_improvement(folder, name, force=force)
    critic, second, painter = load_critic(scorer, device), load_second(held_out, device), load_inpainter(inpainter)
    run = run_repair(improvement, critic, painter, held_out=second, options=options, progress=progress)
    write_improvement_page(improvement)
    return run


def new_improvement(folder: Path, name: str, *, force: bool) -> Improvement:
    """The improvement of a study; an error where there is one of this name, unless it may be replaced."""
    load_study(folder)
    improvement = Improvement(folder, name)
    if improvement.store.has("changes") and not force:
        raise UserError(f"{improvement.folder} exists: choose another --name, or replace it with --force")
    return improvement


def load_second(held_out: str | None, device: str | None) -> Critic | None:
    """The held-out scorer, if there is one."""
    return None if held_out is None else load_critic(held_out, device)
