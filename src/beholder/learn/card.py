"""The model card: what a model was trained on and how well it does; ``README.md`` next to the weights."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from beholder.learn.figures.figure import Figure
from beholder.learn.formatting import format_interval, format_number, format_with_interval
from beholder.learn.recipe import Recipe
from beholder.learn.rounds.words import rounds_section
from beholder.learn.single_score_words import single_score_lines
from beholder.learn.splits import Item
from beholder.learn.transfer import TransferRow, lacking_rows, transfer_rows
from beholder.study.study import Study
from beholder.tables.atomic import write_atomically

FILE_NAME = "README.md"


@dataclass(frozen=True, slots=True)
class TrainingData:
    """What a model is trained on, and how the trained model is used."""

    labels: str
    """Kind and number of the labels."""
    items: tuple[Item, ...]
    max_raters: int
    """The largest number of raters behind one label."""
    usage: str
    """The command line that uses the model."""


def write_card(
    folder: Path,
    recipe: Recipe,
    study: Study,
    training_data: TrainingData,
    figures: Sequence[Figure],
    seconds: float,
    sessions: pl.DataFrame,
    rounds: pl.DataFrame | None = None,
) -> None:
    """Write the card of a model into its folder; ``seconds`` is how long training took.

    ``rounds`` is the table of that name, where the model is trained on adversarial rounds.
    """
    rows = transfer_rows(folder.parent, folder.name, recipe, figures)
    attacked = rounds_section(folder.name, rounds)
    single = single_score_lines(folder, rated=recipe.data.labels in ("ratings", "rich"))
    card = render_card(recipe, study, training_data, figures, seconds, sessions, rows, attacked, single)
    with write_atomically(folder / FILE_NAME) as file:
        file.write(card.encode())


def render_card(
    recipe: Recipe,
    study: Study,
    training_data: TrainingData,
    figures: Sequence[Figure],
    seconds: float,
    sessions: pl.DataFrame,
    transfer: Sequence[TransferRow] = (),
    attacked: Sequence[str] = (),
    single_scores: Sequence[str] = (),
) -> str:
    """Return the card as Markdown; ``sessions`` say which raters are simulated."""
    prompts = len({item.prompt for item in training_data.items if item.prompt})
    generators = len({item.generator for item in training_data.items})
    parts = (
        "one split"
        if recipe.split.folds == 1
        else f"{recipe.split.folds} folds, each image scored by the model that was not trained on it"
    )
    held_out = {"prompt": "prompts", "generator": "generators", "both": "prompts and generators"}[recipe.split.by]
    lines = [
        f"# {recipe.name}",
        "",
        recipe.about or f"A model of the architecture {recipe.architecture}.",
        "",
        "## Data",
        "",
        f"The study *{study.title}* (`{study.name}`): {training_data.labels} of "
        f"{len(training_data.items):,} images, {prompts:,} prompts, {generators} generators; at most "
        f"{training_data.max_raters} raters per label.{_simulated(sessions)}",
        "",
        "## Split",
        "",
        f"By {recipe.split.by}, {parts}; seed {recipe.split.seed}. No {held_out} and no files are shared between "
        "training, validation and test.",
        "",
        "## Agreement with raters",
        "",
        "On images it was not trained on. *Baseline*: what the generator's mean alone would give. *Human "
        "ceiling*: how well other raters would agree.",
        "",
        *_table(figures),
        "",
        *(f"{sentence}  " for sentence in baseline_verdicts(figures)),
        "",
        f"{study.analysis.level:.0%} confidence intervals, over prompts; *over raters*: raters vary, "
        "images as they are.",
        "",
        *(("## Single scores", "", *(f"{sentence}  " for sentence in single_scores), "") if single_scores else ()),
        "## Transfer",
        "",
        *_transfer(transfer, recipe),
        "",
        *attacked,
        "## Use",
        "",
        f"    {training_data.usage}",
        "",
        "with this folder (with several folds: one of the folders in it) as FOLDER.",
        "",
        "## Training",
        "",
        f"{recipe.architecture}; {seconds:,.0f} s. The recipe, with every setting, is in `model.json`.",
        "",
        "## Licence",
        "",
        recipe.licence or "That of the study's images and answers; the package adds no terms.",
        "",
    ]
    return "\n".join(lines)


def _simulated(sessions: pl.DataFrame) -> str:
    """Return a warning where answers came from simulated raters; empty where none did."""
    raters = sessions.group_by("rater").agg(pl.col("simulated").any())
    simulated = int(raters["simulated"].sum())
    if simulated == 0:
        return ""
    who = "All raters are" if simulated == raters.height else f"{simulated} of {raters.height} raters are"
    return (
        f" **{who} simulated**: the labels are invented or computed, and agreement with them says nothing about "
        "people."
    )


def baseline_verdicts(figures: Sequence[Figure]) -> list[str]:
    """Say for each aspect whether the model beats the generator-mean baseline, by its first statistic with one."""
    first: dict[str, Figure] = {}
    for figure in figures:
        if figure.statistic != "rmse" and not math.isnan(figure.floor) and not math.isnan(figure.value):
            first.setdefault(figure.aspect, figure)
    return [_baseline_verdict(figure) for figure in first.values()]


def _baseline_verdict(figure: Figure) -> str:
    if figure.low > figure.floor:
        verdict = "beats the generator-mean baseline"
    elif figure.value > figure.floor:
        verdict = "is ahead of the generator-mean baseline, but not significantly"
    else:
        verdict = "does not beat the generator-mean baseline"
    value = format_with_interval(figure.value, figure.low, figure.high)
    compared = f"{figure.statistic} {value}, baseline {format_number(figure.floor)}"
    return f"{figure.aspect}: the model {verdict} ({compared})."


def _transfer(rows: Sequence[TransferRow], recipe: Recipe) -> list[str]:
    """Return the table of what was held out, and what was not measured."""
    cells = [
        (
            *(row.held_out, row.aspect, row.statistic),
            *(format_with_interval(row.value, row.low, row.high), format_number(row.floor), f"{row.items:,}"),
        )
        for row in rows
    ]
    headings = ("tested on", "aspect", "statistic", "value", "baseline", "items")
    table = [f"| {' | '.join(row)} |" for row in (headings, ("---",) * len(headings), *cells)]
    return [*(table if rows else ()), "", *(f"{sentence}  " for sentence in lacking_rows(rows, recipe))]


def _table(figures: Sequence[Figure]) -> list[str]:
    headings, rows = figure_table(figures)
    lines = ["| " + " | ".join(cells) + " |" for cells in (headings, *rows)]
    return [lines[0], "|" + "---|" * len(headings), *lines[1:]]


def figure_table(figures: Sequence[Figure]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the column headings and the rows of a table of figures, without columns that no figure fills."""
    headings = ("aspect", "statistic", "value", "over raters", "baseline", "human ceiling", "items", "ties")
    rows = [
        (
            *(figure.aspect, figure.statistic, format_with_interval(figure.value, figure.low, figure.high)),
            *(
                format_interval(figure.people_low, figure.people_high),
                format_number(figure.floor),
                format_number(figure.ceiling),
            ),
            *(f"{figure.items:,}", figure.ties),
        )
        for figure in figures
    ]
    filled = [column for column in range(len(headings)) if column < 3 or any(row[column] for row in rows)]
    return tuple(headings[column] for column in filled), [tuple(row[column] for column in filled) for row in rows]
