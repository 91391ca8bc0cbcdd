"""The Ray engine against one process: equal bytes, throughput, overhead, killed workers, memory of the driver.

python benchmarks/engine.py prepare IMAGES FOLDER    # 5,000 pictures: those in IMAGES, then CIFAR-10's test images
python benchmarks/engine.py equal FOLDER             # scores and features by Ray and by one process
python benchmarks/engine.py commands FOLDER          # what beholder distance prints with Ray and without
python benchmarks/engine.py throughput FOLDER        # one worker and two; needs two idle cores
python benchmarks/engine.py overhead FOLDER          # one process and one worker with all of Ray on the same core
python benchmarks/engine.py kills FOLDER             # ten workers are killed at random moments
python benchmarks/engine.py memory TARS              # peak memory of the driver at 5,000 and 200,000 tiny images
"""

import json
import os
import random
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
from collections.abc import Sequence
from contextlib import redirect_stdout
from io import BytesIO, StringIO
from pathlib import Path

import numpy as np
from cifar_features import CACHE
from cifar_images import load
from engine_memory import A_TAR
from engine_run import ENCODER, below, spend
from PIL import Image

from beholder.cli.main import main as command_line
from beholder.distances.catalogue import Sets, compute_distances
from beholder.distances.shards.encode import encode_in_shards
from beholder.engines.engine import LocalEngine, open_engine
from beholder.images.sources import ImageSource, find_images
from beholder.models.encoders.catalogue import load_encoder
from beholder.models.encoders.encode import encode
from beholder.models.encoders.named import NamedEncoder
from beholder.scorers.catalogue import load_scorer
from beholder.scorers.score import score
from beholder.scorers.shards.in_shards import SHARD, Judges, score_in_shards

PICTURES, KILLS = 5_000, 10

SCORERS = ("sharpness", "colourfulness")
METRICS = ("frechet", "frechet_infinity", "kernel", "precision", "recall", "density", "coverage")
HALF = 19  # shards of the first of two sets
MEMORY, MEMORY_SIZES = Path(__file__).with_name("engine_memory.py"), (5_000, 200_000)


def main() -> None:
    match sys.argv[1:]:
        case ["prepare", origin, folder]:
            prepare(Path(origin), Path(folder))
        case ["memory", folder]:
            memory(Path(folder))
        case ["commands", folder]:
            equal_commands(Path(folder).resolve())
        case [("throughput" | "overhead") as name, folder]:
            {"throughput": throughput, "overhead": overhead}[name](Path(folder))
        case [("equal" | "kills") as name, folder]:
            {"equal": equal_bytes, "kills": kills}[name](find_images(folder))
        case _:
            sys.exit(__doc__)


def prepare(images: Path, folder: Path) -> None:
    """Write the distinct pictures as they are, then as many of CIFAR-10's test images as are lacking."""
    folder.mkdir(parents=True)
    files = [(source.name, source.load()[1]) for source in find_images(images)]
    distinct = {content: name for name, content in reversed(files) if isinstance(content, bytes)}
    pictures = sorted((name, content) for content, name in distinct.items())[:PICTURES]
    for place, (name, content) in enumerate(pictures):
        (folder / f"{place:05d}{Path(name).suffix}").write_bytes(content)
    small = load(CACHE, "test", PICTURES - len(pictures)).images
    for place, pixels in enumerate(small, start=len(pictures)):
        Image.fromarray(pixels).save(folder / f"{place:05d}.png")
    print(f"{len(pictures):,} of {images.name}, {len(small):,} of CIFAR-10")


def equal_bytes(images: Sequence[ImageSource]) -> None:
    prompts = [None] * len(images)
    direct = score(images, prompts, [load_scorer(name) for name in SCORERS], encoders=[load_encoder(ENCODER)])
    vectors = np.asarray(direct.features[0].vectors)
    with tempfile.TemporaryDirectory() as room, open_engine("ray", workers=2) as engine:
        scores = score_in_shards(engine, images, prompts, Judges(scorers=SCORERS))
        encoded = encode_in_shards(engine, images, NamedEncoder(ENCODER), Path(room))
        sharded = np.concatenate([shard() for shard in encoded.shards])
    same = all(scores.values[name].tobytes() == direct.values[name].tobytes() for name in SCORERS)
    print(f"{len(images):,} images: scores equal to the byte: {same}")
    differing = (sharded != vectors).any(axis=1).sum()
    largest = np.abs(sharded - vectors).max()
    print(f"features equal to the byte: {differing == 0} ({differing} images differ, by at most {largest:.2g})")


