"""The sizes of a CLIP, under the names by which ``transformers`` saves them in ``config.json``."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict

from beholder.tables.provenance import Plain

LEGACY = "_dict"
"""Ending of tables in which older files repeat the sizes of a tower; what stands there counts."""


class Tower(BaseModel):
    """The sizes that both towers have; keys that do not change the network are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)

    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int = 12
    num_attention_heads: int
    hidden_act: str = "quick_gelu"
    layer_norm_eps: float = 1e-5
    attention_dropout: float = 0.0


class TextTower(Tower):
    """The text tower; by default that of CLIP ViT-B/32."""

    hidden_size: int = 512
    intermediate_size: int = 2048
    num_attention_heads: int = 8
    vocab_size: int = 49408
    max_position_embeddings: int = 77
    bos_token_id: int | None = 49406
    eos_token_id: int = 49407
    pad_token_id: int | None = 1


class ImageTower(Tower):
    """The image tower; by default that of CLIP ViT-B/32."""

    hidden_size: int = 768
    intermediate_size: int = 3072
    num_attention_heads: int = 12
    image_size: int = 224
    patch_size: int = 32
    num_channels: int = 3


class ClipConfig(BaseModel):
    """Both towers, and the dims of the space that images and prompts share."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)

    projection_dim: int = 512
    text_config: TextTower = TextTower()
    vision_config: ImageTower = ImageTower()


def clip_config_of(content: Mapping[str, Any]) -> ClipConfig:
    """The configuration in the content of a ``config.json``; a ``ValueError`` where it is none.

    Examples:
        >>> clip_config_of({"projection_dim": 8, "text_config": {"hidden_size": 16}}).text_config.hidden_size
        16
    """
    towers: dict[str, dict[str, Any]] = {}
    for name, tower in (("text_config", TextTower), ("vision_config", ImageTower)):
        legacy = content.get(name + LEGACY)
        towers[name] = dict(content.get(name) or {})
        if legacy is not None:
            towers[name] |= tower.model_validate(legacy).model_dump()
    return ClipConfig.model_validate({**content, **towers})


def plain_config(clip: ClipConfig) -> dict[str, Plain]:
    """The configuration as plain JSON, as it stands in the record of a trained model."""
    shared = ("hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "hidden_act")
    also = ("layer_norm_eps", "attention_dropout")
    text = (
        *shared,
        *also,
        "vocab_size",
        "max_position_embeddings",
        "bos_token_id",
        "eos_token_id",
        "pad_token_id",
    )
    vision = (*shared, *also, "image_size", "patch_size", "num_channels")
    return {
        "projection_dim": clip.projection_dim,
        "text_config": {key: getattr(clip.text_config, key) for key in text},
        "vision_config": {key: getattr(clip.vision_config, key) for key in vision},
    }
