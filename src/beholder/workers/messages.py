"""The requests and replies of each task, to frames and back."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from beholder.workers.frames import Frame, FrameError

Vectors = NDArray[np.float32]
"""One row per image or text: (inputs, dims)."""


class Usage(BaseModel):
    """What a reply cost, as the worker measured it; what it did not measure is ``None``."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)

    seconds: float | None = Field(None, ge=0)
    cpu_seconds: float | None = Field(None, ge=0)
    peak_memory_mb: float | None = Field(None, ge=0)
    energy_wh: float | None = Field(None, ge=0)
    energy_method: str | None = None


class ImageRequest(BaseModel):
    """An image to be generated: task ``generate``."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)

    prompt: str
    seed: int | None = None
    width: int | None = Field(None, ge=1)
    height: int | None = Field(None, ge=1)
    settings: dict[str, Any] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ImageReply:
    """A generated image as the bytes of a file, with what the generator says about it."""

    content: bytes = field(repr=False)
    prompt: str | None = None
    """The prompt that the generator used, where it rewrote the one it was sent."""
    usage: Usage = field(default_factory=Usage)


def image_frame(reply: ImageReply) -> Frame:
    """Return the frame of an image."""
    return Frame({} if reply.prompt is None else {"prompt": reply.prompt}, (reply.content,))


def read_image(frame: Frame) -> ImageReply:
    """Return the image of a reply."""
    if len(frame.blobs) != 1:
        raise FrameError(f"a reply with one image is expected, found {len(frame.blobs)} blobs")
    prompt = frame.header.get("prompt")
    usage = Usage.model_validate(frame.header.get("usage") or {})
    return ImageReply(frame.blobs[0], prompt if isinstance(prompt, str) else None, usage)


def read_images(frame: Frame, count: int) -> tuple[bytes, ...]:
    """Return the image files of a reply, one per image that was sent."""
    if len(frame.blobs) != count:
        raise FrameError(f"{count} images are expected, found {len(frame.blobs)} blobs")
    return frame.blobs


def read_scores(frame: Frame, count: int) -> NDArray[np.float64]:
    """Return the scores of a reply, one per image; those that are not finite are a fault."""
    scores = frame.header.get("scores")
    if not isinstance(scores, list) or not all(type(score) in (int, float) for score in scores):
        raise FrameError("'scores' with a list of numbers is expected")
    if len(scores) != count:
        raise FrameError(f"{count} scores are expected, found {len(scores)}")
    return np.array(scores, np.float64)


def vectors_frame(vectors: Vectors) -> Frame:
    """Return the frame of vectors: their shape, and their bytes as little-endian 32-bit floats, row by row."""
    return Frame({"shape": list(vectors.shape)}, (np.ascontiguousarray(vectors, "<f4").tobytes(),))


def read_vectors(frame: Frame, count: int) -> Vectors:
    """Return the vectors of a reply, one row per input; what is not finite is a fault."""
    shape: object = frame.header.get("shape")
    if not (isinstance(shape, Sequence) and len(shape) == 2 and all(type(side) is int for side in shape)):
        raise FrameError("'shape' with the number of rows and the number of dims is expected")
    rows, dims = shape
    if rows != count:
        raise FrameError(f"{count} vectors are expected, found {rows}")
    if len(frame.blobs) != 1 or len(frame.blobs[0]) != rows * dims * 4:
        raise FrameError(f"one blob of {rows} × {dims} × 4 bytes is expected")
    vectors = np.frombuffer(frame.blobs[0], "<f4").reshape(rows, dims).astype(np.float32)
    if not np.isfinite(vectors).all():
        raise FrameError("vectors hold numbers that are not finite")
    return vectors
