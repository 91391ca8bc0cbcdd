"""A recipe: which model is trained on which labels, and how; a small TOML file that is validated before training.

The recipes of the package are in ``recipes/`` and have the published hyperparameters; any other file can be used
too.
"""

import json
import tomllib
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Literal

from pydantic import Field, JsonValue, ValidationError, model_validator

from beholder.errors import RecipeError, unknown_name
from beholder.models.architectures import ARCHITECTURES, RICH_ARCHITECTURES
from beholder.models.rich_feedback.augment import Augmentation
from beholder.study.faults import faults_of
from beholder.study.question import Settings, Share, Slug
from beholder.tables.provenance import Plain

By = Literal["prompt", "generator", "both"]


TRACKERS = ("tensorboard", "wandb", "mlflow")
"""Trackers that training can be logged to, each by the name of its package."""


class Data(Settings):
    """Which labels are used for training."""

    labels: Literal["pairs", "ratings", "shares", "rich"] = Field(
        description="comparisons of two images, ratings of one, proportions of raters who call it generated, or "
        "rich feedback: scores, heatmaps and words together"
    )
    question: str | None = Field(None, description="the only question that is used; by default all")
    aspects: tuple[str, ...] = Field((), description="the only aspects that are used; none named: all")
    method: str | None = Field(
        None, description="of ratings: which labels; by default mean, else published-mean, else share"
    )
    hard: bool = Field(False, description="of pairs: the majority's choice instead of the proportion of votes")
    ties: Literal["keep", "drop"] = Field("keep", description="pairs on which raters are evenly split")
    weights: Literal["pair", "prompt"] = Field(
        "pair", description="every pair has the same weight, or every prompt (1 / its number of pairs)"
    )
    together: Literal["item", "prompt"] = Field(
        "item", description="an example is one pair or image, or all labelled images of one prompt (a ranking)"
    )
    standardise: bool = Field(
        False, description="of ratings: scale each aspect to mean 0 and standard deviation 1 first"
    )

    @property
    def better(self) -> Literal["lower", "higher"]:
        """Which scores of a model trained on these labels are better: *lower* where they predict *generated*."""
        return "lower" if self.labels == "shares" else "higher"


RICH_DATA_KEYS = ("labels", "question")
"""Settings of ``[data]`` that apply to rich feedback too."""


class Rich(Augmentation):
    """Augmentation for rich feedback, of images and of prompts. Colours stay by default: prompts name them."""

    colour: Share = Field(0.0, description="probability of another hue, and of another saturation")
    jpeg: Share = Field(0.0, description="probability of JPEG noise")
    grey: Share = Field(0.0, description="probability of no colour at all")
    exchanged: Share = Field(
        0.3, description="proportion of the images whose prompt gets another word, which is then misaligned"
    )
    named: float = Field(
        0.0, ge=0, description="epochs at the start in which only the words that images show are learned"
    )
    again: Share = Field(0.0, description="probability that one more word is exchanged, after each exchange")
    plain: float = Field(
        0.0,
        ge=0,
        description="epochs at the end in which no word is exchanged: misaligned words are as rare as labelled",
    )


class Splitting(Settings):
    """What is held out."""

    by: By = Field(
        "prompt", description="no prompt, no generator, or neither is shared between the parts of the split"
    )
    test: float = Field(0.2, gt=0, lt=1, description="proportion of prompts (or generators) held out for the test")
    validation: float = Field(0.1, gt=0, lt=1, description="proportion of the others held out for early stopping")
    folds: int = Field(1, ge=1, description="1: one split; more: cross-validation, each part is the test set once")
    seed: int = Field(0, ge=0)


