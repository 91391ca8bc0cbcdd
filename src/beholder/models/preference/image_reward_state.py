"""From the tensors of the published ImageReward to the names of our network."""

import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from beholder.errors import WeightsError
from beholder.models.text.vocabulary import BERT_WORDS

CONFIG_FILE = "med_config.json"
"""The configuration of the text encoder, as the authors publish it next to the weights."""

FIXED = {"hidden_act": "gelu", "layer_norm_eps": 1e-12, "add_cross_attention": True}
"""Fixed properties of our network; a configuration that differs belongs to another network."""

VISUAL = {
    "cls_token": "embeddings.class_embedding",
    "pos_embed": "embeddings.position_embedding",
    "patch_embed.proj.weight": "embeddings.patch_embedding.weight",
    "patch_embed.proj.bias": "embeddings.patch_embedding.bias",
    "norm.weight": "post_layernorm.weight",
    "norm.bias": "post_layernorm.bias",
}
BLOCK = re.compile(r"blocks\.(\d+)\.(norm1|norm2|attn\.qkv|attn\.proj|mlp\.fc1|mlp\.fc2)\.(weight|bias)")
IN_BLOCK = {
    "norm1": "layer_norm1",
    "norm2": "layer_norm2",
    "attn.qkv": "self_attn.qkv",
    "attn.proj": "self_attn.projection",
    "mlp.fc1": "mlp.fc1",
    "mlp.fc2": "mlp.fc2",
}
UNUSED = ("blip.vision_proj.", "blip.text_proj.", "blip.text_encoder.embeddings.position_ids")
"""Tensors of BLIP's pretraining that the score does not use."""

HUB, FILES = "THUDM/ImageReward", ("ImageReward.pt", CONFIG_FILE, BERT_WORDS.file)

IMAGE, TEXT, HEAD = "blip.visual_encoder.", "blip.text_encoder.", "mlp.layers."


def rename_tensors(state: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The tensors in single precision under our names; unknown names are unchanged."""
    return {_name(name): tensor.float() for name, tensor in state.items() if not name.startswith(UNUSED)}


def read_sizes(folder: Path) -> dict[str, int | float]:
    """Sizes of the text encoder of a folder; empty where it holds no ``med_config.json``."""
    path = folder / CONFIG_FILE
    if not path.is_file():
        return {}
    try:
        config: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        sizes: dict[str, int | float] = {
            "text_width": int(config["hidden_size"]),
            "text_layers": int(config["num_hidden_layers"]),
            "text_heads": int(config["num_attention_heads"]),
            "positions": int(config["max_position_embeddings"]),
        }
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise WeightsError(f"{path}: cannot be understood ({error!r})") from error
    wrong = [
        f"{key} is {config[key]}; {value} is expected"
        for key, value in FIXED.items()
        if config.get(key, value) != value
    ]
    if config.get("intermediate_size", 4 * sizes["text_width"]) != 4 * sizes["text_width"]:
        wrong.append(f"intermediate_size is {config['intermediate_size']}; four times hidden_size is expected")
    if wrong:
        raise WeightsError(f"{path}: another network: {'; '.join(wrong)}")
    return sizes


def sizes_of(state: Mapping[str, torch.Tensor]) -> dict[str, int | float]:
    """Sizes of the image encoder, from renamed tensors; its attention heads are 64 wide, as in every BLIP."""
    patch = state.get("image.embeddings.patch_embedding.weight")
    positions = state.get("image.embeddings.position_embedding")
    if patch is None or positions is None or patch.ndim != 4 or positions.ndim != 3:
        return {}
    width, side = patch.shape[0], patch.shape[3]
    layers = {name.split(".")[3] for name in state if name.startswith("image.encoder.layers.")}
    return {
        "image_size": math.isqrt(positions.shape[1] - 1) * side,
        "patch_size": side,
        "image_width": width,
        "image_layers": max(len(layers), 1),
        "image_heads": max(width // 64, 1),
    }


def _name(name: str) -> str:
    if name.startswith(IMAGE):
        return f"image.{_visual(name.removeprefix(IMAGE))}"
    if name.startswith(TEXT):
        return f"text.{name.removeprefix(TEXT)}"
    return f"head.{name.removeprefix(HEAD)}" if name.startswith(HEAD) else name


def _visual(name: str) -> str:
    block = BLOCK.fullmatch(name)
    if block:
        return f"encoder.layers.{block[1]}.{IN_BLOCK[block[2]]}.{block[3]}"
    return VISUAL.get(name, name)
