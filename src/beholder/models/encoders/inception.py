"""Inception-v3 as the Fréchet Inception Distance was published with it (the TensorFlow graph of 2015-12-05).

It differs from other Inception-v3 networks in four points: 1,008 classes; averages at borders count only the
pixels that are there; the last block pools by maximum; images come in by TensorFlow 1's bilinear resize. The names
of the tensors are those under which the converted weights are published with pytorch-fid and torch-fidelity.
"""

from collections.abc import Iterator

import torch
from torch import nn
from torch.nn import functional

from beholder.models.encoders.encoder import Encoder
from beholder.models.encoders.inception_weights import FID_CLASSES, find_fid_weights, read_fid_weights
from beholder.models.encoders.preprocessing import Preprocessing
from beholder.models.encoders.stage_features import moments
from beholder.models.encoders.torch_network import as_network, share_cores
from beholder.models.weights.files import fit_state, hash_files

CENTRED = (128.0, 128.0, 128.0)
PREPROCESSING = {
    "fid": Preprocessing("exact", 299, "tf1", scale=1.0, mean=CENTRED, std=CENTRED),
    "clean": Preprocessing("exact", 299, "bicubic", scale=1.0, mean=CENTRED, std=CENTRED, rounded=False),
    "logits": Preprocessing("exact", 299, "tf1", scale=1.0, mean=CENTRED, std=CENTRED),
    "stages": Preprocessing("shortest", 512, "bicubic", 512, scale=1.0, mean=CENTRED, std=CENTRED),
}
"""Variant -> resize: as in the publication, antialiased as in clean-fid, or to about the size that raters saw."""

FEATURES = 2048
CHANNELS = (32, 32, 64, 80, 192, 256, 288, 288, 768, 768, 768, 768, 768, 1280, FEATURES, FEATURES)
"""Of the maps after every convolution and block."""


def load(name: str, variant: str, weights: str) -> Encoder:
    """The encoder, from the package that carries its weights or from a file."""
    path = find_fid_weights(name, weights)
    scores = variant == "logits"
    network = FidInception(scores=scores)
    fit_state(network, read_fid_weights(path, scores=scores), str(path))
    if variant == "stages":
        groups = tuple(width for width in CHANNELS for _ in ("mean", "spread"))
        called = as_network(InceptionStages(network))
        return Encoder(
            name, hash_files([path]), sum(groups), PREPROCESSING[variant], called, share_cores, groups=groups
        )
    dims = FID_CLASSES if scores else FEATURES
    return Encoder(name, hash_files([path]), dims, PREPROCESSING[variant], as_network(network), share_cores)


