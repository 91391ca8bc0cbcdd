"""The Ray engine against one process: equal bytes, throughput, overhead, killed workers, memory of the driver.

python benchmarks/engine.py prepare IMAGES FOLDER    # 5,000 pictures: those in IMAGES, and smaller copies of them
python benchmarks/engine.py equal FOLDER             # scores, features and FD by Ray and by one process
python benchmarks/engine.py throughput FOLDER        # one process, one worker, two workers; needs two idle cores
python benchmarks/engine.py kills FOLDER             # ten workers are killed at random moments
python benchmarks/engine.py memory FOLDER            # peak memory of the driver at 5,000 and 200,000 tiny images
"""

import os
import random
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image

from beholder.distances.frechet import frechet
from beholder.distances.shards.encode import encode_in_shards
from beholder.distances.shards.frechet import frechet_of_shards
from beholder.engines.engine import Engine, LocalEngine, open_engine
from beholder.images.sources import ImageSource, find_images, read_pixels
from beholder.models.encoders.catalogue import load_encoder
from beholder.models.encoders.named import NamedEncoder
from beholder.scorers.catalogue import load_scorer
from beholder.scorers.score import score
from beholder.scorers.shards.in_shards import SHARD, Judges, score_in_shards

PICTURES, TIMED, KILLS = 5_000, 6 * SHARD, 10
SCORERS, ENCODER = ("sharpness", "colourfulness"), "efficientnet-lite0"
MEMORY_SIZES, A_TAR = (5_000, 200_000), 10_000


def main() -> None:
    match sys.argv[1:]:
        case ["prepare", origin, folder]:
            prepare(Path(origin), Path(folder))
        case ["memory", folder]:
            memory(Path(folder))
        case ["driver", folder, number]:
            print(driver_memory(Path(folder), int(number)))
        case [("equal" | "throughput" | "kills") as name, folder]:
            {"equal": equal_bytes, "throughput": throughput, "kills": kills}[name](find_images(folder))
        case _:
            sys.exit(__doc__)


def prepare(images: Path, folder: Path) -> None:
    """Write the pictures as they are, then copies at half, a third … of their size."""
    folder.mkdir(parents=True)
    pictures = find_images(images)
    for place in range(PICTURES):
        source, smaller = pictures[place % len(pictures)], 1 + place // len(pictures)
        content = source.load()[1]
        path = folder / f"{place:05d}{Path(source.name).suffix}"
        if smaller == 1 and isinstance(content, bytes):
            path.write_bytes(content)
            continue
        picture = read_pixels(content)
        size = (picture.width // smaller, picture.height // smaller)
        picture.resize(size).save(path.with_suffix(".png"), compress_level=1)


def equal_bytes(images: list[ImageSource]) -> None:
    prompts = [None] * len(images)
    direct = score(images, prompts, [load_scorer(name) for name in SCORERS], encoders=[load_encoder(ENCODER)])
    vectors = np.asarray(direct.features[0].vectors)
    with tempfile.TemporaryDirectory() as room, open_engine("ray", workers=2) as engine:
        scores = score_in_shards(engine, images, prompts, Judges(scorers=SCORERS))
        encoded = encode_in_shards(engine, images, NamedEncoder(ENCODER), Path(room))
        sharded = np.concatenate([file() for file in encoded.files])
        half = len(encoded.files) // 2
        by_ray = frechet_of_shards(encoded.files[:half], encoded.files[half:], each=engine.map)
        here = frechet_of_shards(encoded.files[:half], encoded.files[half:])
    same = all(scores.values[name].tobytes() == direct.values[name].tobytes() for name in SCORERS)
    print(f"{len(images):,} images: scores equal to the byte: {same}")
    differing = (sharded != vectors).any(axis=1).sum()
    largest = np.abs(sharded - vectors).max()
    print(f"features equal to the byte: {differing == 0} ({differing} images differ, by at most {largest:.2g})")
    whole = frechet(vectors[: half * SHARD], vectors[half * SHARD :])
    print(f"FD by Ray equal to the byte to that of the shards in one process: {by_ray == here}")
    print(f"FD of shards {here.value!r}, of the sets {whole.value!r}")


def throughput(images: list[ImageSource]) -> None:
    timed = images[:TIMED]
    rates: dict[str, float] = {"one process": _rate(LocalEngine(), timed)}
    for workers in (1, 2):
        with open_engine("ray", workers=workers) as engine:
            _rate(engine, images[-workers * SHARD :])  # every worker loads the network
            rates[f"ray, {workers}"] = _rate(engine, timed)
    for name, rate in rates.items():
        print(f"{name}: {rate:.1f} images/s")
    print(f"two workers ÷ one: {rates['ray, 2'] / rates['ray, 1']:.2f}")
    print(f"overhead of the engine: {rates['one process'] / rates['ray, 1'] - 1:.1%}")


def _rate(engine: Engine, images: list[ImageSource]) -> float:
    with tempfile.TemporaryDirectory() as room:
        began = time.perf_counter()
        encode_in_shards(engine, images, NamedEncoder(ENCODER), Path(room))
        return len(images) / (time.perf_counter() - began)


def kills(images: list[ImageSource]) -> None:
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
    parents: dict[int, int] = {}
    names: dict[int, str] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            parents[int(folder.name)] = int(fields[1])
            names[int(folder.name)] = (folder / "cmdline").read_text()
        except OSError:
            continue  # it has ended meanwhile

    def is_below(process: int) -> bool:
        return process == os.getpid() or (process in parents and is_below(parents[process]))

    return sorted(pid for pid, name in names.items() if name.startswith("ray::_applied") and is_below(pid))


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
    peaks = []
    for number in MEMORY_SIZES:
        command = [sys.executable, __file__, "driver", str(folder), str(number)]
        done = subprocess.run(command, check=True, capture_output=True)
        peaks.append(float(done.stdout))
        print(f"driver at {number:,} synthetic images: {peaks[-1]:.0f} MB", flush=True)
    print(f"growth: {peaks[1] / peaks[0] - 1:.1%}")


def driver_memory(folder: Path, number: int) -> float:
    """Return the most memory in MB that this process had; its own, not that of what started it."""
    images = find_images(*sorted(folder.glob("*.tar")))[:number]
    with open_engine("ray", workers=2) as engine:
        scores = score_in_shards(engine, images, [None] * number, Judges(scorers=("brightness",)))
    assert len(scores.names) == number
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM"))


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
