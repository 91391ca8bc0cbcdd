"""Scores of images for their prompts by one network, each distinct prompt encoded once.

A network works in three steps, so that no step is done twice: prompts, images, scores. What it makes of a prompt
is one row of numbers whatever the network: the vector of a two-tower model, or the tokens for a text encoder that
attends to the image.

Several threads may use a scorer at the same time. The encodings of prompts are cached, up to a number of prompts;
the first thread that needs a prompt encodes it, together with the others of its batch, and the rest wait for that.
"""

from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import Future
from threading import Lock
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from beholder.errors import UserError
from beholder.models.encoders.differentiable import prepare_tensors
from beholder.models.encoders.preprocessing import Preprocessing

CACHED_PROMPTS = 1 << 16
"""Prompts whose encodings are cached: a quarter of a gigabyte with vectors of 1,024 numbers."""


class ScoringNetwork(Protocol):
    """A network that scores images for prompts; all tensors lie on the device of its module."""

    @property
    def module(self) -> nn.Module:
        """Everything with weights."""
        ...

    @property
    def preprocessing(self) -> Preprocessing:
        """How images are brought to the network's size and range."""
        ...

    @property
    def scale(self) -> float:
        """σ(scale · difference of scores) is the probability, as trained, that the higher one is preferred."""
        ...

    def encode_prompts(self, prompts: Sequence[str]) -> torch.Tensor:
        """One row per prompt, all of the same length."""
        ...

    def encode_images(self, pixels: torch.Tensor) -> torch.Tensor:
        """The encodings of prepared images (images, 3, side, side), one entry each."""
        ...

    def score(self, images: torch.Tensor, texts: torch.Tensor) -> torch.Tensor:
        """Scores (n,) of n images for the prompts of the same rows; more is better."""
        ...


class PromptScorer:
    """Scores images for prompts with one network, on one device, from several threads."""

    def __init__(
        self, network: ScoringNetwork, *, device: str | None = None, cache_size: int = CACHED_PROMPTS
    ) -> None:
        self._network = network
        self.preprocessing = network.preprocessing
        self.device = select_device(device)
        self._cache_size = cache_size
        self._encodings: OrderedDict[str, Future[torch.Tensor]] = OrderedDict()
        self._lock = Lock()
        network.module.eval().requires_grad_(requires_grad=False).to(self.device)

    def scores(self, pixels: NDArray[np.float32], prompts: Sequence[str]) -> NDArray[np.float64]:
        """Scores (images,) of prepared images (images, 3, side, side), each for its prompt."""
        with torch.inference_mode():
            images = self._network.encode_images(torch.from_numpy(pixels).to(self.device))
            scores = self._network.score(images, self._encode_prompts(prompts)).float().cpu().numpy()
        return np.asarray(scores, np.float64)

    def differentiable(self, images: torch.Tensor, prompts: Sequence[str]) -> torch.Tensor:
        """Scores (images,) of images as tensors (images, 3, height, width) of 0 to 1; gradients reach the images.

        Images are resized without rounding to bytes; otherwise the scores are those of :meth:`scores`.
        """
        if len(images) != len(prompts):
            raise ValueError(f"{len(images)} images need as many prompts; found {len(prompts)}")
        pixels = prepare_tensors(images.to(self.device), self.preprocessing)
        return self._network.score(self._network.encode_images(pixels), self._encode_prompts(prompts))

    def _encode_prompts(self, prompts: Sequence[str]) -> torch.Tensor:
        """The encoding of each prompt, (prompts, …), from the cache where it is there."""
        with self._lock:
            missing = [prompt for prompt in dict.fromkeys(prompts) if prompt not in self._encodings]
            self._encodings |= {prompt: Future() for prompt in missing}
            encodings = {prompt: self._encodings[prompt] for prompt in prompts}
            for prompt in encodings:
                self._encodings.move_to_end(prompt)
            while len(self._encodings) > self._cache_size:
                self._encodings.popitem(last=False)
        if missing:
            self._encode_missing(missing, encodings)
        return torch.stack([encodings[prompt].result() for prompt in prompts])

    def _encode_missing(self, missing: Sequence[str], encodings: dict[str, Future[torch.Tensor]]) -> None:
        """Encode prompts for all threads that wait for them; a failure reaches all; the next call tries again."""
        try:
            with torch.inference_mode(mode=False), torch.no_grad():  # cached for calls with gradients as well
                rows = self._network.encode_prompts(missing)
        except BaseException as error:
            with self._lock:
                for prompt in missing:
                    self._encodings.pop(prompt, None)
            for prompt in missing:
                encodings[prompt].set_exception(error)
            raise
        for prompt, row in zip(missing, rows, strict=True):
            encodings[prompt].set_result(row)


def select_device(name: str | None) -> torch.device:
    """The device of that name, or the fastest that is available."""
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
