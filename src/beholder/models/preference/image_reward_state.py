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

SIZES = "med_config.json"
"""Sizes of the text encoder, as the authors publish them beside the weights."""

FIXED = {"hidden_act": "gelu", "layer_norm_eps": 1e-12, "add_cross_attention": True}
"""What the network is built with; a file that says otherwise is of another one."""

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
LEFT_OUT = ("blip.vision_proj.", "blip.text_proj.", "blip.text_encoder.embeddings.position_ids")
"""What BLIP was pretrained with and the score does not use."""

HUB, FILES = "THUDM/ImageReward", ("ImageReward.pt", SIZES, BERT_WORDS.file)

IMAGE, TEXT, HEAD = "blip.visual_encoder.", "blip.text_encoder.", "mlp.layers."


def renamed(state: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The tensors in single precision under our names; unknown ones as they are."""
    return {_name(name): one.float() for name, one in state.items() if not name.startswith(LEFT_OUT)}


def read_sizes(folder: Path) -> dict[str, int | float]:
    """Sizes of the text encoder in a folder; none where it holds no ``med_config.json``."""
    path = folder / SIZES
    if not path.is_file():
        return {}
    try:
        said: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        found: dict[str, int | float] = {
            "text_width": int(said["hidden_size"]),
            "text_layers": int(said["num_hidden_layers"]),
            "text_heads": int(said["num_attention_heads"]),
            "positions": int(said["max_position_embeddings"]),
        }
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise WeightsError(f"{path}: cannot be understood ({error!r})") from error
    wrong = [
        f"{key} is {said[key]}; {value} is expected"
        for key, value in FIXED.items()
        if said.get(key, value) != value
    ]
    if said.get("intermediate_size", 4 * found["text_width"]) != 4 * found["text_width"]:
        wrong.append(f"intermediate_size is {said['intermediate_size']}; four times hidden_size is expected")
    if wrong:
        raise WeightsError(f"{path}: another network: {'; '.join(wrong)}")
    return found


def sizes_of(state: Mapping[str, torch.Tensor]) -> dict[str, int | float]:
    """Sizes of the image encoder, from renamed tensors; its heads are 64 wide, as all of BLIP's."""
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
