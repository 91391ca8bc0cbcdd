"""What a model is tested on: unseen prompts, unseen generators, other data sets; each a row of the model card.

A model that ranks images of unseen prompts well may fail on an unseen generator, or on other people's images. Rows
come from models of the same study with the same recipe, apart from how images are split (``--transfer`` trains
them), and from the labels of other studies (``--test-on``); where there is none, a sentence says by which command
there will be.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from beholder.errors import SplitError
from beholder.learn.figures.figure import Figure
from beholder.learn.recipe import By, Recipe
from beholder.learn.splits import Item, split
from beholder.learn.trained_models import FIGURES, hash_weights, trained_settings

HELD_OUT: dict[By, str] = {
    "prompt": "unseen prompts, generators of the training",
    "generator": "unseen generators, prompts of the training",
    "both": "unseen prompts and generators",
}
FREE = ("split", "name", "about", "licence")
"""Parts of a recipe in which models of one row of cards may differ."""

OTHER_DATA = "other-data.json"
"""The rows of a model on other data sets, next to its weights."""


@dataclass(frozen=True, slots=True)
class TransferRow:
    """The first correlation or accuracy of one aspect on one kind of held-out images."""

    held_out: str
    aspect: str
    statistic: str
    value: float
    low: float
    high: float
    floor: float
    """Generator-mean baseline."""
    items: int


def sibling_recipes(recipe: Recipe, name: str, items: Sequence[Item]) -> dict[str, Recipe]:
    """Return the models whose rows the card of this one needs: the name and the recipe of each.

    Generators are left out one at a time, with the prompts of the training and with unseen ones; pairs of images
    of one generator are rarely compared, so models of pairs keep the folds of the recipe. A split by both that
    leaves nothing to validate on is not among them.
    """
    generators = len({item.generator for item in items})
    siblings: dict[str, Recipe] = {}
    for by in HELD_OUT:
        if by == recipe.split.by:
            continue
        in_turn = by != "prompt" and recipe.data.labels != "pairs"
        split_by = recipe.split.model_copy(
            update={"by": by, "folds": generators if in_turn else recipe.split.folds}
        )
        try:
            split(items, split_by)
        except SplitError:
            if by != "both":
                raise
            continue
        siblings[f"{name}-{by}"] = recipe.model_copy(update={"split": split_by})
    return siblings


def transfer_rows(models: Path, name: str, recipe: Recipe, figures: Sequence[Figure]) -> list[TransferRow]:
    """Return the rows of this model and of its siblings in the folder ``models``, the model's own first."""
    rows = list(_rows(recipe.split.by, figures))
    for folder in sorted(path for path in models.iterdir() if path.is_dir() and path.name != name):
        settings = trained_settings(folder)
        sibling = None if settings is None or "rounds" in settings else settings.get("recipe")
        if not isinstance(sibling, dict) or not _is_sibling(sibling, recipe):
            continue
        split = sibling.get("split")
        by = split.get("by") if isinstance(split, dict) else None
        if by in HELD_OUT and HELD_OUT[by] not in {row.held_out for row in rows}:
            rows += _rows(by, _read_figures(folder))
    return rows + other_data_rows(models / name)


def other_data_rows(model_folder: Path) -> list[TransferRow]:
    """Return the rows on other data sets; none where they are of other weights than those in the folder."""
    try:
        content = json.loads((model_folder / OTHER_DATA).read_text(encoding="utf-8"))
        rows = TypeAdapter(list[TransferRow]).validate_python(content["rows"])
        return rows if content["weights"] == hash_weights(model_folder) else []
    except (OSError, ValueError, KeyError, TypeError):
        return []


def lacking_rows(rows: Sequence[TransferRow], recipe: Recipe) -> list[str]:
    """Return a sentence for each kind of held-out images without a row."""
    present = {row.held_out for row in rows}
    command = f"beholder learn FOLDER --recipe {recipe.name} --transfer"
    sentences = [f"Not measured on {words}: `{command}`." for words in HELD_OUT.values() if words not in present]
    if not any(row.held_out not in HELD_OUT.values() for row in rows):
        test = f"beholder learn FOLDER --recipe {recipe.name} --test-on OTHER-STUDY"
        sentences.append(f"Not measured on other data sets: `{test}`.")
    return sentences


def _rows(by: By, figures: Sequence[Figure]) -> Iterator[TransferRow]:
    return rows_of(HELD_OUT[by], figures)


def rows_of(held_out: str, figures: Sequence[Figure]) -> Iterator[TransferRow]:
    """Yield the first correlation or accuracy of each aspect."""
    covered: set[str] = set()
    for figure in figures:
        if figure.aspect in covered or figure.statistic == "rmse" or math.isnan(figure.value):
            continue
        covered.add(figure.aspect)
        bounds = (figure.value, figure.low, figure.high, figure.floor)
        yield TransferRow(held_out, figure.aspect, figure.statistic, *bounds, figure.items)


def _is_sibling(other: Mapping[str, object], recipe: Recipe) -> bool:
    expected = recipe.model_dump(mode="json")
    return all(other.get(key) == part for key, part in expected.items() if key not in FREE)


def _read_figures(folder: Path) -> list[Figure]:
    content = json.loads((folder / FIGURES).read_text(encoding="utf-8"))
    rows = [{key: math.nan if part is None else part for key, part in row.items()} for row in content["figures"]]
    return TypeAdapter(list[Figure]).validate_python(rows)
