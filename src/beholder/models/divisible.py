"""Sizes of a network of which one must be a multiple of another."""

from collections.abc import Iterable

from pydantic import BaseModel

MULTIPLES = (("image_size", "patch_size"), ("image_width", "image_heads"), ("text_width", "text_heads"))
"""Of networks with an image and a text encoder: (whole, part)."""


def check_multiples(sizes: BaseModel, pairs: Iterable[tuple[str, str]]) -> None:
    """Refuse sizes that are no multiple of their part, all at once; ``pairs`` are names of (whole, part)."""
    wrong = [
        f"{whole} ({getattr(sizes, whole)}) must be a multiple of {part} ({getattr(sizes, part)})"
        for whole, part in pairs
        if getattr(sizes, whole) % getattr(sizes, part)
    ]
    if wrong:
        raise ValueError("; ".join(wrong))
