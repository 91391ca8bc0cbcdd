"""Pydantic's validation errors as faults of the study file: where, what was found, what was expected."""

from difflib import get_close_matches
from typing import get_args

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from beholder.study.generating import GENERATOR_KINDS
from beholder.study.kinds.catalogue import KINDS
from beholder.study.question import Settings

BY_KIND: dict[str, dict[str, type[Settings]]] = {
    "questions": {name: kind.settings for name, kind in KINDS.items()},
    "generators": dict(GENERATOR_KINDS),
}
"""Lists of sections of several kinds: the settings of each kind."""

Place = list[int | str]
"""Keys and positions down to a setting; below a question or generator, Pydantic puts its kind in between."""


def faults_of(error: ValidationError, model: type[Settings]) -> list[str]:
    """All faults, each as ``questions[0].design.raters: what is wrong (found …)``."""
    return [_fault(detail, model) for detail in error.errors()]


def _fault(detail: ErrorDetails, model: type[Settings]) -> str:
    place: Place = list(detail["loc"])
    where = _written(place)
    match detail["type"]:
        case "extra_forbidden":
            return f"{where}: this key is not known; {_advice(str(place[-1]), _keys_beside(place, model))}"
        case "missing":
            return f"{where}: missing"
        case "union_tag_not_found":
            return f"{where}.kind: missing; one of: {', '.join(_kinds_at(place))}"
        case "union_tag_invalid":
            names = ", ".join(_kinds_at(place))
            return f"{where}.kind: must be one of: {names} (found {detail['ctx']['tag']!r})"
    message = detail["msg"].removeprefix("Value error, ")
    if detail["type"] == "string_pattern_mismatch":
        message = "only small letters, digits and hyphens, and no hyphen first"
    value = detail["input"]
    written = f" (found {value!r})" if isinstance(value, str | int | float | bool) else ""
    return f"{where}: {message}{written}"


def _written(place: Place) -> str:
    """The place as one would write it: ``questions[0].design.raters``."""
    text = ""
    for i, part in enumerate(place):
        if isinstance(part, int):
            text += f"[{part}]"
        elif part != "[key]" and not _is_kind(place, i):  # Pydantic's name for a key of a mapping
            text += f".{part}" if text else part
    return text or "study"


def _is_kind(place: Place, i: int) -> bool:
    """Whether the part stands for the kind of a question or generator, and not for a key of the file."""
    return i == 2 and place[0] in BY_KIND


def _kinds_at(place: Place) -> dict[str, type[Settings]]:
    """The kinds that sections of this list can have."""
    return BY_KIND.get(str(place[0]) if place else "", BY_KIND["questions"])


def _advice(key: str, keys: list[str]) -> str:
    close = get_close_matches(key, keys, n=1)
    return f"did you mean '{close[0]}'?" if close else f"known: {', '.join(keys)}"


def _keys_beside(place: Place, model: type[Settings]) -> list[str]:
    """The keys that are known where an unknown one was found."""
    models = [model]
    for i, part in enumerate(place[:-1]):
        if _is_kind(place, i):
            models = [_kinds_at(place)[str(part)]]
        elif isinstance(part, str):
            models = [m for outer in models for m in _settings_in(outer.model_fields[part].annotation)]
    return list(models[0].model_fields)


def _settings_in(annotation: object) -> list[type[Settings]]:
    """The settings that an annotation such as ``tuple[A | B, ...]`` is made of."""
    if isinstance(annotation, type) and issubclass(annotation, Settings):
        return [annotation]
    return [settings for part in get_args(annotation) for settings in _settings_in(part)]
