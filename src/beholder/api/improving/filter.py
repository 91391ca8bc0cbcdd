"""Filtering what a generator makes of the study's prompts: ``beholder improve filter``."""

from collections.abc import Callable
from pathlib import Path

from beholder.api.improving.generator import find_generator, generator_truth, size_of
from beholder.api.improving.page import write_improvement_page
from beholder.api.improving.repair import load_second, new_improvement
from beholder.generators.catalogue import open_generator
from beholder.improve.critic import load_critic
from beholder.improve.filter_run import (
    FilterOptions,
    FilterRun,
    run_filter,
    selected_truths,
    write_selected,
)
from beholder.improve.record import record_improvement
from beholder.improve.repair_run import begin_folder
from beholder.improve.truth import write_truth
from beholder.study.study import load_study

Progress = Callable[[str, int, int], None]


def filter_images(
    folder: Path,
    *,
    generator: str,
    scorer: str,
    name: str = "filter",
    held_out: str | None = None,
    options: FilterOptions | None = None,
    device: str | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> FilterRun:
    """Generate several images per prompt, choose the best by a scorer, and write the page.

    Args:
        folder: The study folder.
        generator: One of the study file, or ``NAME=KIND:ARGUMENT``.
        scorer: A scorer by name, or a trained model by its folder.
        name: Of the improvement.
        held_out: A second scorer, which has no say in what is chosen.
        options: What can be set.
        device: Where networks run.
        force: Replace an improvement of this name.
        progress: Called as work proceeds.

    Returns:
        The candidates, which were chosen, and what was gained.
    """
    improvement = new_improvement(folder, name, force=force)
    settings = find_generator(folder, generator)
    critic, second = load_critic(scorer, device), load_second(held_out, device)
    begin_folder(improvement)
    opened = open_generator(settings, folder)
    try:
        run = run_filter(
            improvement,
            opened,
            settings.name,
            critic,
            held_out=second,
            options=options or FilterOptions(),
            size=size_of(folder, settings),
            truth=generator_truth(folder, settings),
            progress=progress,
        )
    finally:
        opened.close()
    rows = write_selected(improvement, run, critic, second)
    if run.truths:
        write_truth(improvement, selected_truths(run, rows))
    record_improvement(
        improvement,
        {"changes": rows, "gains": run.gains, "alarms": [], "proofs": []},
        settings=run.settings,  # type: ignore[arg-type]
        seed=load_study(folder).seed,
    )
    write_improvement_page(improvement)
    return run