class Conv(nn.Module):
    """Convolution, batch norm, ReLU."""

    def __init__(
        self, into: int, out: int, size: int | tuple[int, int], stride: int = 1, *, padded: bool = True
    ) -> None:
        super().__init__()
        sides = (size, size) if isinstance(size, int) else size
        padding = (sides[0] // 2, sides[1] // 2) if padded else (0, 0)
        self.conv = nn.Conv2d(into, out, sides, stride, padding, bias=False)
        self.bn = nn.BatchNorm2d(out, eps=0.001)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The layer."""
        return functional.relu(self.bn(self.conv(x)), inplace=True)


class MixedA(nn.Module):
    """35 × 35: 1 × 1, 5 × 5, two 3 × 3, and a mean."""

    def __init__(self, into: int, pool: int) -> None:
        super().__init__()
        self.branch1x1 = Conv(into, 64, 1)
        self.branch5x5_1 = Conv(into, 48, 1)
        self.branch5x5_2 = Conv(48, 64, 5)
        self.branch3x3dbl_1 = Conv(into, 64, 1)
        self.branch3x3dbl_2 = Conv(64, 96, 3)
        self.branch3x3dbl_3 = Conv(96, 96, 3)
        self.branch_pool = Conv(into, pool, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The block."""
        five = self.branch5x5_2(self.branch5x5_1(x))
        three = self.branch3x3dbl_3(self.branch3x3dbl_2(self.branch3x3dbl_1(x)))
        return torch.cat([self.branch1x1(x), five, three, self.branch_pool(_mean(x))], 1)


class MixedB(nn.Module):
    """35 × 35 to 17 × 17."""

    def __init__(self, into: int) -> None:
        super().__init__()
        self.branch3x3 = Conv(into, 384, 3, 2, padded=False)
        self.branch3x3dbl_1 = Conv(into, 64, 1)
        self.branch3x3dbl_2 = Conv(64, 96, 3)
        self.branch3x3dbl_3 = Conv(96, 96, 3, 2, padded=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The block."""
        three = self.branch3x3dbl_3(self.branch3x3dbl_2(self.branch3x3dbl_1(x)))
        return torch.cat([self.branch3x3(x), three, functional.max_pool2d(x, 3, 2)], 1)


class MixedC(nn.Module):
    """17 × 17: 7 × 7 as rows and columns."""

    def __init__(self, into: int, inner: int) -> None:
        super().__init__()
        self.branch1x1 = Conv(into, 192, 1)
        self.branch7x7_1 = Conv(into, inner, 1)
        self.branch7x7_2 = Conv(inner, inner, (1, 7))
        self.branch7x7_3 = Conv(inner, 192, (7, 1))
        self.branch7x7dbl_1 = Conv(into, inner, 1)
        self.branch7x7dbl_2 = Conv(inner, inner, (7, 1))
        self.branch7x7dbl_3 = Conv(inner, inner, (1, 7))
        self.branch7x7dbl_4 = Conv(inner, inner, (7, 1))
        self.branch7x7dbl_5 = Conv(inner, 192, (1, 7))
        self.branch_pool = Conv(into, 192, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The block."""
        seven = self.branch7x7_3(self.branch7x7_2(self.branch7x7_1(x)))
        double = self.branch7x7dbl_3(self.branch7x7dbl_2(self.branch7x7dbl_1(x)))
        double = self.branch7x7dbl_5(self.branch7x7dbl_4(double))
        return torch.cat([self.branch1x1(x), seven, double, self.branch_pool(_mean(x))], 1)


class MixedD(nn.Module):
    """17 × 17 to 8 × 8."""

    def __init__(self, into: int) -> None:
        super().__init__()
        self.branch3x3_1 = Conv(into, 192, 1)
        self.branch3x3_2 = Conv(192, 320, 3, 2, padded=False)
        self.branch7x7x3_1 = Conv(into, 192, 1)
        self.branch7x7x3_2 = Conv(192, 192, (1, 7))
        self.branch7x7x3_3 = Conv(192, 192, (7, 1))
        self.branch7x7x3_4 = Conv(192, 192, 3, 2, padded=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The block."""
        seven = self.branch7x7x3_4(self.branch7x7x3_3(self.branch7x7x3_2(self.branch7x7x3_1(x))))
        return torch.cat([self.branch3x3_2(self.branch3x3_1(x)), seven, functional.max_pool2d(x, 3, 2)], 1)


class MixedE(nn.Module):
    """8 × 8: 3 × 3 as rows beside columns; pools by mean, in the last block by maximum."""

    def __init__(self, into: int, *, last: bool) -> None:
        super().__init__()
        self.last = last
        self.branch1x1 = Conv(into, 320, 1)
        self.branch3x3_1 = Conv(into, 384, 1)
        self.branch3x3_2a = Conv(384, 384, (1, 3))
        self.branch3x3_2b = Conv(384, 384, (3, 1))
        self.branch3x3dbl_1 = Conv(into, 448, 1)
        self.branch3x3dbl_2 = Conv(448, 384, 3)
        self.branch3x3dbl_3a = Conv(384, 384, (1, 3))
        self.branch3x3dbl_3b = Conv(384, 384, (3, 1))
        self.branch_pool = Conv(into, 192, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The block."""
        three = self.branch3x3_1(x)
        double = self.branch3x3dbl_2(self.branch3x3dbl_1(x))
        pooled = functional.max_pool2d(x, 3, 1, 1) if self.last else _mean(x)
        parts = [
            self.branch1x1(x),
            self.branch3x3_2a(three),
            self.branch3x3_2b(three),
            self.branch3x3dbl_3a(double),
            self.branch3x3dbl_3b(double),
            self.branch_pool(pooled),
        ]
        return torch.cat(parts, 1)


class FidInception(nn.Module):
    """From images (n, 3, 299, 299) within ±1 to the 2,048 features of the last average.

    Or to class scores without the bias, from which torch-fidelity takes the Inception Score.
    """

    def __init__(self, *, scores: bool) -> None:
        super().__init__()
        self.Conv2d_1a_3x3 = Conv(3, 32, 3, 2, padded=False)
        self.Conv2d_2a_3x3 = Conv(32, 32, 3, padded=False)
        self.Conv2d_2b_3x3 = Conv(32, 64, 3)
        self.Conv2d_3b_1x1 = Conv(64, 80, 1)
        self.Conv2d_4a_3x3 = Conv(80, 192, 3, padded=False)
        self.Mixed_5b = MixedA(192, 32)
        self.Mixed_5c = MixedA(256, 64)
        self.Mixed_5d = MixedA(288, 64)
        self.Mixed_6a = MixedB(288)
        self.Mixed_6b = MixedC(768, 128)
        self.Mixed_6c = MixedC(768, 160)
        self.Mixed_6d = MixedC(768, 160)
        self.Mixed_6e = MixedC(768, 192)
        self.Mixed_7a = MixedD(768)
        self.Mixed_7b = MixedE(1280, last=False)
        self.Mixed_7c = MixedE(2048, last=True)
        if scores:
            self.fc = nn.Linear(FEATURES, FID_CLASSES)
        self.scores = scores

    def maps(self, x: torch.Tensor) -> Iterator[torch.Tensor]:
        """Yield the maps after every convolution and block, (n, channels, height, width)."""
        for first in (self.Conv2d_1a_3x3, self.Conv2d_2a_3x3, self.Conv2d_2b_3x3):
            yield (x := first(x))
        x = functional.max_pool2d(x, 3, 2)
        for second in (self.Conv2d_3b_1x1, self.Conv2d_4a_3x3):
            yield (x := second(x))
        x = functional.max_pool2d(x, 3, 2)  # (n, 192, 35, 35) of images of 299 pixels
        for block in (
            *(self.Mixed_5b, self.Mixed_5c, self.Mixed_5d),
            *(self.Mixed_6a, self.Mixed_6b, self.Mixed_6c, self.Mixed_6d, self.Mixed_6e),  # (n, 768, 17, 17)
            *(self.Mixed_7a, self.Mixed_7b, self.Mixed_7c),  # (n, 2048, 8, 8)
        ):
            yield (x := block(x))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The features, or the scores."""
        for after in self.maps(x):
            x = after
        x = x.mean((2, 3))
        return functional.linear(x, self.fc.weight) if self.scores else x


class InceptionStages(nn.Module):
    """From images (n, 3, height, width) within ±1 to mean and standard deviation of all channels of all maps."""

    def __init__(self, network: FidInception) -> None:
        super().__init__()
        self.network = network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Convolution by convolution and block by block: means, then standard deviations, (n, dims)."""
        return torch.cat([figure for maps in self.network.maps(x) for figure in moments(maps)], 1)


def _mean(x: torch.Tensor) -> torch.Tensor:
    return functional.avg_pool2d(x, 3, 1, 1, count_include_pad=False)
