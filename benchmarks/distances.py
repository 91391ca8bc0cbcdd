"""Distances of two sets of features, against torchmetrics, prdc, and the formulas of torch-fidelity and clean-fid.

torch-fidelity and clean-fid do not import without torchvision, so their rows run the two lines that they spend
their time in: the covariance by NumPy, then the eigenvalues of the product, or SciPy's root of it.
"""

import contextlib
import io
from collections.abc import Callable, Iterator

import numpy as np
import prdc
import torch
from harness import Comparison
from numpy.typing import NDArray
from scipy import linalg
from torchmetrics.image.fid import FrechetInceptionDistance, _compute_fid
from torchmetrics.image.kid import poly_mmd

from beholder.measure.distances.frechet import frechet_of_moments, frechet_value
from beholder.measure.distances.frechet_infinity import frechet_by_size, subset_sizes
from beholder.measure.distances.kernel import kernel_subsets
from beholder.measure.distances.neighbours import neighbours

Features = NDArray[np.float32]

IMAGES, FEWER, MANY = 10_000, 5_000, 20_000


class AsGiven(torch.nn.Module):
    """A network that hands on the features it is given."""

    def __init__(self, dims: int) -> None:
        super().__init__()
        self.num_features = dims

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        return features


class Stored:
    """Means and covariances of two sets, such as others publish, and their distance by ours and by peers."""

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

    def fidelity(self) -> float:
        mean_one, one, mean_two, two = self.moments
        roots = np.sqrt(np.linalg.eigvals(one.dot(two)).astype(np.complex128)).real.sum()
        return float((mean_one - mean_two) @ (mean_one - mean_two) + np.trace(one) + np.trace(two) - 2 * roots)


def comparisons() -> Iterator[Comparison]:
    """Correlated features, as networks make them; both sides have them in single precision."""
    for dims, turns in ((2048, 1), (1024, 3)):
        real, generated = two_sets(IMAGES, dims)
        stored = Stored(real, generated)
        yield Comparison(
            f"Fréchet distance of stored means and covariances, {dims:,} dims",
            stored.ours,
            stored.torchmetrics,
            "torchmetrics",
            turns,
        )
        yield Comparison(
            f"the same, {dims:,} dims; eigenvalues of the product, as torch-fidelity",
            stored.ours,
            stored.fidelity,
            "numpy",
            turns,
        )
        task = f"Fréchet distance, {dims:,} dims, {IMAGES:,} images a side"
        ours = _frechet(real, generated)
        yield Comparison(task, ours, _torchmetrics_fid(real, generated), "torchmetrics", turns)
        yield Comparison(
            f"{task}; eigenvalues of the product, as torch-fidelity",
            ours,
            _by_eigenvalues(real, generated),
            "numpy",
            turns,
        )
    yield Comparison(f"{task}; scipy's sqrtm, as clean-fid", ours, _by_root(real, generated), "scipy", turns)
    few = two_sets(1000, 2048)
    yield Comparison(
        "Fréchet distance, 2,048 dims, 1,000 images a side",
        _frechet(*few),
        _torchmetrics_fid(*few),
        "torchmetrics",
        1,
    )

    many_real, many_generated = two_sets(MANY, 1024)
    sizes = subset_sizes(MANY)

    def all_sizes() -> object:
        return frechet_by_size(many_real, many_generated, sizes)

    def one_by_one() -> list[float]:
        return [frechet_value(many_real, many_generated[:size]) for size in sizes]

    def one_by_one_by_torchmetrics() -> None:
        for size in sizes:
            _torchmetrics_fid(many_real, many_generated[:size])()

    task = f"FD at 15 sizes for FD∞, 1,024 dims, {MANY:,} images a side"
    yield Comparison(f"{task}; 15 separate ones", all_sizes, one_by_one_by_torchmetrics, "torchmetrics", 1)
    yield Comparison(f"{task}; 15 separate ones of ours", all_sizes, one_by_one, "beholder", 1)

    real, generated = two_sets(FEWER, 2048)
    yield Comparison(
        f"kernel distance, 100 subsets of 1,000, 2,048 dims, {FEWER:,} images a side",
        lambda: kernel_subsets(real, generated, rng=np.random.default_rng(0)),
        lambda: _torchmetrics_kid(real, generated),
        "torchmetrics",
        2,
    )

    yield Comparison(
        f"precision, recall, density, coverage (ours: and authenticity), 1,024 dims, {MANY:,} a side",
        lambda: neighbours(many_real, many_generated),
        lambda: _prdc(many_real, many_generated),
        "prdc",
        1,
    )


def two_sets(images: int, dims: int) -> tuple[Features, Features]:
    """Features whose variances fall off, as those of networks do, and a second set a little aside."""
    rng = np.random.default_rng(dims)
    scale = (1 + np.arange(dims)) ** -0.5
    mixing = rng.standard_normal((dims, dims), np.float32) / np.float32(np.sqrt(dims))
    real = (rng.standard_normal((images, dims)) * scale).astype(np.float32) @ mixing
    generated = (rng.standard_normal((images, dims)) * scale * 1.1 + 0.02).astype(np.float32) @ mixing
    return real, generated


def _frechet(real: Features, generated: Features) -> Callable[[], float]:
    return lambda: frechet_value(real, generated)


def _torchmetrics_fid(real: Features, generated: Features) -> Callable[[], float]:
    def run() -> float:
        metric = FrechetInceptionDistance(feature=AsGiven(real.shape[1]))
        metric.update(torch.from_numpy(real), real=True)
        metric.update(torch.from_numpy(generated), real=False)
        return float(metric.compute())

    return run


def _by_eigenvalues(real: Features, generated: Features) -> Callable[[], float]:
    def run() -> float:
        one, two = np.cov(real, rowvar=False), np.cov(generated, rowvar=False)
        shift = real.mean(axis=0) - generated.mean(axis=0)
        roots = np.sqrt(np.linalg.eigvals(one.dot(two)).astype(np.complex128)).real.sum()
        return float(shift @ shift + np.trace(one) + np.trace(two) - 2 * roots)

    return run


def _by_root(real: Features, generated: Features) -> Callable[[], float]:
    def run() -> float:
        one, two = np.cov(real, rowvar=False), np.cov(generated, rowvar=False)
        shift = real.mean(axis=0) - generated.mean(axis=0)
        root = linalg.sqrtm(one.dot(two)).real
        return float(shift @ shift + np.trace(one) + np.trace(two) - 2 * np.trace(root))

    return run


def _torchmetrics_kid(real: Features, generated: Features) -> float:
    rng = np.random.default_rng(0)
    one, two = torch.from_numpy(real), torch.from_numpy(generated)
    drawn = [
        poly_mmd(one[rng.permutation(len(one))[:1000]], two[rng.permutation(len(two))[:1000]]) for _ in range(100)
    ]
    return float(torch.stack(drawn).mean())


def _prdc(real: Features, generated: Features) -> object:
    with contextlib.redirect_stdout(io.StringIO()):
        return prdc.compute_prdc(real, generated, nearest_k=5)
