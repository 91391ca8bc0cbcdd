"""The configuration of a network that ``transformers`` saved in a folder, read without transformers."""

import json
from pathlib import Path
from typing import Any

from beholder.errors import WeightsError

WEIGHTS = ("model*.safetensors", "model.safetensors.index.json")
FILES = ("config.json", *WEIGHTS)
"""The files that are fetched."""


def saved_config(folder: Path, kind: str) -> dict[str, Any]:
    """The configuration of a network of that ``model_type``; another kind is refused."""
    path = folder / "config.json"
    if not path.is_file():
        raise WeightsError(f"{folder}: holds no config.json; a {kind} saved by transformers is expected")
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise WeightsError(f"{folder}: config.json cannot be understood ({first_line(error)})") from error
    if not isinstance(config, dict):
        raise WeightsError(f"{folder}: config.json cannot be understood (a table is expected)")
    if config.get("model_type") != kind:
        raise WeightsError(f"{folder}: holds a network of type {config.get('model_type')}; expected: {kind}")
    return config


def first_line(error: Exception) -> str:
    """The first line of a library's error message."""
    return str(error).strip().partition("\n")[0]
