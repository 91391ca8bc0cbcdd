"""Generating images, and taking them into the study that they were generated for."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from beholder.design.add import Added, add_generations
from beholder.engines.engine import Engine
from beholder.generate.settings import GenerateSettings
from beholder.generate.stage import run
from beholder.study.study import FILE_NAME
from beholder.tables.schemas.generate import DONE, FAILED, REFUSED
from beholder.tables.store import Store
from beholder.tables.work import Outcome


@dataclass(frozen=True, slots=True)
class GeneratorSummary:
    """What a generator did so far, over all runs: counts, and costs of what was asked for."""

    generator: str
    done: int
    refused: int
    failed: int
    seconds: float
    """Mean per image that was asked for."""
    energy_wh: float | None
    """Mean over the images whose energy was measured; ``None`` where none was, or by several methods."""
    energy_method: str | None
    cost: float | None
    """Sum; ``None`` where no price is set."""
    currency: str | None


@dataclass(frozen=True, slots=True)
class Generated:
    """What was done: by the stage, and by the intake where the folder is a study."""

    outcome: Outcome
    added: Added | None
    generators: tuple[GeneratorSummary, ...]


def generate_images(
    folder: Path,
    generating: GenerateSettings | None = None,
    *,
    force: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
    engine: Engine | None = None,
) -> Generated:
    """Generate images in a folder; those of a study are added to its table ``images``.

    Args:
        folder: a study, or any other folder.
        generating: which generators and prompts; by default those of the study.
        force: generate all images of the plan again.
        progress: called with the generator, images done, and all.
        engine: whose workers make the images of generators that are programs.

    Returns:
        What was done, and a summary for each generator.
    """
    outcome = run(folder, force=force, generating=generating, progress=progress, engine=engine)
    store = Store(folder)
    added = add_generations(folder) if (folder / FILE_NAME).is_file() else None
    return Generated(outcome, added, summarise(store))


def summarise(store: Store) -> tuple[GeneratorSummary, ...]:
    """Summarise the tables of a folder by generator, in the order of their names."""
    costs = store.read_or_empty("generation_costs")
    rows = store.read_or_empty("generations").join(costs, on=["generator", "prompt", "sample"], how="left")
    summaries: list[GeneratorSummary] = []
    for (name,), part in rows.group_by("generator", maintain_order=True):
        attempted = part.filter(pl.col("seconds") > 0)
        measured = part.filter(pl.col("energy_wh").is_not_null())
        methods = measured["energy_method"].unique().to_list()
        energy = measured["energy_wh"].mean() if len(methods) == 1 else None
        currencies = part["currency"].drop_nulls().unique().to_list()
        summaries.append(
            GeneratorSummary(
                generator=str(name),
                done=part.filter(pl.col("status") == DONE).height,
                refused=part.filter(pl.col("status") == REFUSED).height,
                failed=part.filter(pl.col("status") == FAILED).height,
                seconds=float(attempted["seconds"].sum()) / max(attempted.height, 1),
                energy_wh=float(str(energy)) if energy is not None else None,
                energy_method=methods[0] if len(methods) == 1 else None,
                cost=float(part["cost"].sum()) if len(currencies) == 1 else None,
                currency=currencies[0] if len(currencies) == 1 else None,
            )
        )
    return tuple(summaries)
