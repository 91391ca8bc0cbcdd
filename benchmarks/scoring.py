"""Scoring against the package of HPS v2, a plain loop and the bare network: ``python benchmarks/scoring.py``.

The package, hpsv2x, is called as its README does, with its ViT-H/14 replaced by a random ViT-B/32 that ours
loads from the same file; images and prompts are those of AGIQA-3K, or synthetic where it is not available.
Prints the rows, how far scores differ, and the peak memory at n and 4n images; ``docs/measured/scoring.md`` is a
saved run.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import torch
import transformers
from harness import Comparison
from PIL import Image

import beholder
from beholder.images.decode import decode, quiet_pillow
from beholder.images.in_order import batches, in_order
from beholder.models.allocator import keep_freed_memory
from beholder.models.encoders.encoder import BATCH
from beholder.models.encoders.torch_network import share_cores
from beholder.models.preference.open_clip_state import clip_config
from beholder.models.preference.published import load_published
from beholder.scorers.catalogue import load_scorer

SIZES: dict[str, dict[str, Any]] = {
    "ViT-S-32": {
        "embed_dim": 384,
        "vision_cfg": {"image_size": 224, "layers": 12, "width": 384, "patch_size": 32},
        "text_cfg": {"context_length": 77, "vocab_size": 49408, "width": 384, "heads": 6, "layers": 12},
    },
    "ViT-B-32": {
        "embed_dim": 512,
        "vision_cfg": {"image_size": 224, "layers": 12, "width": 768, "patch_size": 32},
        "text_cfg": {"context_length": 77, "vocab_size": 49408, "width": 512, "heads": 8, "layers": 12},
    },
    "ViT-B-16": {
        "embed_dim": 512,
        "vision_cfg": {"image_size": 224, "layers": 12, "width": 768, "patch_size": 16},
        "text_cfg": {"context_length": 77, "vocab_size": 49408, "width": 512, "heads": 8, "layers": 12},
    },
}
ONE_BY_ONE, LISTED, REPEATED, BARE = 8, 16, 16, 8
"""Images of each row."""

CHECKPOINT = "HPS_v2_compressed.pt"
ROOM = tempfile.TemporaryDirectory(prefix="scoring-")  # networks and synthetic images, gone with the process


def comparisons() -> Iterator[Comparison]:
    """The rows; the peer's network is made first, ours loads its file."""
    package = _package()
    files, prompts = _find_images(max(ONE_BY_ONE, LISTED, REPEATED, BARE))

    def ours(texts: list[str], folder: Path) -> object:
        named, weights = _fresh(texts), {"hps-v2": str(folder)}
        return beholder.score(images=files[: len(texts)], prompts=named, scorer="hps-v2", weights=weights)

    def theirs(images: str | list[str], text: str, folder: Path) -> object:
        package.put(folder)
        return package.score(images, text, cp=str(folder / CHECKPOINT))

    for name in ("ViT-S-32", "ViT-B-32"):
        folder = _network(name)
        yield Comparison(
            f"HPS v2 ({name}), {ONE_BY_ONE} images, each with its prompt: one call of ours, one each of theirs",
            lambda folder=folder: ours(prompts[:ONE_BY_ONE], folder),  # type: ignore[misc]
            lambda folder=folder: [  # type: ignore[misc]
                theirs(file, text, folder) for file, text in zip(files, _fresh(prompts[:ONE_BY_ONE]), strict=False)
            ],
            "hpsv2x",
            turns=3,
        )
    folder = _network("ViT-B-32")
    yield Comparison(
        f"HPS v2 (ViT-B-32), {LISTED} images of one prompt in a list",
        lambda: ours([prompts[0]] * LISTED, folder),
        lambda: theirs(files[:LISTED], _fresh(prompts[:1])[0], folder),
        "hpsv2x",
        turns=3,
    )
    few = [prompts[place % 4] for place in range(REPEATED)]
    yield Comparison(
        f"HPS v2 (ViT-B-32), {REPEATED} images, 4 prompts, against a plain loop of batches of 16",
        lambda: ours(few, folder),
        _plain_loop(folder, files[:REPEATED], few),
        "transformers",
        turns=3,
    )
    larger = _network("ViT-B-16")
    several = [prompts[place % 4] for place in range(BARE)]
    yield Comparison(
        f"HPS v2 (ViT-B-16), {BARE} JPEGs to scores, against the image tower alone on prepared arrays",
        lambda: ours(several, larger),
        _bare(larger, files[:BARE]),
        "torch",
        turns=3,
    )


_turns = count()


def _fresh(texts: list[str]) -> list[str]:
    """The same texts with a number that no earlier call had: what ours has read before does not help it."""
    turn = next(_turns)
    return [f"{text}, {turn}" for text in texts]


