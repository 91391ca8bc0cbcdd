"""Between the tensors of open_clip, in which HPS v2 is published, and the names and shapes of ``transformers``."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from beholder.errors import WeightsError
from beholder.models.preference.clip_config import ClipConfig, clip_config_of

VIT_H_14: Mapping[str, Any] = {
    "embed_dim": 1024,
    "vision_cfg": {"image_size": 224, "layers": 32, "width": 1280, "head_width": 80, "patch_size": 14},
    "text_cfg": {"context_length": 77, "vocab_size": 49408, "width": 1024, "heads": 16, "layers": 24},
}
"""The network of HPS v2 and v2.1, as open_clip describes it."""

CONFIG_FILE = "open_clip_config.json"
"""The file of a folder in which open_clip describes another network."""

BLOCK = re.compile(r"(visual\.)?transformer\.resblocks\.(\d+)\.(.+)")
OUR_BLOCK = re.compile(r"(vision|text)_model\.encoder\.layers\.(\d+)\.(.+)")
IN_BLOCK = {
    "ln_1": "layer_norm1",
    "ln_2": "layer_norm2",
    "mlp.c_fc": "mlp.fc1",
    "mlp.c_proj": "mlp.fc2",
    "attn.out_proj": "self_attn.out_proj",
}
OUTSIDE = {
    "logit_scale": "logit_scale",
    "token_embedding.weight": "text_model.embeddings.token_embedding.weight",
    "positional_embedding": "text_model.embeddings.position_embedding.weight",
    "ln_final.weight": "text_model.final_layer_norm.weight",
    "ln_final.bias": "text_model.final_layer_norm.bias",
    "visual.class_embedding": "vision_model.embeddings.class_embedding",
    "visual.positional_embedding": "vision_model.embeddings.position_embedding.weight",
    "visual.conv1.weight": "vision_model.embeddings.patch_embedding.weight",
    "visual.ln_pre.weight": "vision_model.pre_layrnorm.weight",
    "visual.ln_pre.bias": "vision_model.pre_layrnorm.bias",
    "visual.ln_post.weight": "vision_model.post_layernorm.weight",
    "visual.ln_post.bias": "vision_model.post_layernorm.bias",
}
TRANSPOSED = {"text_projection": "text_projection.weight", "visual.proj": "visual_projection.weight"}
"""Matrices stored as (in, out) by open_clip, as (out, in) by transformers."""

UNUSED = ("attn_mask",)
"""Constants that some versions save."""


def read_sizes(folder: Path) -> ClipConfig:
    """The network that a folder describes, or that of HPS v2 where it describes none."""
    path = folder / CONFIG_FILE
    if not path.is_file():
        return clip_config(VIT_H_14)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return clip_config(content.get("model_cfg", content))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise WeightsError(f"{path}: cannot be understood ({error!r})") from error


def clip_config(sizes: Mapping[str, Any]) -> ClipConfig:
    """The same network in the terms of transformers."""
    vision, text = sizes["vision_cfg"], sizes["text_cfg"]
    act = "quick_gelu" if sizes.get("quick_gelu") else "gelu"
    return clip_config_of(
        {
            "projection_dim": sizes["embed_dim"],
            "text_config": {
                **_tower(text["width"], text["layers"], text["heads"], text.get("mlp_ratio", 4.0), act),
                "vocab_size": text["vocab_size"],
                "max_position_embeddings": text["context_length"],
                "eos_token_id": text["vocab_size"] - 1,
                "bos_token_id": text["vocab_size"] - 2,
                "pad_token_id": 0,
            },
            "vision_config": {
                **_tower(
                    vision["width"],
                    vision["layers"],
                    vision["width"] // vision.get("head_width", 64),
                    vision.get("mlp_ratio", 4.0),
                    act,
                ),
                "image_size": vision["image_size"],
                "patch_size": vision["patch_size"],
            },
        }
    )


def rename_tensors(state: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The tensors in single precision under the names of ``transformers.CLIPModel``; unknown names stay."""
    tensors: dict[str, torch.Tensor] = {}
    for name, tensor in state.items():
        published = name.removeprefix("module.")
        if published in UNUSED:
            continue
        single = tensor.float()
        block = BLOCK.fullmatch(published)
        if block:
            tensors |= _in_block(block, single)
        elif published in TRANSPOSED and single.ndim == 2:
            tensors[TRANSPOSED[published]] = single.T.contiguous()
        else:
            tensors[OUTSIDE.get(published, published)] = single
    return tensors


