"""A recipe: which model learns what from which labels, and how; a small TOML file, checked as a whole.

Those that come with the package have the published defaults and lie in ``recipes/``; any other file will do too.
"""

import json
import tomllib
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Literal

from pydantic import Field, JsonValue, ValidationError, model_validator

from beholder.errors import RecipeError
from beholder.models.architectures import ARCHITECTURES, RICH_ARCHITECTURES
from beholder.models.rich_feedback.augment import Augmentation
from beholder.study.faults import faults_of
from beholder.study.question import Settings, Share, Slug
from beholder.tables.provenance import Plain

By = Literal["prompt", "generator", "both"]


class Data(Settings):
    """Which labels are learnt from."""

    labels: Literal["pairs", "ratings", "shares", "rich"] = Field(
        description="comparisons of two images, ratings of one, shares of people who call it generated, or rich "
        "feedback: scores, heatmaps and words together"
    )
    question: str | None = Field(None, description="the only question that counts; left out: all")
    aspects: tuple[str, ...] = Field((), description="the only aspects that count; none named: all")
    method: str | None = Field(None, description="of ratings: which labels; left out: mean, else share")
    hard: bool = Field(False, description="of pairs: the majority's choice in place of the share of votes")
    ties: Literal["keep", "drop"] = Field("keep", description="pairs on which people are even")
    weights: Literal["pair", "prompt"] = Field(
        "pair", description="each pair counts alike, or each prompt does (1 / its number of pairs)"
    )
    together: Literal["item", "prompt"] = Field(
        "item", description="an example is one pair or image, or all that is labelled of one prompt (a ranking)"
    )
    standardise: bool = Field(False, description="of ratings: put each aspect to mean 0 and deviation 1 first")

    @property
    def better(self) -> Literal["lower", "higher"]:
        """Which scores of a model that learns from them are better: few should call an image generated."""
        return "lower" if self.labels == "shares" else "higher"


OF_EVERY_KIND = ("labels", "question")
"""Settings of the data that rich feedback knows too."""


class Rich(Augmentation):
    """Of rich feedback: how images are changed in training, and how words are. Colours stay: prompts name them."""

    colour: Share = Field(0.0, description="chance of another hue, and of another saturation")
    jpeg: Share = Field(0.0, description="chance of JPEG noise")
    grey: Share = Field(0.0, description="chance of no colour at all")
    exchanged: Share = Field(
        0.3, description="share of the images whose prompt gets another word, which the image then misses"
    )
    named: float = Field(
        0.0, ge=0, description="passes in which only which words the images show is learnt, before all else"
    )
    again: Share = Field(0.0, description="chance that one more word of it is exchanged, each time that one was")
    plain: float = Field(
        0.0,
        ge=0,
        description="passes, the last ones, in which no word is exchanged: misses are then as rare as in life",
    )


class Splitting(Settings):
    """What is held out."""

    by: By = Field("prompt", description="no prompt, no generator, or neither is on two sides of the split")
    test: float = Field(0.2, gt=0, lt=1, description="share of prompts (or generators) held out for the test")
    validation: float = Field(0.1, gt=0, lt=1, description="share of the others by which training is stopped")
    folds: int = Field(1, ge=1, description="1: one split; more: each part is the test once")
    seed: int = Field(0, ge=0)


class Training(Settings):
    """How the model is trained: AdamW, a warm-up, then a cosine (or nothing) down to zero."""

    steps: int | None = Field(None, ge=1, description="steps of the optimiser; either this or epochs")
    epochs: float | None = Field(None, gt=0, description="passes over the training examples")
    batch: int = Field(ge=1, description="examples a step, over all devices")
    accumulate: int = Field(1, ge=1, description="parts in which a device takes its share of a batch")
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
    validate_every: int = Field(100, ge=1, description="steps between two looks at the validation examples")
    patience: int | None = Field(None, ge=1, description="looks without a better one after which training stops")
    keep_best: bool = Field(True, description="keep the weights of the best look, not the last ones")
    save_every: int = Field(100, ge=1, description="steps between two states from which a killed run goes on")
    log_every: int = Field(10, ge=1, description="steps between two rows of the loss curve")
    seed: int = Field(0, ge=0, description="of weights, order, dropout and augmentation")

    @model_validator(mode="after")
    def _length(self) -> "Training":
        if (self.steps is None) == (self.epochs is None):
            raise ValueError("give either steps or epochs")
        if self.batch % self.accumulate:
            raise ValueError(f"batch ({self.batch}) must be a multiple of accumulate ({self.accumulate})")
        return self