def equal_commands(folder: Path) -> None:
    """Compare what ``beholder distance`` prints of the first images and the others, and the sets at once."""
    metrics = [word for name in METRICS for word in ("--metric", name)]
    with tempfile.TemporaryDirectory() as room:
        sets = [Path(room) / name for name in ("first", "others")]
        images = sorted(folder.iterdir())
        for half, files in zip(sets, (images[: HALF * SHARD], images[HALF * SHARD :]), strict=True):
            half.mkdir()
            for file in files:
                (half / file.name).symlink_to(file)
        printed = []
        for name in ("local", "ray"):
            output = StringIO()
            options = ["--encoder", ENCODER, "--features", f"{room}/{name}", "--engine", name, "--json"]
            with redirect_stdout(output):
                assert command_line(["distance", *map(str, sets), *metrics, *options]) == 0
            printed.append(output.getvalue())
        figures = {row["name"]: row["value"] for row in json.loads(printed[0])}
        vectors = [encode(find_images(half), load_encoder(ENCODER), folder=Path(room) / "local") for half in sets]
        real, generated = (np.asarray(each.vectors) for each in vectors)
        at_once = compute_distances(list(METRICS), Sets(real, generated))
    print(f"by Ray and in one process the same is printed, to the byte: {printed[0] == printed[1]}")
    for name, figure in figures.items():
        print(f"{name}: {figure!r}, of the sets at once {at_once[name].value!r}")


def throughput(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as room:
        one, two = (spend("ray", workers, folder, Path(room) / str(workers)) for workers in (1, 2))
    print(f"ray, 1 worker: {one}\nray, 2 workers: {two}\ntwo workers ÷ one: {one.work / two.work:.2f}")


def overhead(folder: Path) -> None:
    """Pin this process, and with it all that it starts, to one core; compare what was written, too."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as room:
        rooms = Path(room) / "local", Path(room) / "ray"
        local, one = (spend(name, 1, folder, each) for name, each in zip(("local", "ray"), rooms, strict=True))
        files = [{file.name: file.read_bytes() for file in each.iterdir()} for each in rooms]
    print(f"one process: {local}\nray, 1 worker: {one}")
    print(
        f"overhead of the engine in seconds: {one.work / local.work - 1:.1%}, with start and end of both ", end=""
    )
    print(f"{one.total / local.total - 1:.1%}; ", end="")
    print(f"in processor time: {one.processor / local.processor - 1:.1%}")
    print(f"{len(files[0])} files of features, equal to the byte: {files[0] == files[1]}")


def kills(images: Sequence[ImageSource]) -> None:
    """Score all pictures while workers are killed, again and again until ten were."""
    rng, ended, killed = random.Random(0), threading.Event(), list[int]()

    def kill() -> None:
        while len(killed) < KILLS and not ended.wait(rng.uniform(0.5, 2.0)):
            workers = own_workers()
            if workers:
                victim = rng.choice(workers)
                os.kill(victim, signal.SIGKILL)
                killed.append(victim)

    prompts, judges, runs = [None] * len(images), Judges(scorers=SCORERS), list[bool]()
    direct = score_in_shards(LocalEngine(), images, prompts, judges)
    with open_engine("ray", workers=2) as engine:
        killer = threading.Thread(target=kill)
        killer.start()
        while len(killed) < KILLS:
            scores = score_in_shards(engine, images, prompts, judges)
            same = all(scores.values[name].tobytes() == direct.values[name].tobytes() for name in SCORERS)
            runs.append(same and scores.names == direct.names)
        ended.set()
        killer.join()
    print(f"{len(killed)} workers killed in {len(runs)} runs of {len(images):,} images; nothing lost: {all(runs)}")


def own_workers() -> list[int]:
    """Return the processes below this one that work on a part of Ray's."""
    return sorted(pid for pid, command in below().items() if command.startswith("ray::_applied"))


def memory(folder: Path) -> None:
    """Score tiny images in tar files by a driver of its own for each size."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    for number in range(0, max(MEMORY_SIZES), A_TAR):
        path = folder / f"{number:06d}.tar"
        if not path.exists():
            with tarfile.open(path, "w") as archive:
                for place in range(number, number + A_TAR):
                    file = BytesIO()
                    Image.fromarray(rng.integers(0, 256, (8, 8, 3), np.uint8)).save(file, "png")
                    member = tarfile.TarInfo(f"{place:06d}.png")
                    member.size = file.tell()
                    file.seek(0)
                    archive.addfile(member, file)
    for name in ("driver", "command", "table"):
        peaks = []
        for number in MEMORY_SIZES:
            command = [sys.executable, str(MEMORY), name, str(folder), str(number)]
            done = subprocess.run(command, check=True, capture_output=True)
            peaks.append(float(done.stdout.split()[-1]))
            print(f"{name} at {number:,} synthetic images: {peaks[-1]:.1f} MB", flush=True)
        each = (peaks[1] - peaks[0]) * 2**20 / (MEMORY_SIZES[1] - MEMORY_SIZES[0])
        print(f"growth: {peaks[1] / peaks[0] - 1:.1%}, {each:.0f} bytes per image")


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("RAY_worker_niceness", "0")  # else workers stand back behind this process
    main()
