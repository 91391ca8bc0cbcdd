"""Filtering what a generator makes of the study's prompts: ``beholder improve filter``."""

from collections.abc import Callable
from pathlib import Path

from beholder.api.improving.page import write_improvement_page
from beholder.api.improving.repair import load_second, new_improvement
from beholder.errors import UserError, unknown_name
from beholder.generators.catalogue import open_generator, parse_generator
from beholder.improve.critic import load_critic
from beholder.improve.filter_run import (
    FilterOptions,
    FilterRun,
    Truth,
    original_size,
    run_filter,
    selected_truths,
    write_selected,
)
from beholder.improve.record import record_improvement
from beholder.improve.repair_run import begin_folder
from beholder.improve.truth import write_truth
from beholder.simulate.inpainting.origins import Origin
from beholder.simulate.painter_worker import POLICIES
from beholder.study.generating import AnyGenerator, PainterGenerator
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
            truth=painted_truth(folder, settings),
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


def find_generator(folder: Path, text: str) -> AnyGenerator:
    """A generator of the study file by its name, or one written as ``NAME=KIND:ARGUMENT``."""
    if "=" in text:
        return parse_generator(text)
    by_name = {generator.name: generator for generator in load_study(folder).generators}
    if text not in by_name:
        fault = unknown_name("generator", text, by_name) if by_name else "the study file names no generators"
        raise UserError(f"{fault}\nWrite it as NAME=KIND:ARGUMENT, such as {text}=painter:aurora")
    return by_name[text]


def size_of(folder: Path, settings: AnyGenerator) -> tuple[int | None, int | None]:
    """Width and height that are asked for: the generator's own settings, or those of the study's images."""
    if settings.width:
        return settings.width, settings.height or settings.width
    return original_size(folder)


def painted_origin(folder: Path, settings: PainterGenerator, prompt: str, seed: int) -> Origin:
    """How the synthetic world paints a prompt with a seed."""
    return Origin(prompt, POLICIES[settings.policy], (seed, 13), size_of(folder, settings)[0] or 192)


def painted_truth(folder: Path, settings: AnyGenerator) -> Truth | None:
    """The ground truth of what a painter of the synthetic world makes; ``None`` for other generators."""
    if not isinstance(settings, PainterGenerator) or settings.policy not in POLICIES:
        return None

    painter = settings
    return lambda prompt, seed: painted_origin(folder, painter, prompt, seed).paint().flatten().truth
