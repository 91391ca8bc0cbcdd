"""Networks of the ``transformers`` library: from a name on the Hugging Face hub or a local folder.

The network is theirs; the preprocessing is ours, with the sizes and numbers of the folder's
``preprocessor_config.json``, or those of the family where there is none.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import torch
import transformers
from huggingface_hub import snapshot_download
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

from beholder.errors import WeightsError
from beholder.models.encoders.encoder import Encoder
from beholder.models.encoders.hub_preprocessing import read_preprocessing
from beholder.models.encoders.preprocessing import (
    CLIP_MEAN,
    CLIP_STD,
    HALF,
    IMAGENET_MEAN,
    IMAGENET_STD,
    Preprocessing,
)
from beholder.models.encoders.torch_network import as_network, share_cores
from beholder.models.weights.files import hash_network
from beholder.models.weights.quiet_transformers import quiet_transformers

FILE_PATTERNS = ["config.json", "preprocessor_config.json", "*.safetensors", "*.safetensors.index.json"]
PICKLE_PATTERNS = ["pytorch_model*.bin", "pytorch_model.bin.index.json"]
HUB_TIMEOUT = 5.0
"""Seconds to wait for the hub's first answer."""

Output = Callable[[transformers.PreTrainedModel, torch.Tensor], torch.Tensor]
"""From prepared images to feature vectors."""


@dataclass(frozen=True)
class Family:
    """A family of networks that are loaded and used alike."""

    model: type[transformers.PreTrainedModel]
    kinds: tuple[str, ...]
    """Accepted values of ``model_type`` in the configuration."""
    output: Output
    preprocessing: Preprocessing
    """The preprocessing where the folder has none."""
    one_size: bool
    """Whether the network takes images of its configuration's ``image_size`` alone."""
    overrides: dict[str, float] = field(default_factory=dict)
    """Changes to the configuration."""


def load(name: str, variant: str, weights: str) -> Encoder:
    """The encoder of a family, from a hub name or a folder."""
    family = FAMILIES[variant]
    folder = Path(weights) if Path(weights).is_dir() else _fetch(name, weights)
    model = read_network(folder, family.model, family.kinds, f"encoder '{name}'", family.overrides)
    usual = _at_own_size(family.preprocessing, model) if family.one_size else family.preprocessing
    preprocessing = read_preprocessing(folder, usual)
    network = as_network(model, lambda images: family.output(model, images))
    side = preprocessing.side
    dims = network(torch.zeros(1, 3, side, side).numpy()).shape[1]
    return Encoder(name, hash_network(folder), dims, preprocessing, network, share_cores)


def _at_own_size(usual: Preprocessing, model: transformers.PreTrainedModel) -> Preprocessing:
    config = getattr(model.config, "vision_config", model.config)
    side = int(config.image_size)
    return replace(usual, size=side, crop=side if usual.crop else None)


def _pooled(model: transformers.PreTrainedModel, images: torch.Tensor) -> torch.Tensor:
    """The family's own pooled output: class token, attention pool, or normalised mean."""
    return _as_tensor(model(pixel_values=images).pooler_output)


def _projected(model: transformers.PreTrainedModel, images: torch.Tensor) -> torch.Tensor:
    """The embedding in the space shared with text, not normalised."""
    return _as_tensor(model(pixel_values=images).image_embeds)


def _projected_class_token(model: transformers.PreTrainedModel, images: torch.Tensor) -> torch.Tensor:
    """The same of a network that projects the class token: (images, dims), not normalised."""
    states = model.vision_model(pixel_values=images).last_hidden_state
    return _as_tensor(model.vision_proj(states[:, 0]))


