"""The preprocessing that a folder's ``preprocessor_config.json`` describes, in our own terms."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from beholder.errors import WeightsError
from beholder.models.encoders.preprocessing import Channels, Method, Preprocessing

METHODS: dict[int, Method] = {1: "lanczos", 2: "bilinear", 3: "bicubic", 4: "box"}
"""Pillow's numbers of the supported filters."""

UNCROPPED_SIDE = 384
"""From this size on, ConvNeXt's processor does not crop."""


def read_preprocessing(folder: Path, default: Preprocessing) -> Preprocessing:
    """The preprocessing of the file; what it leaves out is as in ``default``."""
    path = folder / "preprocessor_config.json"
    if not path.exists():
        return default
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
        preprocessing = _translate(config, default)
    except (ValueError, KeyError, TypeError) as error:
        raise WeightsError(f"{path}: cannot be understood ({error})") from error
    if preprocessing.fit == "shortest" and preprocessing.crop is None:
        raise WeightsError(f"{path}: gives the shortest side a size but cuts out no square; images must be alike")
    if (preprocessing.crop or 0) > preprocessing.size:
        raise WeightsError(
            f"{path}: a crop of {preprocessing.crop} from images of {preprocessing.size}; it must not be larger"
        )
    return preprocessing


def _translate(config: dict[str, Any], default: Preprocessing) -> Preprocessing:
    preprocessing = default
    size = config.get("size")
    if not config.get("do_resize", True):
        raise ValueError("do_resize is off, but images come in all sizes")
    if isinstance(size, dict) and "shortest_edge" in size:
        preprocessing = replace(preprocessing, fit="shortest", size=size["shortest_edge"], crop=None)
    elif isinstance(size, dict):
        preprocessing = replace(preprocessing, fit="exact", size=_square(size), crop=None)
    elif size is not None:
        preprocessing = replace(preprocessing, size=size, crop=None)
    if "crop_pct" in config and size is not None:
        preprocessing = _convnext(preprocessing, config["crop_pct"])
    elif config.get("do_center_crop", default.crop is not None):
        preprocessing = replace(
            preprocessing, crop=_square(config.get("crop_size", default.crop or preprocessing.size))
        )
    if "resample" in config:
        if config["resample"] not in METHODS:
            raise ValueError(f"resample is {config['resample']}; known: {METHODS}")
        preprocessing = replace(preprocessing, method=METHODS[config["resample"]])
    preprocessing = replace(
        preprocessing, scale=config.get("rescale_factor", default.scale) if config.get("do_rescale", True) else 1.0
    )
    if not config.get("do_normalize", True):
        return replace(preprocessing, mean=(0.0, 0.0, 0.0), std=(1.0, 1.0, 1.0))
    return replace(
        preprocessing,
        mean=_channels(config.get("image_mean", default.mean)),
        std=_channels(config.get("image_std", default.std)),
    )


def _convnext(preprocessing: Preprocessing, proportion: float) -> Preprocessing:
    """Below 384 pixels, the central ``proportion`` of a larger image; otherwise the entire image, as a square."""
    if preprocessing.size >= UNCROPPED_SIDE:
        return replace(preprocessing, fit="exact", crop=None)
    return replace(
        preprocessing, fit="shortest", size=int(preprocessing.size / proportion), crop=preprocessing.size
    )


def _square(size: int | dict[str, int]) -> int:
    if isinstance(size, int):
        return size
    if size["height"] != size["width"]:
        raise ValueError(f"{size['height']} × {size['width']} pixels; a square is expected")
    return size["height"]


def _channels(numbers: list[float]) -> Channels:
    red, green, blue = numbers
    return red, green, blue
