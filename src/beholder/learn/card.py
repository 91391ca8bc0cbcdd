"""The model card: what a model was taught, on what, and what it is worth; ``README.md`` beside the weights."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from beholder.learn.evaluate import Figure
from beholder.learn.recipe import Recipe
from beholder.learn.splits import Item
from beholder.study.study import Study
from beholder.tables.atomic import write_atomically

FILE_NAME = "README.md"


@dataclass(frozen=True, slots=True)
class Source:
    """What a model is taught from, and how it is used then."""

    labels: str
    """Which labels, and how many."""
    items: tuple[Item, ...]
    people: int
    """Behind a label, at most."""
    use: str
    """A command line."""


def write_card(
    folder: Path, recipe: Recipe, study: Study, source: Source, figures: Sequence[Figure], seconds: float
) -> None:
    """Write the card."""
    with write_atomically(folder / FILE_NAME) as file:
        file.write(card(recipe, study, source, figures, seconds).encode())


def card(recipe: Recipe, study: Study, source: Source, figures: Sequence[Figure], seconds: float) -> str:
    """The card as Markdown."""
    prompts = len({one.prompt for one in source.items if one.prompt})
    generators = len({one.generator for one in source.items})
    parts = (
        "one split"
        if recipe.split.folds == 1
        else f"{recipe.split.folds} folds, each image scored by the one that had not seen it"
    )
    held = {"prompt": "prompts", "generator": "generators", "both": "prompts and generators"}[recipe.split.by]
    lines = [
        f"# {recipe.name}",
        "",
        recipe.about or f"A model of the architecture {recipe.architecture}.",
        "",
        "## Data",
        "",
        f"The study *{study.title}* (`{study.name}`): {source.labels} of "
        f"{len(source.items):,} images, {prompts:,} prompts, {generators} generators; at most {source.people} "
        "people behind a label.",
        "",
        "## Split",
        "",
        f"By {recipe.split.by}, {parts}; seed {recipe.split.seed}. No {held} and no file are on two sides.",
        "",
        "## What it is worth",
        "",
        "On images it was not trained on. *Floor*: what knowing the generator alone would give. *Ceiling*: what "
        "other people would.",
        "",
        *_table(figures),
        "",
        f"Intervals of {study.analysis.level:.0%}, over prompts; *people*: over people, images as they are.",
        "",
        "## Use",
        "",
        f"    {source.use}",
        "",
        "with this folder (of several folds: one of those in it) as FOLDER.",
        "",
        "## Training",
        "",
        f"{recipe.architecture}; {seconds:,.0f} s. The recipe, with every setting, is in `model.json`.",
        "",
        "## Licence",
        "",
        recipe.licence or "That of the study's images and answers; the package sets none.",
        "",
    ]
    return "\n".join(lines)


def _table(figures: Sequence[Figure]) -> list[str]:
    heads, rows = figure_table(figures)
    lines = ["| " + " | ".join(cells) + " |" for cells in (heads, *rows)]
    return [lines[0], "|" + "---|" * len(heads), *lines[1:]]


def figure_table(figures: Sequence[Figure]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Heads and rows; columns that no figure fills are left out."""
    heads = ("aspect", "statistic", "value", "people", "floor", "ceiling", "items", "ties")
    rows = [
        (
            *(one.aspect, one.statistic, shown(one.value, one.low, one.high)),
            *(between(one.people_low, one.people_high), number(one.floor), number(one.ceiling)),
            *(f"{one.items:,}", one.ties),
        )
        for one in figures
    ]
    filled = [place for place in range(len(heads)) if place < 3 or any(row[place] for row in rows)]
    return tuple(heads[place] for place in filled), [tuple(row[place] for place in filled) for row in rows]


def shown(value: float, low: float, high: float) -> str:
    """A value with its interval."""
    return f"{number(value)} {between(low, high)}".strip()


def between(low: float, high: float) -> str:
    """An interval; nothing where there is none."""
    return "" if math.isnan(low) or math.isnan(high) else f"[{number(low)}, {number(high)}]"


def number(value: float) -> str:
    """Three decimals without the leading zero; nothing where it is not known."""
    if math.isnan(value):
        return ""
    written = f"{value:.3f}".replace("-", "−")
    return written.replace("0.", ".", 1) if abs(value) < 1 else written