class _Package:
    """hpsv2x with the parts that a benchmark fills in."""

    def __init__(self) -> None:
        import_module("peers")  # makes torchvision known, and the packages that need it
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._module = import_module("hpsv2.img_score")
            transform = import_module("hpsv2.src.open_clip.transform")
        self.model_dict: dict[str, Any] = self._module.model_dict
        self._put: Path | None = None
        self.prepared: Any = transform.image_transform(224, is_train=False, resize_longest_max=True)

    def score(self, images: str | list[str], prompt: str, cp: str) -> list[float]:
        """As the README calls it, with a file for the checkpoint."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return [float(score) for score in self._module.score(images, prompt, cp=cp)]

    def put(self, folder: Path) -> None:
        """In place of its ViT-H/14, the network of a folder; its weights come with the call."""
        if self._put != folder:
            self._put = folder
            self.model_dict.update(model=self.network(SIZES[folder.name]), preprocess_val=self.prepared)

    def network(self, sizes: dict[str, Any]) -> torch.nn.Module:
        """The package's CLIP of these sizes, random."""
        parts = import_module("hpsv2.src.open_clip.model")
        network: torch.nn.Module = parts.CLIP(
            sizes["embed_dim"],
            parts.CLIPVisionCfg(**sizes["vision_cfg"]),
            parts.CLIPTextCfg(**sizes["text_cfg"]),
            output_dict=True,
        )
        return network.eval()


_packages: list[_Package] = []


def _package() -> _Package:
    if not _packages:
        _packages.append(_Package())
    return _packages[0]


def _network(name: str) -> Path:
    """A folder in the form of HPS v2 with a random network of the package."""
    folder = Path(ROOM.name) / name
    if not folder.exists():
        torch.manual_seed(0)
        network = _package().network(SIZES[name])
        folder.mkdir()
        torch.save({"state_dict": network.state_dict()}, folder / CHECKPOINT)
        (folder / "open_clip_config.json").write_text(json.dumps(SIZES[name]))
    return folder


def _find_images(count: int) -> tuple[list[str], list[str]]:
    """JPEG files and their prompts."""
    shared = Path(os.environ.get("BEHOLDER_SHARED", "../shared")) / "data" / "agiqa-3k"
    shared = shared.resolve()
    files = sorted(shared.rglob("*.jpg"))[:count]
    if len(files) == count:
        prompts = dict(pl.read_csv(shared / "data.csv").select("name", "prompt").iter_rows())
        return [str(file) for file in files], [str(prompts[file.name]) for file in files]
    rng = np.random.default_rng(0)
    for index in range(count):
        coarse = Image.fromarray(rng.integers(0, 256, (16, 16, 3), dtype=np.uint8))
        coarse.resize((512, 512), Image.Resampling.BICUBIC).save(Path(ROOM.name) / f"{index:03d}.jpg", quality=92)
    files = sorted(Path(ROOM.name).glob("*.jpg"))
    return [str(file) for file in files], [f"picture number {index} of a red cat" for index in range(count)]


def _plain_loop(folder: Path, files: list[str], prompts: list[str]) -> Callable[[], object]:
    """What one would write: batches of images and prompts through CLIP, the prompts padded to 77 tokens."""
    network, _ = load_published("hps-v2", str(folder))
    clip: Any = network.module
    processor = transformers.CLIPImageProcessorPil(
        size={"shortest_edge": 224}, crop_size={"height": 224, "width": 224}, resample=3
    )
    tokens = getattr(network, "_tokens")  # noqa: B009 - ours, so that both read the same numbers

    def run() -> object:
        scores, texts = [], _fresh(prompts)
        for start in range(0, len(files), BATCH):
            images = [Image.open(file).convert("RGB") for file in files[start : start + BATCH]]
            pixels = processor(images, return_tensors="pt")["pixel_values"]
            read = tokens(texts[start : start + BATCH])
            ids = torch.nn.functional.pad(read, (0, 77 - read.shape[1]))
            with torch.inference_mode():
                out = clip(input_ids=ids, pixel_values=pixels)
                scores.append((out.image_embeds * out.text_embeds).sum(dim=1))
        return torch.cat(scores)

    return run


