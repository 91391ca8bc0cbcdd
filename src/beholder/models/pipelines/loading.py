"""Pipelines of diffusers from a folder or the hub, with a LoRA, on a device; and the hash of all their files.

Importing diffusers takes some 15 seconds of processor time, so this module is imported in worker processes only.
"""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import diffusers
import torch

from beholder.errors import WeightsError, unknown_name
from beholder.models.weights.files import refuse_pointers
from beholder.models.weights.location import fetch

PIPELINES: dict[str, str] = {
    "sd": "StableDiffusionPipeline",
    "sdxl": "StableDiffusionXLPipeline",
    "sd3": "StableDiffusion3Pipeline",
    "flux": "FluxPipeline",
}
"""Name in the settings -> class of diffusers."""
INPAINTING: dict[str, str] = {"sd-inpaint": "StableDiffusionInpaintPipeline"}
"""The same for pipelines that paint parts of images again."""
INDEX = "model_index.json"
FILES = ("*.json", "*.txt", "*.model", "*.safetensors")
"""What is fetched from the hub; nothing that could hold code."""


@dataclass(frozen=True, slots=True)
class LoadedPipeline:
    """A pipeline that is ready to generate, with its name and the hash of its weights."""

    pipeline: Any
    name: str
    weights: str
    device: str


def load_pipeline(
    model: str,
    *,
    pipeline: str | None = None,
    lora: str | None = None,
    lora_scale: float = 1.0,
    dtype: str = "float32",
    device: str | None = None,
) -> LoadedPipeline:
    """Load a pipeline by its folder or hub name.

    Args:
        model: a folder with ``model_index.json``, or a name on the hub.
        pipeline: one of :data:`PIPELINES`; by default what the index says.
        lora: a folder or file of a LoRA.
        lora_scale: its strength.
        dtype: precision of the weights.
        device: by default a GPU where there is one.

    Returns:
        The pipeline on its device.
    """
    folder = fetch(model, FILES)
    refuse_pointers(folder.rglob("*.safetensors"))
    pipeline_class = getattr(diffusers, _class_name(folder, pipeline))
    try:
        loaded = pipeline_class.from_pretrained(
            folder, dtype=getattr(torch, dtype), use_safetensors=True, local_files_only=True
        )
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise WeightsError(f"{folder}: the pipeline cannot be loaded ({reason})") from error
    weights = hash_folder(folder)
    if lora:
        weights = _add_lora(loaded, Path(lora), lora_scale, weights)
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    loaded = loaded.to(device)
    loaded.set_progress_bar_config(disable=True)
    return LoadedPipeline(loaded, Path(model).name if Path(model).is_dir() else model, weights, device)


def hash_folder(folder: Path) -> str:
    """SHA-256 over the paths and contents of all files of a pipeline that are read."""
    digest = hashlib.sha256()
    files = {path for pattern in FILES for path in folder.rglob(pattern)}
    for path in sorted(files, key=lambda file: file.relative_to(folder).as_posix()):
        with path.open("rb") as file:
            content = hashlib.file_digest(file, "sha256").digest()
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + content)
    return digest.hexdigest()


def _class_name(folder: Path, pipeline: str | None) -> str:
    every = PIPELINES | INPAINTING
    if pipeline:
        if pipeline not in every:
            raise WeightsError(unknown_name("pipeline", pipeline, every))
        return every[pipeline]
    try:
        index = json.loads((folder / INDEX).read_text(encoding="utf-8"))
        name = str(index["_class_name"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise WeightsError(f"{folder}: no readable {INDEX}; a pipeline saved by diffusers is expected") from error
    if name not in every.values():
        raise WeightsError(f"{folder}: a {name}; known: {', '.join(every.values())}")
    return name


def _add_lora(pipeline: Any, place: Path, scale: float, weights: str) -> str:  # noqa: ANN401 - diffusers has no types
    """Load a LoRA into the pipeline, and return the hash of both."""
    if not place.exists():
        raise WeightsError(f"{place}: no such file or folder; a LoRA saved by diffusers or peft is expected")
    folder, file = (place, None) if place.is_dir() else (place.parent, place.name)
    try:
        pipeline.load_lora_weights(str(folder), weight_name=file, adapter_name="lora", local_files_only=True)
        pipeline.set_adapters(["lora"], [scale])
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise WeightsError(f"{place}: the LoRA does not fit the pipeline ({reason})") from error
    content = hash_folder(place) if place.is_dir() else hashlib.sha256(place.read_bytes()).hexdigest()
    return hashlib.sha256(f"{weights} {content} {scale!r}".encode()).hexdigest()
