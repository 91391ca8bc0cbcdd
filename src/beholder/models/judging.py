"""A judge at work: on its device, without gradients or with them, each distinct prompt read once.

Several threads may use it at the same time. What was read of a prompt is kept, up to a number of prompts; the
first thread that needs a prompt reads it, together with the others of its batch, and the rest wait for that.
"""

from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import Future
from threading import Lock

import numpy as np
import torch
from numpy.typing import NDArray

from beholder.errors import UserError
from beholder.models.encoders.differentiable import prepare_tensors
from beholder.models.judge import Judge

KEPT = 1 << 16
"""Prompts of which the reading is kept: a quarter of a gigabyte with vectors of 1,024 numbers."""


class Judging:
    """Scores of images for prompts by one judge."""

    def __init__(self, judge: Judge, *, device: str | None = None, kept: int = KEPT) -> None:
        self._judge = judge
        self.preprocessing = judge.preprocessing
        self.device = chosen_device(device)
        self._kept = kept
        self._readings: OrderedDict[str, Future[torch.Tensor]] = OrderedDict()
        self._lock = Lock()
        judge.module.eval().requires_grad_(requires_grad=False).to(self.device)

    def scores(self, pixels: NDArray[np.float32], prompts: Sequence[str]) -> NDArray[np.float64]:
        """Scores (images,) of prepared images (images, 3, side, side), each for its prompt."""
        with torch.inference_mode():
            images = self._judge.look(torch.from_numpy(pixels).to(self.device))
            found = self._judge.judge(images, self._read(prompts)).float().cpu().numpy()
        return np.asarray(found, np.float64)

    def differentiable(self, images: torch.Tensor, prompts: Sequence[str]) -> torch.Tensor:
        """Scores (images,) of images as tensors (images, 3, height, width) of 0 to 1; gradients reach the images.

        Images are resized without rounding to bytes; otherwise the scores are those of :meth:`scores`.
        """
        if len(images) != len(prompts):
            raise ValueError(f"{len(images)} images need as many prompts; found {len(prompts)}")
        pixels = prepare_tensors(images.to(self.device), self.preprocessing)
        return self._judge.judge(self._judge.look(pixels), self._read(prompts))

    def _read(self, prompts: Sequence[str]) -> torch.Tensor:
        """What is made of each prompt, (prompts, …)."""
        with self._lock:
            mine = [prompt for prompt in dict.fromkeys(prompts) if prompt not in self._readings]
            self._readings |= {prompt: Future() for prompt in mine}
            found = {prompt: self._readings[prompt] for prompt in prompts}
            for prompt in found:
                self._readings.move_to_end(prompt)
            while len(self._readings) > self._kept:
                self._readings.popitem(last=False)
        if mine:
            self._fill(mine, found)
        return torch.stack([found[prompt].result() for prompt in prompts])

    def _fill(self, mine: Sequence[str], found: dict[str, Future[torch.Tensor]]) -> None:
        """Read prompts for all who wait for them; a failure is theirs too, and is forgotten for the next try."""
        try:
            with torch.inference_mode(mode=False), torch.no_grad():  # kept for calls with gradients as well
                rows = self._judge.read(mine)
        except BaseException as error:
            with self._lock:
                for prompt in mine:
                    self._readings.pop(prompt, None)
            for prompt in mine:
                found[prompt].set_exception(error)
            raise
        for prompt, row in zip(mine, rows, strict=True):
            found[prompt].set_result(row)


def chosen_device(name: str | None) -> torch.device:
    """The device of that name, or the fastest there is."""
    if name is None:
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = str(error).partition("\n")[0]
        raise UserError(f"device '{name}' cannot be used here ({reason}); cpu always can") from error
    return device
