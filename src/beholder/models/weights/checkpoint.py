"""A trained model in a folder: its weights, its configuration, and its recipe, data and figures.

``model.safetensors`` holds the tensors, ``model.json`` the rest; nothing else is read, and nothing is fetched.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Never, TypeVar

import torch
from safetensors.torch import save

from beholder.errors import WeightsError
from beholder.models.architectures import (
    ARCHITECTURES,
    RICH_ARCHITECTURES,
    Architecture,
    architecture,
    rich_architecture,
)
from beholder.models.rich_feedback.calibration import identity_scales
from beholder.models.rich_feedback.trainable import RichTrainable
from beholder.models.trainable import Batch, Config, Trainable
from beholder.models.weights.files import fit_state, read_state
from beholder.tables.atomic import write_atomically
from beholder.tables.provenance import Plain

WEIGHTS, RECORD = "model.safetensors", "model.json"
FORMAT = 1

AnyTrainable = Trainable[Never]
"""A model, whatever its type of batch."""

Model = TypeVar("Model", bound=AnyTrainable)


@dataclass(frozen=True, slots=True)
class Record:
    """The description of a model in its checkpoint."""

    architecture: str
    config: Config
    aspects: tuple[str, ...]
    scales: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """aspect -> mean and standard deviation by which predictions are rescaled to the scale of the labels"""
    about: Mapping[str, Plain] = field(default_factory=dict)
    """recipe, data, split and figures, as the trainer wrote them"""


def save_checkpoint(folder: Path, model: AnyTrainable, record: Record) -> None:
    """Write both files atomically, the weights first."""
    state = {
        name: tensor.detach().cpu().contiguous().clone() for name, tensor in model.module.state_dict().items()
    }
    with write_atomically(folder / WEIGHTS) as file:
        file.write(save(state, metadata={"format": "pt"}))
    content = {"format": FORMAT, **asdict(record)}
    with write_atomically(folder / RECORD) as file:
        file.write(json.dumps(content, ensure_ascii=False, indent=1).encode())


def load_checkpoint(folder: Path) -> tuple[Trainable[Batch], Record]:
    """A model of judgements, ready to predict; errors name what is missing, damaged or does not fit."""
    return _load(
        folder,
        architecture,
        ARCHITECTURES,
        "was trained on rich feedback; a model that scores single images is expected",
    )


def load_rich_checkpoint(folder: Path) -> tuple[RichTrainable, Record]:
    """A model of rich feedback, ready to predict."""
    return _load(
        folder, rich_architecture, RICH_ARCHITECTURES, "was not trained on rich feedback; expected one that was"
    )


def _load(
    folder: Path,
    architecture_of: Callable[[str], Architecture[Model]],
    architectures: Mapping[str, str],
    mismatch: str,
) -> tuple[Model, Record]:
    """The model with its weights."""
    record = read_record(folder)
    if record.architecture not in architectures:
        raise WeightsError(f"{folder}: a {record.architecture} model, which {mismatch}")
    state = read_state(folder / WEIGHTS)
    with torch.random.fork_rng():  # the initial random weights are replaced
        try:
            model = architecture_of(record.architecture).build(record.config, fresh=False)
        except (KeyError, TypeError, ValueError) as error:
            raise WeightsError(f"{folder / RECORD}: no model can be built from its config ({error!r})") from error
    fit_state(model.module, identity_scales(model.module) | state, str(folder / WEIGHTS))
    model.module.eval()
    return model, record


def read_record(folder: Path) -> Record:
    """The description of a model, without loading the model."""
    path = folder / RECORD
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise WeightsError(f"{folder}: no {RECORD} here; a checkpoint has {WEIGHTS} and {RECORD}") from error
    except (ValueError, OSError) as error:
        raise WeightsError(f"{path}: damaged ({error})") from error
    expected_keys = ("format", *Record.__dataclass_fields__)
    faults = [
        f"'{key}' is missing" for key in ("format", "architecture", "config", "aspects") if key not in content
    ]
    faults += [f"'{key}' is not known" for key in content if key not in expected_keys]
    if content.get("format", FORMAT) != FORMAT:
        faults.append(f"format is {content['format']!r}; {FORMAT} is expected")
    known_architectures = {**ARCHITECTURES, **RICH_ARCHITECTURES}
    if content.get("architecture", "two-tower") not in known_architectures:
        names = ", ".join(known_architectures)
        faults.append(f"architecture '{content['architecture']}' is not known; known: {names}")
    if faults:
        raise WeightsError(f"{path}: not a checkpoint: {'; '.join(faults)}")
    return Record(
        architecture=content["architecture"],
        config=content["config"],
        aspects=tuple(content["aspects"]),
        scales={aspect: (float(mean), float(sd)) for aspect, (mean, sd) in content.get("scales", {}).items()},
        about=content.get("about", {}),
    )
