"""Files of weights: read them, hash them, and load them into a network by name and shape."""

import hashlib
import pickle
from collections.abc import Iterable, Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from beholder.errors import WeightsError

FAULTS_SHOWN = 10
POINTER = b"version https://git-lfs.github.com/spec/"


def read_state(path: Path) -> dict[str, torch.Tensor]:
    """The tensors of a file by name: safetensors, or a torch file without code in it."""
    refuse_pointers([path])
    try:
        if path.suffix == ".safetensors":
            return load_file(path)
        content = torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError as error:
        raise WeightsError(f"{path}: no such file") from error
    except (SafetensorError, pickle.UnpicklingError, RuntimeError, EOFError, OSError) as error:
        raise WeightsError(f"{path}: not a file of weights that can be read ({_first_line(error)})") from error
    state = content.get("state_dict", content) if isinstance(content, Mapping) else {}
    tensors = {str(name): tensor for name, tensor in state.items() if isinstance(tensor, torch.Tensor)}
    if not tensors:
        raise WeightsError(f"{path}: holds no named tensors; a state dictionary is expected")
    return tensors


def refuse_pointers(paths: Iterable[Path]) -> None:
    """Refuse Git LFS pointers, which a clone without Git LFS holds instead of the weights."""
    pointers = [path for path in paths if path.is_file() and _starts_with(path, POINTER)]
    if pointers:
        listed = ", ".join(map(str, pointers))
        raise WeightsError(f"{listed}: a pointer of Git LFS, not the weights themselves; run: git lfs pull")


def fit_state(
    network: torch.nn.Module, state: Mapping[str, torch.Tensor], source: str, *, assign: bool = False
) -> None:
    """Load the tensors into the network; every one it has must be there, in its shape, and no others.

    With ``assign`` they take the place of the network's own, which may then be on the device ``meta``.
    """
    expected = network.state_dict()
    counters = {name for name in expected if name.endswith("num_batches_tracked")}
    faults = [f"lacks {name}" for name in expected.keys() - state.keys() - counters]
    faults += [f"has {name}, which is not in the network" for name in state.keys() - expected.keys()]
    faults += [
        f"{name} has the shape {tuple(state[name].shape)}; {tuple(expected[name].shape)} is expected"
        for name in expected.keys() & state.keys()
        if expected[name].shape != state[name].shape
    ]
    if faults:
        listed_faults = sorted(faults)[:FAULTS_SHOWN]
        rest = f"\n  … and {len(faults) - len(listed_faults)} more" if len(faults) > len(listed_faults) else ""
        listed = "".join(f"\n  - {fault}" for fault in listed_faults)
        raise WeightsError(f"{source}: these weights are not those of the network{listed}{rest}")
    network.load_state_dict(dict(state), strict=not counters, assign=assign)


def hash_files(paths: Iterable[Path]) -> str:
    """SHA-256 over the names and contents of files."""
    digest = hashlib.sha256()
    for path in sorted(paths, key=lambda file_path: file_path.name):
        with path.open("rb") as file:
            digest.update(path.name.encode() + hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def hash_network(folder: Path) -> str:
    """SHA-256 of a network that ``transformers`` saved: its configuration and its weights."""
    return hash_files(
        file for pattern in ("config.json", "*.safetensors", "*.bin") for file in folder.glob(pattern)
    )


def _starts_with(path: Path, start: bytes) -> bool:
    with path.open("rb") as file:
        return file.read(len(start)) == start


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
