"""A trained model in a folder: its weights, all that is needed to build it again, and what is known of it.

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
from beholder.models.rich_feedback.judge import RichJudge
from beholder.models.trainable import Batch, Config, Trainable
from beholder.models.weights.files import fit_state, read_state
from beholder.tables.atomic import write_atomically
from beholder.tables.provenance import Plain

WEIGHTS, RECORD = "model.safetensors", "model.json"
FORMAT = 1

AnyTrainable = Trainable[Never]
"""A model, whatever it is fed with."""

Model = TypeVar("Model", bound=AnyTrainable)


@dataclass(frozen=True, slots=True)
class Record:
    """What a checkpoint says of its model."""

    architecture: str
    config: Config
    aspects: tuple[str, ...]
    scales: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """aspect -> mean and deviation by which predictions are put back on the scale of the labels"""
    about: Mapping[str, Plain] = field(default_factory=dict)
    """recipe, data, split and figures, as the trainer wrote them"""


def save_checkpoint(folder: Path, model: AnyTrainable, record: Record) -> None:
    """Write both files, the weights first; each takes its place as a whole."""
    state = {name: value.detach().cpu().contiguous().clone() for name, value in model.module.state_dict().items()}
    with write_atomically(folder / WEIGHTS) as file:
        file.write(save(state, metadata={"format": "pt"}))
    content = {"format": FORMAT, **asdict(record)}
    with write_atomically(folder / RECORD) as file:
        file.write(json.dumps(content, ensure_ascii=False, indent=1).encode())


def load_checkpoint(folder: Path) -> tuple[Trainable[Batch], Record]:
    """A model of judgements, ready to predict; an error says what is missing, damaged or does not fit."""
    return _loaded(
        folder, architecture, ARCHITECTURES, "learnt rich feedback; what judges single images is expected"
    )


def load_rich_checkpoint(folder: Path) -> tuple[RichJudge, Record]:
    """A model of rich feedback, likewise."""
    return _loaded(
        folder, rich_architecture, RICH_ARCHITECTURES, "did not learn rich feedback; expected one that did"
    )


def _loaded(
    folder: Path, named: Callable[[str], Architecture[Model]], known: Mapping[str, str], otherwise: str
) -> tuple[Model, Record]:
    """The model with its weights."""
    record = read_record(folder)
    if record.architecture not in known:
        raise WeightsError(f"{folder}: a {record.architecture} model, which {otherwise}")
    state = read_state(folder / WEIGHTS)
    with torch.random.fork_rng():  # random weights are made only to be replaced
        try:
            model = named(record.architecture).build(record.config, fresh=False)
        except (KeyError, TypeError, ValueError) as error:
            raise WeightsError(f"{folder / RECORD}: no model can be built from its config ({error!r})") from error
    fit_state(model.module, state, str(folder / WEIGHTS))
    model.module.eval()
    return model, record


def read_record(folder: Path) -> Record:
    """What a checkpoint says of its model, without loading it."""
    path = folder / RECORD
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise WeightsError(f"{folder}: no {RECORD} here; a checkpoint has {WEIGHTS} and {RECORD}") from error
    except (ValueError, OSError) as error:
        raise WeightsError(f"{path}: damaged ({error})") from error
    known = ("format", *Record.__dataclass_fields__)
    faults = [
        f"'{key}' is missing" for key in ("format", "architecture", "config", "aspects") if key not in content
    ]
    faults += [f"'{key}' is not known" for key in content if key not in known]
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