class Training(Settings):
    """How the model is trained: AdamW with a warm-up, then cosine decay to zero or a constant learning rate."""

    steps: int | None = Field(None, ge=1, description="steps of the optimiser; either this or epochs")
    epochs: float | None = Field(None, gt=0, description="epochs over the training examples")
    batch: int = Field(ge=1, description="examples per step, over all devices")
    accumulate: int = Field(
        1, ge=1, description="gradient accumulation: parts into which each device divides its part of a batch"
    )
    parts: int | None = Field(
        None,
        ge=1,
        exclude_if=lambda parts: parts is None,
        description="parts of a batch, whatever the number of processes; instead of accumulate",
    )
    learning_rate: float = Field(gt=0)
    weight_decay: float = Field(0.0, ge=0)
    betas: tuple[Share, Share] = (0.9, 0.999)
    epsilon: float = Field(1e-8, gt=0)
    warmup: int = Field(0, ge=0, description="steps over which the learning rate rises from 0")
    schedule: Literal["cosine", "constant"] = "cosine"
    clip: float | None = Field(None, gt=0, description="largest norm of the gradient")
    precision: Literal["auto", "fp32", "bf16", "fp16"] = Field(
        "auto", description="auto: bf16 or fp16 on a GPU that has it, fp32 elsewhere"
    )
    gradient_checkpointing: bool = Field(
        False,
        exclude=True,
        description="compute activations again in the backward pass: less memory, a third more time",
    )
    sharded: bool = Field(
        False, exclude=True, description="divide weights and optimiser between the processes (FSDP)"
    )
    validate_every: int = Field(100, ge=1, description="steps between two validations")
    patience: int | None = Field(
        None, ge=1, description="validations without improvement after which training stops"
    )
    keep_best: bool = Field(True, description="keep the weights of the best validation, not the last ones")
    save_every: int = Field(
        100, ge=1, description="steps between two saved states from which a killed run is resumed"
    )
    log_every: int = Field(10, ge=1, description="steps between two rows of the loss curve")
    seed: int = Field(0, ge=0, description="of weights, order, dropout and augmentation")
    trackers: tuple[Literal["tensorboard", "wandb", "mlflow", "all"], ...] = Field(
        (), exclude=True, description="where the curve is logged to as well; the model does not depend on it"
    )

    @model_validator(mode="after")
    def _has_length(self) -> "Training":
        if (self.steps is None) == (self.epochs is None):
            raise ValueError("give either steps or epochs")
        if self.batch % self.accumulate:
            raise ValueError(f"batch ({self.batch}) must be a multiple of accumulate ({self.accumulate})")
        if self.parts and (self.accumulate > 1 or self.batch < self.parts):
            raise ValueError(f"parts ({self.parts}) must be at most batch ({self.batch}), and without accumulate")
        return self


def faults_of_division(training: Training, processes: int) -> list[str]:
    """Return why so many processes cannot share the batches of a training run; none if they can."""
    faults = []
    if training.parts and training.parts % processes:
        faults.append(f"training.parts is {training.parts}; expected a multiple of the {processes} processes")
    if training.batch < processes * training.accumulate:
        faults.append(
            f"training.batch is {training.batch}; expected at least {processes * training.accumulate}, "
            "one example for each part of each process"
        )
    if training.sharded and processes == 1:
        faults.append("training.sharded divides a model between processes: start several with --processes")
    return faults