class Recipe(Settings):
    """A whole recipe."""

    name: Slug
    about: str = ""
    licence: str = Field("", description="of the weights that training starts from")
    model: dict[str, JsonValue] = Field(description="the architecture, and its settings")
    data: Data
    split: Splitting = Splitting()
    rich: Rich | None = Field(None, description="of rich feedback alone; left out: its defaults")
    training: Training

    @model_validator(mode="after")
    def _fits(self) -> "Recipe":
        labels, wrong = self.data.labels, []
        known = RICH_ARCHITECTURES if labels == "rich" else ARCHITECTURES
        if self.architecture not in known:
            names = ", ".join(known)
            wrong.append(
                f"model.architecture must be one of: {names}; labels are '{labels}' (found {self.architecture!r})"
            )
        if labels == "rich":
            wrong += [
                f"data.{key}: means nothing where labels are 'rich'; leave it out"
                for key, field in Data.model_fields.items()
                if key not in OF_EVERY_KIND and getattr(self.data, key) != field.default
            ]
            if self.rich and self.training.epochs and self.rich.named >= self.training.epochs:
                wrong.append(
                    f"rich.named ({self.rich.named:g}) must be less than training.epochs "
                    f"({self.training.epochs:g}): all else is learnt after it"
                )
        elif self.rich is not None:
            wrong.append(f"[rich]: means nothing where labels are '{labels}'; leave it out")
        if wrong:
            raise ValueError("; ".join(wrong))
        return self

    @property
    def architecture(self) -> str:
        """Name of the architecture."""
        return str(self.model.get("architecture"))

    @property
    def model_settings(self) -> dict[str, Plain]:
        """What the architecture is told."""
        return {key: value for key, value in self.model.items() if key != "architecture"}

    def model_settings_of(self, folder: Path, fold: int) -> dict[str, Plain]:
        """The same for one fold, where a model may go on from one that was kept from the same images: ``{study}``
        and ``{fold}`` in ``start`` stand for the folder of the study and the number of the fold.
        """
        start = self.model_settings.get("start")
        named = (
            {"start": start.replace("{study}", str(folder)).replace("{fold}", str(fold))}
            if isinstance(start, str)
            else {}
        )
        return self.model_settings | named


def shipped_recipes() -> tuple[str, ...]:
    """Names of the recipes that come with the package."""
    found = (file.name for file in files("beholder.learn").joinpath("recipes").iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in found if name.endswith(".toml")))


def load_recipe(name: str, changes: Iterable[str] = ()) -> Recipe:
    """The recipe of that name, or of that TOML file, with ``key=value`` changes such as ``training.steps=100``.

    A change without a value leaves the key out.
    """
    known = shipped_recipes()
    if name in known:
        text = files("beholder.learn").joinpath("recipes", f"{name}.toml").read_text(encoding="utf-8")
    elif name.endswith(".toml") and Path(name).is_file():
        text = Path(name).read_text(encoding="utf-8-sig")
    else:
        raise RecipeError(f"recipe '{name}'", [f"no such file, and none of: {', '.join(known)}"])
    try:
        content: dict[str, Plain] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RecipeError(f"recipe '{name}'", [f"not valid TOML: {error}"]) from error
    faults = [fault for change in changes if (fault := _changed(content, change))]
    if faults:
        raise RecipeError(f"changes to recipe '{name}'", faults)
    return check_recipe(content, f"recipe '{name}'")


INSTEAD = {"steps": ("epochs",), "epochs": ("steps",)}
"""A change of the one takes the other out."""


def check_recipe(content: Mapping[str, Plain], subject: str) -> Recipe:
    """The recipe, or an error with all its faults."""
    try:
        return Recipe.model_validate_json(json.dumps(content, default=str), strict=True)
    except ValidationError as error:
        raise RecipeError(subject, faults_of(error, Recipe)) from error


def _changed(content: dict[str, Plain], change: str) -> str | None:
    """Make one change; the fault where it cannot be read."""
    path, equals, text = change.partition("=")
    keys = path.strip().split(".")
    if not equals or not all(keys):
        return f"{change!r}: expected key=value, such as training.steps=100"
    inner = content
    for key in keys[:-1]:
        below = inner.setdefault(key, {})
        if not isinstance(below, dict):
            return f"{change!r}: {key} is a value, not a table"
        inner = below
    for other in INSTEAD.get(keys[-1], ()):
        inner.pop(other, None)
    inner.pop(keys[-1], None)
    if text.strip():
        inner[keys[-1]] = _value(text.strip())
    return None


def _value(text: str) -> Plain:
    """A value as TOML reads it; anything else is plain text."""
    try:
        value: Plain = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
    return value