def _unmasked_class_token(model: transformers.PreTrainedModel, images: torch.Tensor) -> torch.Tensor:
    """The class token with no patch masked, and the patches in order."""
    patches = (images.shape[2] // model.config.patch_size) ** 2
    order = torch.arange(patches, dtype=torch.float32, device=images.device).expand(len(images), -1)
    return _as_tensor(model(pixel_values=images, noise=order).last_hidden_state[:, 0])


def _as_tensor(output: object) -> torch.Tensor:
    if not isinstance(output, torch.Tensor):
        raise TypeError(f"the network gave {type(output).__name__}, not a tensor")
    return output


FAMILIES = {
    "dinov2": Family(
        transformers.Dinov2Model,
        ("dinov2",),
        _pooled,
        Preprocessing("shortest", 256, "bicubic", 224, mean=IMAGENET_MEAN, std=IMAGENET_STD),
        one_size=False,
    ),
    "clip": Family(
        transformers.CLIPVisionModelWithProjection,
        ("clip", "clip_vision_model"),
        _projected,
        Preprocessing("shortest", 224, "bicubic", 224, mean=CLIP_MEAN, std=CLIP_STD),
        one_size=True,
    ),
    "siglip": Family(
        transformers.SiglipVisionModel,
        ("siglip", "siglip_vision_model"),
        _pooled,
        Preprocessing("exact", 224, "bicubic", mean=HALF, std=HALF),
        one_size=True,
    ),
    "blip": Family(
        transformers.BlipForImageTextRetrieval,
        ("blip",),
        _projected_class_token,
        Preprocessing("exact", 384, "bicubic", mean=CLIP_MEAN, std=CLIP_STD),
        one_size=True,
    ),
    "convnext": Family(
        transformers.ConvNextModel,
        ("convnext",),
        _pooled,
        Preprocessing("shortest", 256, "bicubic", 224, mean=IMAGENET_MEAN, std=IMAGENET_STD),
        one_size=False,
    ),
    "mae": Family(
        transformers.ViTMAEModel,
        ("vit_mae",),
        _unmasked_class_token,
        Preprocessing("exact", 224, "bilinear", mean=IMAGENET_MEAN, std=IMAGENET_STD),
        one_size=True,
        overrides={"mask_ratio": 0.0},
    ),
}


def _fetch(name: str, weights: str) -> Path:
    """The local folder of the hub's files, downloaded where they are missing."""
    if Path(weights).is_absolute() or weights.startswith((".", "~")):
        raise WeightsError(f"encoder '{name}': {weights} is not a folder")
    try:
        folder = Path(snapshot_download(weights, allow_patterns=FILE_PATTERNS, etag_timeout=HUB_TIMEOUT))
        if not any(folder.glob("*.safetensors")):
            patterns = [*FILE_PATTERNS, *PICKLE_PATTERNS]
            folder = Path(snapshot_download(weights, allow_patterns=patterns, etag_timeout=HUB_TIMEOUT))
    except (HFValidationError, HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise WeightsError(
            f"encoder '{name}': '{weights}' is no folder here and could not be fetched from the hub ({reason}). "
            "Without a network, download it elsewhere (config.json, preprocessor_config.json, model.safetensors) "
            "and give the folder as its weights"
        ) from error
    return folder


def read_network(
    folder: Path,
    network: type[transformers.PreTrainedModel],
    kinds: Sequence[str],
    subject: str,
    overrides: Mapping[str, float] | None = None,
) -> transformers.PreTrainedModel:
    """The network of a folder with all its weights; missing weights, which would be random, are an error.

    ``kinds`` are the accepted values of ``model_type``, ``overrides`` changes to the configuration; messages begin
    with ``subject``.
    """
    if not (folder / "config.json").is_file():
        raise WeightsError(f"{subject}: {folder} holds no config.json; a saved network is expected")
    try:
        config, _ = transformers.PreTrainedConfig.get_config_dict(folder, local_files_only=True)
        kind = config.get("model_type")
        if kind not in kinds:
            expected = " or ".join(kinds)
            raise WeightsError(f"{subject}: {folder} holds a network of type {kind}; expected: {expected}")
        # a part of a network of two parts has its own configuration, but for the size of what they share
        shared = {key: config[key] for key in ("projection_dim",) if "vision_config" in config and key in config}
        with quiet_transformers():  # it would list the unused part at length
            model, info = network.from_pretrained(
                folder,
                local_files_only=True,
                output_loading_info=True,
                dtype=torch.float32,
                **shared,
                **(overrides or {}),
            )
    except (OSError, ValueError, RuntimeError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise WeightsError(f"{subject}: {folder} cannot be loaded ({reason})") from error
    lacking = sorted({*info["missing_keys"], *(key for key, *_ in info["mismatched_keys"])})
    if lacking:
        listed = ", ".join(lacking[:5]) + (" …" if len(lacking) > 5 else "")
        raise WeightsError(
            f"{subject}: {folder} lacks {len(lacking)} tensors of the network, "
            f"or has them in another shape: {listed}"
        )
    return model
