"""Networks that ``transformers`` saved in a folder: their configuration, and all their tensors or an error."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
import transformers

from beholder.errors import WeightsError
from beholder.models.weights.files import FAULTS_SHOWN, refuse_pointers
from beholder.models.weights.quiet_transformers import quiet_transformers

WEIGHTS = ("model*.safetensors", "model.safetensors.index.json")
FILES = ("config.json", *WEIGHTS)
"""The files that are fetched."""


def saved_config(folder: Path, kind: str) -> dict[str, Any]:
    """The configuration of a network of that ``model_type``; another kind is refused."""
    if not (folder / "config.json").is_file():
        raise WeightsError(f"{folder}: holds no config.json; a {kind} saved by transformers is expected")
    try:
        config, _ = transformers.PreTrainedConfig.get_config_dict(folder, local_files_only=True)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise WeightsError(f"{folder}: config.json cannot be understood ({first_line(error)})") from error
    if config.get("model_type") != kind:
        raise WeightsError(f"{folder}: holds a network of type {config.get('model_type')}; expected: {kind}")
    return dict(config)


def read_saved(
    network: type[transformers.PreTrainedModel], folder: Path, *, ignored: Sequence[str] = (), **options: object
) -> transformers.PreTrainedModel:
    """The network with all its weights; transformers alone would silently initialise missing ones at random.

    Tensors whose names begin with one of ``ignored`` belong to parts that are not needed; ``options`` go to the
    network's constructor.
    """
    refuse_pointers(folder.glob("*.safetensors"))
    try:
        with quiet_transformers():
            model, info = network.from_pretrained(
                folder,
                local_files_only=True,
                output_loading_info=True,
                dtype=torch.float32,
                use_safetensors=True,
                ignore_mismatched_sizes=True,  # they are reported below, all at once
                **options,
            )
    except (OSError, ValueError, RuntimeError) as error:
        raise WeightsError(f"{folder}: cannot be loaded ({first_line(error)})") from error
    unknown = [key for key in info["unexpected_keys"] if not key.endswith("position_ids")]
    faults = [f"lacks {key}" for key in sorted(info["missing_keys"])]
    faults += [
        f"{key} has the shape {tuple(actual)}; {tuple(expected)} is expected"
        for key, actual, expected in sorted(info["mismatched_keys"])
    ]
    faults += [
        f"has {key}, which is not in the network" for key in sorted(unknown) if not key.startswith(tuple(ignored))
    ]
    if faults:
        rest = f"\n  … and {len(faults) - FAULTS_SHOWN} more" if len(faults) > FAULTS_SHOWN else ""
        listed = "".join(f"\n  - {fault}" for fault in faults[:FAULTS_SHOWN])
        raise WeightsError(f"{folder}: these weights are not those of the network{listed}{rest}")
    return model


def first_line(error: Exception) -> str:
    """The first line of a library's error message."""
    return str(error).strip().partition("\n")[0]
