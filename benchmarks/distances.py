"""Distances of two sets of features, compared with torch-fidelity, clean-fid, torchmetrics and prdc.

``python benchmarks/run.py distances`` measures elapsed time on all cores. On a machine that is busy with other
work, ``python benchmarks/distances.py [NUMBER …]`` prints seconds of CPU time of single rows instead; set
``OMP_NUM_THREADS=1`` for it, or waiting threads count too.
"""

import contextlib
import io
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import peers  # noqa: F401 - makes the next imports possible
import prdc
import torch
from cleanfid.fid import fid_from_feats, frechet_distance
from harness import Comparison
from numpy.typing import NDArray
from torch_fidelity.defaults import DEFAULTS
from torch_fidelity.metric_fid import fid_features_to_statistics, fid_statistics_to_metric
from torch_fidelity.metric_kid import kid_features_to_metric
from torchmetrics.image.fid import FrechetInceptionDistance, _compute_fid
from torchmetrics.image.kid import poly_mmd

from beholder.distances.frechet import frechet_of_moments, frechet_value
from beholder.distances.frechet_infinity import frechet_by_size, subset_sizes
from beholder.distances.kernel import kernel_subsets
from beholder.distances.neighbours import neighbours

Features = NDArray[np.float32]

IMAGES, FEWER, MANY, PUBLISHED = 10_000, 5_000, 20_000, 50_000
FEW_NEIGHBOURS = 8_000


class AsGiven(torch.nn.Module):
    """A network that returns its input features unchanged."""

    def __init__(self, dims: int) -> None:
        super().__init__()
        self.num_features = dims

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        return features


class Stored:
    """Means and covariances of two sets, such as others publish, and their distance by ours and by other tools."""

    def __init__(self, real: Features, generated: Features) -> None:
        self.moments = [
            each
            for features in (real, generated)
            for each in (features.mean(axis=0), np.cov(features, rowvar=False))
        ]
        self.tensors = [torch.from_numpy(each.astype(np.float64)) for each in self.moments]

    def ours(self) -> float:
        return frechet_of_moments(*self.moments)

    def torchmetrics(self) -> float:
        return float(_compute_fid(*self.tensors))

    def torch_fidelity(self) -> object:
        real, generated = ({"mu": self.moments[at], "sigma": self.moments[at + 1]} for at in (0, 2))
        return fid_statistics_to_metric(real, generated, verbose=False)

    def clean_fid(self) -> float:
        return float(frechet_distance(*self.moments))


def comparisons() -> Iterator[Comparison]:
    """Return the rows: correlated features, as networks output them, in single precision for all tools."""
    for dims, turns in ((2048, 3), (1024, 3)):
        real, generated = two_sets(IMAGES, dims)
        stored = Stored(real, generated)
        task = f"Fréchet distance of stored means and covariances, {dims:,} dims"
        yield Comparison(task, stored.ours, stored.torchmetrics, "torchmetrics", turns)
        yield Comparison(task, stored.ours, stored.torch_fidelity, "torch-fidelity", turns)
        yield Comparison(task, stored.ours, stored.clean_fid, "clean-fid", 1)
        task = f"Fréchet distance, {dims:,} dims, {IMAGES:,} images a side"
        yield from _from_features(task, real, generated, turns)
    yield from _from_features("Fréchet distance, 2,048 dims, 1,000 images a side", *two_sets(1000, 2048), 1)
    for images in (MANY, PUBLISHED):  # 50,000 is what FD∞ was published with
        yield from _at_all_sizes(*two_sets(images, 1024))
    yield from _kernels(*two_sets(FEWER, 2048))
    for images in (FEW_NEIGHBOURS, MANY):
        real, generated = two_sets(images, 1024)
        task = f"precision, recall, density, coverage (ours: and authenticity), 1,024 dims, {images:,} a side"
        yield Comparison(task, partial(neighbours, real, generated), partial(_prdc, real, generated), "prdc", 1)


def _from_features(task: str, real: Features, generated: Features, turns: int) -> Iterator[Comparison]:
    ours = partial(frechet_value, real, generated)
    yield Comparison(task, ours, partial(_torchmetrics_fid, real, generated), "torchmetrics", turns)
    yield Comparison(task, ours, partial(_torch_fidelity_fid, real, generated), "torch-fidelity", turns)
    yield Comparison(task, ours, partial(fid_from_feats, real, generated), "clean-fid", 1)


