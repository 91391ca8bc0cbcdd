"""Networks that ``transformers`` saved in a folder, read by it: all their tensors, or an error."""

from collections.abc import Sequence
from pathlib import Path

import torch
import transformers

from beholder.errors import WeightsError
from beholder.models.weights.files import FAULTS_SHOWN, refuse_pointers
from beholder.models.weights.quiet_transformers import quiet_transformers
from beholder.models.weights.saved_config import first_line


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
