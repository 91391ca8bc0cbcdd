"""The ``[model]`` table of a recipe, checked: all faults at once, and sizes that must be multiples of others."""

from collections.abc import Iterable, Mapping
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from beholder.errors import RecipeError
from beholder.study.faults import faults_of
from beholder.study.question import Settings

MULTIPLES = (("image_size", "patch_size"), ("image_width", "image_heads"), ("text_width", "text_heads"))
"""Sizes of networks with an image and a text encoder: each first is a multiple of its second."""

SettingsType = TypeVar("SettingsType", bound=Settings)


def validate_settings(settings_type: type[SettingsType], table: Mapping[str, object]) -> SettingsType:
    """The ``[model]`` table as settings of an architecture; all its faults are one :class:`RecipeError`."""
    try:
        return settings_type.model_validate(dict(table))
    except ValidationError as error:
        raise RecipeError("[model]", faults_of(error, settings_type)) from error


def check_multiples(sizes: BaseModel, pairs: Iterable[tuple[str, str]]) -> None:
    """Refuse all sizes that are no multiple of their divisor; ``pairs`` are names of (size, divisor)."""
    wrong = [
        f"{size} ({getattr(sizes, size)}) must be a multiple of {divisor} ({getattr(sizes, divisor)})"
        for size, divisor in pairs
        if getattr(sizes, size) % getattr(sizes, divisor)
    ]
    if wrong:
        raise ValueError("; ".join(wrong))
