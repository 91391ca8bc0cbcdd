"""From a folder of JPEGs to features with one network, by three tools: ``python benchmarks/folder.py FOLDER``.

The network is Inception-v3 as FID has it, with random weights, the same for all. The bare forward takes images
that were decoded and prepared beforehand. Prints processor time, by turns, after a first turn to warm up; set
``OMP_NUM_THREADS=1`` on a busy machine.
"""

import argparse
import contextlib
import io
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import peers  # noqa: F401 - makes the next imports possible
import torch
from cleanfid.fid import get_folder_features
from equality import random_state
from torch_fidelity.defaults import DEFAULTS
from torch_fidelity.feature_extractor_inceptionv3 import FeatureExtractorInceptionV3
from torch_fidelity.utils import extract_featuresdict_from_input_id

from beholder.models.allocator import keep_freed_memory
from beholder.models.catalogue import load_encoder
from beholder.models.decode import decode
from beholder.models.encode import encode
from beholder.models.encoder import BATCH
from beholder.models.inception import FidInception
from beholder.models.pictures import find_pictures

CPU = torch.device("cpu")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--images", type=int, default=5000)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--workers", type=int, default=None, help="threads of ours; all cores by default")
    arguments = parser.parse_args()
    keep_freed_memory()
    with tempfile.TemporaryDirectory() as room:
        files = sorted(arguments.folder.glob("*.jpg"))[: arguments.images]
        folder, weights = Path(room) / "images", Path(room) / "random.pth"
        folder.mkdir()
        for file in files:
            (folder / file.name).symlink_to(file.resolve())
        torch.save(random_state(), weights)
        _by_turns(_ways(folder, weights, arguments.workers), arguments.turns, len(files))


def _ways(folder: Path, weights: Path, workers: int | None) -> dict[str, Callable[[], object]]:
    ours = load_encoder("inception-v3-clean", weights)
    network = FidInception(scores=False).eval()
    state = {name: one for name, one in torch.load(weights).items() if not name.startswith("fc.")}
    network.load_state_dict(state, strict=False)
    theirs = FeatureExtractorInceptionV3("v3", ["2048"], feature_extractor_weights_path=str(weights))
    files = sorted(folder.iterdir())
    prepared = [ours.preprocessing.prepare(decode(file.read_bytes())) for file in files]
    stacks = [np.stack(prepared[at : at + BATCH]) for at in range(0, len(prepared), BATCH)]
    settings = {**DEFAULTS, "input1": str(folder), "cuda": False, "verbose": False, "batch_size": BATCH}

    def clean(images: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = network((images - 128) / 128)
        return found

    def clean_fid() -> object:
        with contextlib.redirect_stdout(io.StringIO()):
            return get_folder_features(
                str(folder), model=clean, num_workers=0, batch_size=BATCH, device=CPU, verbose=False
            )

    return {
        "bare forward": lambda: [ours.network(stack) for stack in stacks],
        "beholder": lambda: encode(find_pictures(folder), ours, workers=workers),
        "clean-fid": clean_fid,
        "torch-fidelity": partial(extract_featuresdict_from_input_id, 1, theirs, **settings),
    }


def _by_turns(ways: dict[str, Callable[[], object]], turns: int, images: int) -> None:
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(turns + 1):
        for name, way in ways.items():
            began = time.process_time()
            way()
            if turn:
                taken[name].append(time.process_time() - began)
    print("| way | processor time an image | ÷ bare forward (range) |\n|---|---|---|")
    for name, seconds in taken.items():
        ratios = sorted(one / bare for one, bare in zip(seconds, taken["bare forward"], strict=True))
        each = 1000 * statistics.median(seconds) / images
        middle = f"{statistics.median(ratios):.2f} ({ratios[0]:.2f}–{ratios[-1]:.2f})"
        print(f"| {name} | {each:.0f} ms | {middle} |")


if __name__ == "__main__":
    main()
