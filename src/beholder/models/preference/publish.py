"""A trained model in the layout in which its kind was published, so that others' tools load it.

Two towers whose score is a cosine are written as HPS v2 is (open_clip's names, in a ``.pt`` file), those with the
temperature as PickScore is (a folder of transformers), and ImageReward as its authors wrote theirs.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import torch
from safetensors.torch import save_file

from beholder.errors import UserError
from beholder.models.preference import image_reward_state, open_clip_state
from beholder.models.preference.clip_config import clip_config_of
from beholder.models.preference.image_reward import RewardSizes
from beholder.models.trainable import Config
from beholder.models.weights.checkpoint import WEIGHTS, read_record
from beholder.models.weights.files import read_state

State = Mapping[str, torch.Tensor]
HPS_FILE, REWARD_FILE, CONFIG_FILE = "HPS_v2_compressed.pt", "ImageReward.pt", "config.json"


def publish_model(folder: Path, out: Path) -> list[Path]:
    """Write a model that ``beholder learn`` trained into the folder ``out``; return the files."""
    record = read_record(folder)
    writers: dict[str, Callable[[State, Config, Path], list[Path]]] = {
        "two-tower": _write_hps if record.config.get("score") == "cosine" else _write_clip,
        "image-reward": _write_image_reward,
    }
    if record.architecture not in writers:
        raise UserError(f"{folder}: a {record.architecture} model has no published layout; {WEIGHTS} is its own")
    if record.config["vocabulary"] == "words":
        raise UserError(
            f"{folder}: it reads the words of its training prompts, which no other tool knows. Train it with "
            "--set model.vocabulary=clip (image-reward: bert)"
        )
    if out.exists() and any(out.iterdir()):
        raise UserError(f"{out}: not empty; name a new folder")
    out.mkdir(parents=True, exist_ok=True)
    return writers[record.architecture](read_state(folder / WEIGHTS), record.config, out)


def _write_hps(state: State, config: Config, out: Path) -> list[Path]:
    sizes = open_clip_state.published_sizes(clip_config_of(_table(config, "clip")))
    torch.save({"state_dict": open_clip_state.published_tensors(state)}, out / HPS_FILE)
    return [out / HPS_FILE, _write_json(out / open_clip_state.CONFIG_FILE, {"model_cfg": sizes})]


def _write_clip(state: State, config: Config, out: Path) -> list[Path]:
    save_file({name: tensor.contiguous() for name, tensor in state.items()}, out / WEIGHTS, {"format": "pt"})
    described = {"architectures": ["CLIPModel"], "model_type": "clip", **_table(config, "clip")}
    return [out / WEIGHTS, _write_json(out / CONFIG_FILE, described)]


def _write_image_reward(state: State, config: Config, out: Path) -> list[Path]:
    sizes = RewardSizes.model_validate(config["sizes"])
    torch.save(image_reward_state.published_tensors(state), out / REWARD_FILE)
    described = image_reward_state.published_sizes(
        sizes.text_width, sizes.text_layers, sizes.text_heads, sizes.positions, sizes.image_width
    )
    return [out / REWARD_FILE, _write_json(out / image_reward_state.CONFIG_FILE, described)]


def _write_json(path: Path, content: Mapping[str, object]) -> Path:
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return path


def _table(config: Config, key: str) -> dict[str, object]:
    entry = config[key]
    if not isinstance(entry, dict):
        raise TypeError(f"{key}: a table is expected, not {entry!r}")
    return dict(entry)