class Recipe(Settings):
    """All settings of a recipe."""

    name: Slug
    about: str = ""
    licence: str = Field("", description="of the weights that training starts from")
    model: dict[str, JsonValue] = Field(description="the architecture, and its settings")
    data: Data
    split: Splitting = Splitting()
    rich: Rich | None = Field(None, description="of rich feedback alone; by default its defaults")
    training: Training

    @model_validator(mode="after")
    def _matches_labels(self) -> "Recipe":
        labels, faults = self.data.labels, []
        architectures = RICH_ARCHITECTURES if labels == "rich" else ARCHITECTURES
        if self.architecture not in architectures:
            names = ", ".join(architectures)
            faults.append(
                f"model.architecture must be one of: {names}; labels are '{labels}' (found {self.architecture!r})"
            )
        if labels == "rich":
            faults += [
                f"data.{key}: has no effect where labels are 'rich'; leave it out"
                for key, field in Data.model_fields.items()
                if key not in RICH_DATA_KEYS and getattr(self.data, key) != field.default
            ]
            if self.rich and self.training.epochs and self.rich.named >= self.training.epochs:
                faults.append(
                    f"rich.named ({self.rich.named:g}) must be less than training.epochs "
                    f"({self.training.epochs:g}): everything else is learned after it"
                )
        elif self.rich is not None:
            faults.append(f"[rich]: has no effect where labels are '{labels}'; leave it out")
        if faults:
            raise ValueError("; ".join(faults))
        return self

    @property
    def architecture(self) -> str:
        """Name of the architecture."""
        return str(self.model.get("architecture"))

    @property
    def model_settings(self) -> dict[str, Plain]:
        """The settings of the architecture."""
        return {key: value for key, value in self.model.items() if key != "architecture"}

    def model_settings_of(self, folder: Path, fold: int) -> dict[str, Plain]:
        """Return the settings of the architecture for one fold.

        ``{study}`` and ``{fold}`` in ``start`` stand for the folder of the study and the number of the fold, so
        that a model can start from one that was trained with the same images held out.
        """
        start = self.model_settings.get("start")
        filled_start = (
            {"start": start.replace("{study}", str(folder)).replace("{fold}", str(fold))}
            if isinstance(start, str)
            else {}
        )
        return self.model_settings | filled_start


def shipped_recipes() -> tuple[str, ...]:
    """Return the names of the recipes of the package."""
    file_names = (file.name for file in files("beholder.learn").joinpath("recipes").iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in file_names if name.endswith(".toml")))


def load_recipe(name: str, changes: Iterable[str] = ()) -> Recipe:
    """Return the recipe of that name or TOML file, with ``key=value`` changes such as ``training.steps=100``.

    A change without a value removes the key.
    """
    shipped = shipped_recipes()
    if name in shipped:
        text = files("beholder.learn").joinpath("recipes", f"{name}.toml").read_text(encoding="utf-8")
    elif name.endswith(".toml") and Path(name).is_file():
        text = Path(name).read_text(encoding="utf-8-sig")
    else:
        raise RecipeError(f"recipe '{name}'", [f"no such file; {unknown_name('recipe', name, shipped)}"])
    try:
        content: dict[str, Plain] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RecipeError(f"recipe '{name}'", [f"not valid TOML: {error}"]) from error
    faults = [fault for change in changes if (fault := _apply_change(content, change))]
    if faults:
        raise RecipeError(f"changes to recipe '{name}'", faults)
    return check_recipe(content, f"recipe '{name}'")


MUTUALLY_EXCLUSIVE = {"steps": ("epochs",), "epochs": ("steps",)}
"""Setting the first key removes the others."""


def check_recipe(content: Mapping[str, Plain], subject: str) -> Recipe:
    """Return the validated recipe; an error lists all its faults."""
    try:
        return Recipe.model_validate_json(json.dumps(content, default=str), strict=True)
    except ValidationError as error:
        raise RecipeError(subject, faults_of(error, Recipe)) from error


def _apply_change(content: dict[str, Plain], change: str) -> str | None:
    """Apply one change to ``content``; return the fault if it cannot be parsed, else None."""
    path, equals, written = change.partition("=")
    keys = path.strip().split(".")
    if not equals or not all(keys):
        return f"{change!r}: expected key=value, such as training.steps=100"
    table = content
    for key in keys[:-1]:
        subtable = table.setdefault(key, {})
        if not isinstance(subtable, dict):
            return f"{change!r}: {key} is a value, not a table"
        table = subtable
    for other in MUTUALLY_EXCLUSIVE.get(keys[-1], ()):
        table.pop(other, None)
    table.pop(keys[-1], None)
    if written.strip():
        table[keys[-1]] = _parse_value(written.strip())
    return None


def _parse_value(text: str) -> Plain:
    """Return a value as TOML parses it; anything else is plain text."""
    try:
        value: Plain = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
    return value
