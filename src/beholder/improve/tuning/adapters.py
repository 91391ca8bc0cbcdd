"""LoRA on the network of a generator: added, switched off for the base, saved and loaded."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from peft import LoraConfig, inject_adapter_in_model
from peft.tuners.tuners_utils import BaseTunerLayer
from peft.utils import get_peft_model_state_dict, set_peft_model_state_dict
from safetensors.torch import load, save
from torch import nn

from beholder.errors import WeightsError
from beholder.models.pipelines.generator import TrainableGenerator
from beholder.tables.atomic import write_atomically

WEIGHTS, RECORD = "lora.safetensors", "lora.json"
NAME = "default"


def add_lora(generator: TrainableGenerator, rank: int, seed: int) -> dict[str, nn.Parameter]:
    """Add a LoRA that changes nothing yet, freeze everything else, and return the parameters to train."""
    module = generator.module.requires_grad_(requires_grad=False)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        inject_adapter_in_model(_config(rank, generator.lora_targets), module, NAME)
    return {name: parameter for name, parameter in module.named_parameters() if parameter.requires_grad}


@contextmanager
def base_weights(generator: TrainableGenerator) -> Iterator[None]:
    """A context in which the generator is the one before tuning."""
    layers = [layer for layer in generator.module.modules() if isinstance(layer, BaseTunerLayer)]
    for layer in layers:
        layer.enable_adapters(enabled=False)
    try:
        yield
    finally:
        for layer in layers:
            layer.enable_adapters(enabled=True)


def save_lora(folder: Path, generator: TrainableGenerator, rank: int, about: dict[str, object]) -> None:
    """Write the LoRA and what it belongs to."""
    folder.mkdir(parents=True, exist_ok=True)
    state = {
        name: tensor.detach().cpu().contiguous()
        for name, tensor in get_peft_model_state_dict(generator.module, adapter_name=NAME).items()
    }
    with write_atomically(folder / WEIGHTS) as file:
        file.write(save(state))
    with write_atomically(folder / RECORD) as file:
        file.write(json.dumps({"rank": rank, **about}, ensure_ascii=False, indent=1).encode())


def load_lora(folder: Path, generator: TrainableGenerator) -> None:
    """Put a saved LoRA into the network of a generator."""
    try:
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        state = load((folder / WEIGHTS).read_bytes())
        inject_adapter_in_model(_config(int(record["rank"]), generator.lora_targets), generator.module, NAME)
        outcome = set_peft_model_state_dict(generator.module, state, adapter_name=NAME)
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        reason = str(error).partition("\n")[0]
        raise WeightsError(f"{folder}: no LoRA of this generator can be read here ({reason})") from error
    if outcome.unexpected_keys:
        raise WeightsError(f"{folder}: a LoRA of another network; unknown layers: {outcome.unexpected_keys[:3]}")
    generator.module.requires_grad_(requires_grad=False)


def _config(rank: int, targets: tuple[str, ...]) -> LoraConfig:
    return LoraConfig(r=rank, lora_alpha=rank, target_modules=list(targets), init_lora_weights=True)