def _at_all_sizes(real: Features, generated: Features) -> Iterator[Comparison]:
    sizes = subset_sizes(len(generated))
    ours = partial(frechet_by_size, real, generated, sizes)

    def one_by_one(distance: Callable[[Features, Features], float]) -> Callable[[], object]:
        return lambda: [distance(real, generated[:size]) for size in sizes]

    task = f"FD at 15 sizes for FD∞, 1,024 dims, {len(generated):,} images a side; 15 separate ones"
    yield Comparison(task, ours, one_by_one(_torchmetrics_fid), "torchmetrics", 1)
    yield Comparison(task, ours, one_by_one(_torch_fidelity_fid), "torch-fidelity", 1)
    yield Comparison(f"{task} of ours", ours, one_by_one(frechet_value), "beholder", 1)


def _kernels(real: Features, generated: Features) -> Iterator[Comparison]:
    def ours() -> object:
        return kernel_subsets(real, generated, rng=np.random.default_rng(0))

    task = f"kernel distance, 100 subsets of 1,000, 2,048 dims, {len(real):,} images a side"
    yield Comparison(task, ours, partial(_torchmetrics_kid, real, generated), "torchmetrics", 1)
    yield Comparison(task, ours, partial(_torch_fidelity_kid, real, generated), "torch-fidelity", 1)


def two_sets(images: int, dims: int) -> tuple[Features, Features]:
    """Return features with decaying variances, as those of networks, and a second, slightly shifted set."""
    rng = np.random.default_rng(dims)
    scale = (1 + np.arange(dims)) ** -0.5
    mixing = rng.standard_normal((dims, dims), np.float32) / np.float32(np.sqrt(dims))
    real = (rng.standard_normal((images, dims)) * scale).astype(np.float32) @ mixing
    generated = (rng.standard_normal((images, dims)) * scale * 1.1 + 0.02).astype(np.float32) @ mixing
    return real, generated


def _torchmetrics_fid(real: Features, generated: Features) -> float:
    metric = FrechetInceptionDistance(feature=AsGiven(real.shape[1]))
    metric.update(torch.from_numpy(real), real=True)
    metric.update(torch.from_numpy(generated), real=False)
    return float(metric.compute())


def _torch_fidelity_fid(real: Features, generated: Features) -> float:
    real_statistics, generated_statistics = (
        fid_features_to_statistics(torch.from_numpy(each)) for each in (real, generated)
    )
    return float(
        fid_statistics_to_metric(real_statistics, generated_statistics, verbose=False)[
            "frechet_inception_distance"
        ]
    )


def _torch_fidelity_kid(real: Features, generated: Features) -> object:
    settings = {**DEFAULTS, "rng_seed": 0, "verbose": False}
    return kid_features_to_metric(torch.from_numpy(real), torch.from_numpy(generated), **settings)


def _torchmetrics_kid(real: Features, generated: Features) -> float:
    rng = np.random.default_rng(0)
    x, y = torch.from_numpy(real), torch.from_numpy(generated)
    subset_values = [
        poly_mmd(x[rng.permutation(len(x))[:1000]], y[rng.permutation(len(y))[:1000]]) for _ in range(100)
    ]
    return float(torch.stack(subset_values).mean())


def _prdc(real: Features, generated: Features) -> object:
    with contextlib.redirect_stdout(io.StringIO()):
        return prdc.compute_prdc(real, generated, nearest_k=5)


def main() -> None:
    chosen = [int(number) for number in sys.argv[1:]]
    for number, row in enumerate(comparisons()):
        if chosen and number not in chosen:
            continue
        times = [(_processor_seconds(row.ours), _processor_seconds(row.peer)) for _ in range(row.turns)]
        ours, theirs = (statistics.median(each) for each in zip(*times, strict=True))
        ratios = sorted(peer / own for own, peer in times)
        between = f"{ratios[0]:.1f}–{ratios[-1]:.1f}" if len(ratios) > 1 else f"{ratios[0]:.1f}"
        print(f"| {number} | {row.task} | {row.package} | {ours:.2f} | {theirs:.2f} | {between} × |", flush=True)


def _processor_seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


if __name__ == "__main__":
    main()
