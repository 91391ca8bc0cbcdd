"""Between the tensors of the published ImageReward and the names of our network."""

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
OUR_BLOCK = re.compile(r"encoder\.layers\.(\d+)\.(.+)\.(weight|bias)")
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


def published_tensors(state: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The tensors of our network under the authors' names: the inverse of :func:`rename_tensors`.

    Without BLIP's projections of its pretraining: the score does not use them, and the authors' loader does not
    ask for them.
    """
    return {_published_name(name): tensor.contiguous() for name, tensor in state.items()}


def published_sizes(width: int, layers: int, heads: int, positions: int, image_width: int) -> dict[str, Any]:
    """The text encoder as ``med_config.json`` describes it."""
    return {
        **FIXED,
        "architectures": ["BertModel"],
        "model_type": "bert",
        "attention_probs_dropout_prob": 0.1,
        "encoder_width": image_width,
        "hidden_dropout_prob": 0.1,
        "hidden_size": width,
        "initializer_range": 0.02,
        "intermediate_size": 4 * width,
        "max_position_embeddings": positions,
        "num_attention_heads": heads,
        "num_hidden_layers": layers,
        "pad_token_id": 0,
        "type_vocab_size": 2,
        "vocab_size": 30524,
    }


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


def _published_name(name: str) -> str:
    part, _, rest = name.partition(".")
    if part == "text":
        return f"{TEXT}{rest}"
    if part == "head":
        return f"{HEAD}{rest}"
    block = OUR_BLOCK.fullmatch(rest)
    if block:
        theirs = {ours: published for published, ours in IN_BLOCK.items()}[block[2]]
        return f"{IMAGE}blocks.{block[1]}.{theirs}.{block[3]}"
    return f"{IMAGE}{ {ours: published for published, ours in VISUAL.items()}.get(rest, rest) }"
