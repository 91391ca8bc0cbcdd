"""From a folder of JPEGs to features with one network, by three tools: ``python benchmarks/folder.py FOLDER``.

The network is Inception-v3 as FID has it, with random weights, the same for all. The bare forward pass takes
batches that were decoded and preprocessed beforehand, one batch per core, which is how the network is fastest.
Ours and it alternate, after a few batches as a warm-up; then the other tools, which take longer, with fewer
images. Where the folder has too few JPEGs, they are repeated with an extra byte after their end: the same work,
but different content. Prints elapsed and CPU time per image.
"""

import argparse
import contextlib
import io
import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import peers  # noqa: F401 - makes the next imports possible
import torch
from cleanfid.fid import get_folder_features
from encoding import forward, prepared, time_alternately
from equality import random_state
from harness import Comparison
from torch_fidelity.defaults import DEFAULTS
from torch_fidelity.feature_extractor_inceptionv3 import FeatureExtractorInceptionV3
from torch_fidelity.utils import extract_featuresdict_from_input_id

from beholder.images.sources import find_images
from beholder.models.allocator import keep_freed_memory
from beholder.models.encoders.catalogue import load_encoder
from beholder.models.encoders.encode import encode
from beholder.models.encoders.encoder import BATCH, Encoder
from beholder.models.encoders.inception import FidInception

CPU = torch.device("cpu")
FEW = 64
SHARED = Path(os.environ.get("BEHOLDER_SHARED", "../shared"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--images", type=int, default=5000)
    parser.add_argument("--peer-images", type=int, default=256, help="for the peers; 0: without them")
    parser.add_argument("--turns", type=int, default=1)
    arguments = parser.parse_args()
    keep_freed_memory()
    files = sorted(arguments.folder.glob("*.jpg"))
    with tempfile.TemporaryDirectory() as folder_name:
        weights = Path(folder_name) / "random.pth"
        torch.save(random_state(), weights)
        ours = load_encoder("inception-v3-clean", weights)
        full, fewer = (
            _copied(files, Path(folder_name) / name, count)
            for name, count in (("whole", arguments.images), ("fewer", arguments.peer_images))
        )
        measured = _measured(_ours(ours, full), len(list(full.iterdir())), arguments.turns)
        if arguments.peer_images:
            measured |= _measured(_peers(fewer, weights), len(list(fewer.iterdir())), arguments.turns)
    print("| way | images | elapsed per image | CPU time per image | ÷ bare forward: elapsed, CPU |")
    print("|---|---|---|---|---|")
    bare = next(iter(measured.values()))
    for name, each in measured.items():
        ratio = f"{each.wall / bare.wall:.2f}, {each.cpu / bare.cpu:.2f}"
        print(f"| {name} | {each.images:,} | {each.wall:.1f} ms | {each.cpu:.1f} ms | {ratio} |")


def comparisons() -> Iterator[Comparison]:
    """A few images of AGIQA-3K, where they are: the whole way against the bare forward, and against the peers."""
    files = sorted((SHARED / "data" / "agiqa-3k" / "image").glob("*.jpg"))
    if not files:
        print(f"no JPEGs in {SHARED}: rows of folders are skipped", file=sys.stderr)
        return
    keep_freed_memory()
    with tempfile.TemporaryDirectory() as folder_name:
        weights = Path(folder_name) / "random.pth"
        torch.save(random_state(), weights)
        folder = _copied(files, Path(folder_name) / "images", FEW)
        bare, complete = _ours(load_encoder("inception-v3-clean", weights), folder).values()
        task = f"{FEW} JPEGs of 512² to features, Inception-v3"
        yield Comparison(f"{task}; against its bare forward", complete, bare, "torch", 3)
        for package, peer in _peers(folder, weights).items():
            yield Comparison(task, complete, peer, package, 1)


def _copied(files: list[Path], folder: Path, count: int) -> Path:
    folder.mkdir()
    for number in range(count):
        again, index = divmod(number, len(files))
        (folder / f"{number:05}.jpg").write_bytes(files[index].read_bytes() + bytes(again))
    return folder


@dataclass(frozen=True)
class EachImage:
    """Milliseconds per image, medians over the runs."""

    images: int
    wall: float
    cpu: float


def _measured(ways: dict[str, Callable[[], object]], images: int, turns: int) -> dict[str, EachImage]:
    run_times = time_alternately(ways, turns, warm=False)
    return {
        name: EachImage(
            images,
            1000 * statistics.median(run.wall for run in times) / images,
            1000 * statistics.median(run.cpu for run in times) / images,
        )
        for name, times in run_times.items()
    }


def _ours(ours: Encoder, folder: Path) -> dict[str, Callable[[], object]]:
    files = sorted(folder.iterdir())
    stacks = prepared(ours, files)
    cores = os.cpu_count() or 1
    forward(ours, stacks[: 2 * cores], cores)  # to warm up
    return {
        "bare forward": partial(forward, ours, stacks, cores),
        "beholder": lambda: encode(find_images(folder), ours),
    }


def _peers(folder: Path, weights: Path) -> dict[str, Callable[[], object]]:
    network = FidInception(scores=False).eval()
    state = {name: tensor for name, tensor in torch.load(weights).items() if not name.startswith("fc.")}
    network.load_state_dict(state, strict=False)
    theirs = FeatureExtractorInceptionV3("v3", ["2048"], feature_extractor_weights_path=str(weights))
    settings = {**DEFAULTS, "input1": str(folder), "cuda": False, "verbose": False, "batch_size": BATCH}

    def clean(images: torch.Tensor) -> torch.Tensor:
        features: torch.Tensor = network((images - 128) / 128)
        return features

    def clean_fid() -> object:
        with contextlib.redirect_stdout(io.StringIO()):
            return get_folder_features(
                str(folder), model=clean, num_workers=0, batch_size=BATCH, device=CPU, verbose=False
            )

    return {
        "clean-fid": clean_fid,
        "torch-fidelity": partial(extract_featuresdict_from_input_id, 1, theirs, **settings),
    }


if __name__ == "__main__":
    main()