def _bare(folder: Path, files: list[str]) -> Callable[[], object]:
    """The image tower alone on arrays prepared beforehand, a batch a core: the faster of the ways to run it."""
    network, _ = load_published("hps-v2", str(folder))
    with quiet_pillow():
        prepared = [network.preprocessing.prepare(decode(Path(file).read_bytes())) for file in files]
    cores = os.cpu_count() or 1
    size = min(BATCH, -(-len(files) // cores))
    stacks = [torch.from_numpy(np.stack(batch)) for batch in batches(prepared, size)]
    keep_freed_memory()

    def forward(batch: torch.Tensor) -> torch.Tensor:
        with torch.inference_mode():
            return network.encode_images(batch)

    def run() -> object:
        with share_cores(cores):
            return list(in_order(forward, stacks, cores))

    return run


def difference() -> str:
    """Compare our scores with the package's, with the same weights, and the variation between images."""
    package, folder = _package(), _network("ViT-B-32")
    package.put(folder)
    files, prompts = _find_images(LISTED)
    ours = beholder.score(images=files, prompts=prompts[0], scorer="hps-v2", weights=str(folder)).scores
    theirs = np.array(package.score(files, prompts[0], cp=str(folder / CHECKPOINT)))
    return (
        f"Scores of {LISTED} images: largest difference {np.abs(ours - theirs).max():.1e}, "
        f"standard deviation between images {theirs.std():.1e}, correlation {np.corrcoef(ours, theirs)[0, 1]:.6f}"
    )


def peak_memory(images: int) -> float:
    """Megabytes at the most in a process of its own that scores so many images (32 files, again and again)."""
    files, prompts = _find_images(32)
    code = f"import scoring; scoring.score_many({files!r}, {prompts!r}, {images})"
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(__file__).parent
    )
    return float(ran.stdout.split()[-1])


def score_many(files: list[str], prompts: list[str], images: int) -> None:
    """Score so many images by a small network, and print the process's peak memory in megabytes."""
    torch.manual_seed(0)
    small = {
        "embed_dim": 64,
        "vision_cfg": {"image_size": 224, "layers": 2, "width": 128, "patch_size": 32},
        "text_cfg": {"context_length": 77, "vocab_size": 49408, "width": 64, "heads": 2, "layers": 2},
    }
    folder = Path(ROOM.name)
    transformers.CLIPModel(transformers.CLIPConfig(**clip_config(small).model_dump())).save_pretrained(
        folder / "small"
    )
    scorer = load_scorer("pickscore", {"pickscore": str(folder / "small")})
    many = [files[index % len(files)] for index in range(images)]
    texts = [f"{prompts[index % len(prompts)]} {index}" for index in range(images)]  # every prompt another
    beholder.score(images=many, prompts=texts, scorer=scorer)
    status = Path("/proc/self/status").read_text()  # getrusage would tell of the process that started this one
    print(int(status.partition("VmHWM:")[2].split()[0]) / 1024)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="*", type=int, help="1 to 5, or 0 for what is no comparison; all by default")
    parser.add_argument("--cores", type=int, default=os.cpu_count(), help="for both sides; all by default")
    arguments = parser.parse_args()
    chosen = arguments.rows or [1, 2, 3, 4, 5, 0]
    torch.set_num_threads(arguments.cores)
    os.cpu_count = lambda: arguments.cores  # ours asks for it
    print(f"{arguments.cores} cores, torch {torch.__version__}, load {os.getloadavg()[0]:.0f}\n")
    print("| task | ours | peer's | ratio of elapsed time (range) | of CPU time (range) |\n|---|---|---|---|---|")
    for place, row in enumerate(comparisons(), 1):
        if place in chosen:
            print(_timed(row), flush=True)
    if 0 in chosen:
        print(f"\n{difference()}")
        for images in (500, 2000):
            print(f"peak memory, {images} images: {peak_memory(images):.0f} MB", flush=True)


def _timed(row: Comparison) -> str:
    """Return a row of the table: alternating runs after one warm-up of each, elapsed and CPU time."""
    ours, peers = [], []
    for turn in range(row.turns + 1):
        our_seconds, peer_seconds = _seconds(row.ours), _seconds(row.peer)
        if turn:
            ours.append(our_seconds)
            peers.append(peer_seconds)
    wall, cpu = (
        sorted(
            peer_seconds[kind] / our_seconds[kind] for our_seconds, peer_seconds in zip(ours, peers, strict=True)
        )
        for kind in (0, 1)
    )
    ratio_cells = [
        f"**{statistics.median(ratios):.2f} ×** ({ratios[0]:.2f}–{ratios[-1]:.2f})" for ratios in (wall, cpu)
    ]
    times = [f"{statistics.median(seconds[0] for seconds in side):.2f} s" for side in (ours, peers)]
    return f"| {row.task} | {times[0]} | {times[1]} | {ratio_cells[0]} | {ratio_cells[1]} |"


def _seconds(work: Callable[[], object]) -> tuple[float, float]:
    clock, cores = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - clock, time.process_time() - cores


if __name__ == "__main__":
    main()
