"""Inpainting over the wire: an inpainter behind a worker, and an inpainter as what a worker serves."""

import io
import weakref
from collections.abc import Sequence

import numpy as np
from PIL import Image, UnidentifiedImageError

from beholder.errors import WorkerError
from beholder.models.pipelines.inpainter import Inpainter, Mask, Pixels
from beholder.workers.client import Worker
from beholder.workers.service import Inpaint

HALF = 128
"""The level of a mask's file from which a pixel is painted again."""


class WorkerInpainter:
    """A worker with the task ``inpaint``; it satisfies ``Inpainter``. The worker ends with this object."""

    def __init__(self, worker: Worker) -> None:
        """Nothing is started before the first image."""
        self._worker = worker
        weakref.finalize(self, worker.close)

    @property
    def identity(self) -> str:
        """Name and weights, as the worker states them."""
        return str(self._worker.identity)

    def inpaint(
        self, images: Sequence[Pixels], masks: Sequence[Mask], prompts: Sequence[str], seeds: Sequence[int]
    ) -> list[Pixels]:
        """Let the worker paint."""
        painted = self._worker.inpaint(
            [_file(image) for image in images], [_mask_file(mask) for mask in masks], prompts, seeds
        )
        return [self._read(content) for content in painted]

    def _read(self, content: bytes) -> Pixels:
        try:
            return _pixels(content)
        except (UnidentifiedImageError, OSError) as error:
            raise WorkerError(f"{self.identity}: not an image ({error})", fault="not-an-image") from error


def serve_inpainter(inpainter: Inpainter) -> Inpaint:
    """The function by which a worker serves an inpainter."""

    def inpaint(
        images: Sequence[bytes], masks: Sequence[bytes], prompts: Sequence[str], seeds: Sequence[int]
    ) -> list[bytes]:
        levels = [np.asarray(Image.open(io.BytesIO(content)).convert("L")) for content in masks]
        pixels = [_pixels(content) for content in images]
        painted = inpainter.inpaint(pixels, [level >= HALF for level in levels], prompts, seeds)
        return [_file(image) for image in painted]

    return inpaint


def _pixels(content: bytes) -> Pixels:
    return np.asarray(Image.open(io.BytesIO(content)).convert("RGB"), np.uint8)


def _mask_file(mask: Mask) -> bytes:
    return _file(np.where(mask, 255, 0).astype(np.uint8))


def _file(pixels: Pixels) -> bytes:
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG", compress_level=1)
    return file.getvalue()