def _in_block(block: re.Match[str], tensor: torch.Tensor) -> dict[str, torch.Tensor]:
    """A tensor of a block; open_clip stores queries, keys and values in one."""
    tower, number, inside = "vision_model" if block[1] else "text_model", block[2], block[3]
    start = f"{tower}.encoder.layers.{number}"
    if inside in ("attn.in_proj_weight", "attn.in_proj_bias"):
        kind = inside.removeprefix("attn.in_proj_")
        if len(tensor) % 3:
            return {f"{start}.{inside}": tensor}
        parts = zip("qkv", tensor.chunk(3), strict=True)
        return {f"{start}.self_attn.{letter}_proj.{kind}": part.contiguous() for letter, part in parts}
    part, _, kind = inside.rpartition(".")
    return {f"{start}.{IN_BLOCK.get(part, part)}.{kind}": tensor}


def published_tensors(state: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The tensors of ``transformers.CLIPModel`` under open_clip's names: the inverse of :func:`rename_tensors`."""
    outside = {ours: theirs for theirs, ours in OUTSIDE.items()}
    transposed = {ours: theirs for theirs, ours in TRANSPOSED.items()}
    tensors: dict[str, torch.Tensor] = {}
    for name, tensor in state.items():
        block = OUR_BLOCK.fullmatch(name)
        if name in transposed:
            tensors[transposed[name]] = tensor.T.contiguous()
        elif name in outside:
            tensors[outside[name]] = tensor
        elif block and block[3].startswith("self_attn.q_proj."):
            start, _, kind = name.rpartition(".q_proj.")
            parts = [state[f"{start}.{letter}_proj.{kind}"] for letter in "qkv"]
            tensors[f"{_published_block(block)}.attn.in_proj_{kind}"] = torch.cat(parts)
        elif block and not block[3].startswith(("self_attn.k_proj.", "self_attn.v_proj.")):
            part, _, kind = block[3].rpartition(".")
            theirs = {ours: published for published, ours in IN_BLOCK.items()}[part]
            tensors[f"{_published_block(block)}.{theirs}.{kind}"] = tensor
    return tensors


def published_sizes(config: ClipConfig) -> dict[str, Any]:
    """The network as open_clip describes it: the inverse of :func:`clip_config`."""
    vision, text = config.vision_config, config.text_config
    return {
        "embed_dim": config.projection_dim,
        "quick_gelu": vision.hidden_act == "quick_gelu",
        "vision_cfg": {
            "image_size": vision.image_size,
            "layers": vision.num_hidden_layers,
            "width": vision.hidden_size,
            "head_width": vision.hidden_size // vision.num_attention_heads,
            "patch_size": vision.patch_size,
            "mlp_ratio": vision.intermediate_size / vision.hidden_size,
        },
        "text_cfg": {
            "context_length": text.max_position_embeddings,
            "vocab_size": text.vocab_size,
            "width": text.hidden_size,
            "heads": text.num_attention_heads,
            "layers": text.num_hidden_layers,
        },
    }


def _published_block(block: re.Match[str]) -> str:
    return f"{'visual.' if block[1] == 'vision' else ''}transformer.resblocks.{block[2]}"


def _tower(width: int, layers: int, heads: int, ratio: float, act: str) -> dict[str, int | str]:
    return {
        "hidden_size": width,
        "intermediate_size": int(width * ratio),
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "hidden_act": act,
    }
