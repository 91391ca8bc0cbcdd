"""The preprocessing that a folder's ``preprocessor_config.json`` describes, in our own terms."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from beholder.errors import WeightsError
from beholder.models.encoders.preprocessing import Channels, Method, Preprocessing

METHODS: dict[int, Method] = {1: "lanczos", 2: "bilinear", 3: "bicubic", 4: "box"}
"""Pillow's numbers for the filters that are known here."""

WARPED_SIDE = 384
"""From this size on, ConvNeXt's processor does not crop."""


def read_preprocessing(folder: Path, usual: Preprocessing) -> Preprocessing:
    """As the file says; what it leaves open is as ``usual``."""
    path = folder / "preprocessor_config.json"
    if not path.exists():
        return usual
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
        found = _translated(said, usual)
    except (ValueError, KeyError, TypeError) as error:
        raise WeightsError(f"{path}: cannot be understood ({error})") from error
    if found.fit == "shortest" and found.crop is None:
        raise WeightsError(f"{path}: gives the shortest side a size but cuts out no square; images must be alike")
    if (found.crop or 0) > found.size:
        raise WeightsError(f"{path}: a crop of {found.crop} from images of {found.size}; it must not be larger")
    return found


def _translated(said: dict[str, Any], usual: Preprocessing) -> Preprocessing:
    found = usual
    size = said.get("size")
    if not said.get("do_resize", True):
        raise ValueError("do_resize is off, but images come in all sizes")
    if isinstance(size, dict) and "shortest_edge" in size:
        found = replace(found, fit="shortest", size=size["shortest_edge"], crop=None)
    elif isinstance(size, dict):
        found = replace(found, fit="exact", size=_square(size), crop=None)
    elif size is not None:
        found = replace(found, size=size, crop=None)
    if "crop_pct" in said and size is not None:
        found = _convnext(found, said["crop_pct"])
    elif said.get("do_center_crop", usual.crop is not None):
        found = replace(found, crop=_square(said.get("crop_size", usual.crop or found.size)))
    if "resample" in said:
        if said["resample"] not in METHODS:
            raise ValueError(f"resample is {said['resample']}; known: {METHODS}")
        found = replace(found, method=METHODS[said["resample"]])
    found = replace(found, scale=said.get("rescale_factor", usual.scale) if said.get("do_rescale", True) else 1.0)
    if not said.get("do_normalize", True):
        return replace(found, mean=(0.0, 0.0, 0.0), std=(1.0, 1.0, 1.0))
    return replace(
        found,
        mean=_channels(said.get("image_mean", usual.mean)),
        std=_channels(said.get("image_std", usual.std)),
    )


def _convnext(found: Preprocessing, share: float) -> Preprocessing:
    """Below 384 pixels, the middle ``share`` of a larger image; otherwise the whole, as a square."""
    if found.size >= WARPED_SIDE:
        return replace(found, fit="exact", crop=None)
    return replace(found, fit="shortest", size=int(found.size / share), crop=found.size)


def _square(size: int | dict[str, int]) -> int:
    if isinstance(size, int):
        return size
    if size["height"] != size["width"]:
        raise ValueError(f"{size['height']} × {size['width']} pixels; a square is expected")
    return size["height"]


def _channels(numbers: list[float]) -> Channels:
    red, green, blue = numbers
    return red, green, blue
