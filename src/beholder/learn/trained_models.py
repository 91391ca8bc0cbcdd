"""Models of a study whose training has ended: by which recipe, and the hash of their weights (no torch)."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from beholder.tables.provenance import Plain, Provenance, file_hash

MODELS_FOLDER = "models"
FIGURES = "figures.json"
"""Written last: it marks the training as done."""
WEIGHT_FILES = "*.safetensors"


def trained_settings(model_folder: Path) -> Mapping[str, Plain] | None:
    """Return name and recipe of a model; ``None`` where its training has not ended."""
    before = training_record(model_folder)
    return None if before is None else before.settings


def training_record(model_folder: Path) -> Provenance | None:
    """Return the record of the training; ``None`` where it has not ended, or its file is damaged."""
    try:
        content = json.loads((model_folder / FIGURES).read_text(encoding="utf-8"))
        return Provenance.from_json(json.dumps(content["provenance"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def hash_weights(model_folder: Path) -> str:
    """Return a hash of the weights of a model, of all folds."""
    files = sorted(model_folder.rglob(WEIGHT_FILES))
    listed = "\n".join(f"{file.relative_to(model_folder).as_posix()} {file_hash(file)}" for file in files)
    return hashlib.sha256(listed.encode()).hexdigest()
