"""The Ray engine against one process: equal bytes, throughput, overhead, killed workers, memory of the driver.

python benchmarks/engine.py prepare IMAGES FOLDER   # 5,000 pictures: those in IMAGES, and smaller copies
python benchmarks/engine.py FOLDER                  # all measurements, as lines of text
python benchmarks/engine.py memory NUMBER           # peak memory of the driver, in MB

The pictures of the table are AGIQA-3K's 2,982 and copies of the first 2,018 at half their size.
"""

import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from beholder.distances.frechet import frechet
from beholder.distances.shards.encode import encode_in_shards
from beholder.distances.shards.frechet import frechet_of_shards
from beholder.engines.engine import Engine, LocalEngine, open_engine
from beholder.images.sources import ImageSource, find_images
from beholder.models.encoders.catalogue import load_encoder
from beholder.models.encoders.named import NamedEncoder
from beholder.scorers.catalogue import load_scorer
from beholder.scorers.score import score
from beholder.scorers.shards.in_shards import SHARD, Judges, score_in_shards

PICTURES, TIMED, KILLS = 5_000, 2_048, 10
SCORERS, ENCODER = ("sharpness", "colourfulness"), "efficientnet-lite0"


def main() -> None:
    match sys.argv[1:]:
        case ["prepare", origin, folder]:
            prepare(Path(origin), Path(folder))
        case ["memory", number]:
            print(f"{driver_memory(int(number)):.0f}")
        case [folder]:
            images = find_images(folder)
            equal_bytes(images)
            throughput(images[:TIMED])
            kills()
            memory()
        case _:
            sys.exit(__doc__)


def prepare(images: Path, folder: Path) -> None:
    folder.mkdir(parents=True)
    pictures = find_images(str(images))
    for place in range(PICTURES):
        source = pictures[place % len(pictures)]
        content = source.load()[1]
        path = folder / f"{place:05d}.png"
        if place < len(pictures) and isinstance(content, bytes):
            path.with_suffix(Path(source.name).suffix or ".png").write_bytes(content)
            continue
        with tempfile.NamedTemporaryFile() as file:
            file.write(content if isinstance(content, bytes) else b"")
            file.flush()
            picture = Image.open(file.name).convert("RGB")
            picture.resize((picture.width // 2, picture.height // 2)).save(path, compress_level=1)


def equal_bytes(images: list[ImageSource]) -> None:
    prompts = [None] * len(images)
    direct = score(images, prompts, [load_scorer(name) for name in SCORERS], encoders=[load_encoder(ENCODER)])
    vectors = direct.features[0].vectors
    with tempfile.TemporaryDirectory() as room, open_engine("ray", workers=2) as engine:
        scores = score_in_shards(engine, images, prompts, Judges(scorers=SCORERS))
        encoded = encode_in_shards(engine, images, NamedEncoder(ENCODER), Path(room))
        sharded = np.concatenate([file() for file in encoded.files])
        half = len(encoded.files) // 2
        by_ray = frechet_of_shards(encoded.files[:half], encoded.files[half:], each=engine.map)
        here = frechet_of_shards(encoded.files[:half], encoded.files[half:])
    same = all(scores.values[name].tobytes() == direct.values[name].tobytes() for name in SCORERS)
    alike = sharded.tobytes() == vectors.tobytes()
    print(f"{len(images)} images: scores equal to the byte: {same}; features: {alike}")
    whole = frechet(vectors[: half * SHARD], vectors[half * SHARD :])
    print(f"FD by Ray equal to the byte to that by one process: {by_ray == here}; whole sets {whole}, {here}")


def throughput(images: list[ImageSource]) -> None:
    rates: dict[str, float] = {"one process": _rate(LocalEngine(), images)}
    for workers in (1, 2):
        with open_engine("ray", workers=workers) as engine:
            _rate(engine, images[: 2 * SHARD])  # every worker loads the network
            rates[f"ray, {workers}"] = _rate(engine, images)
    for name, rate in rates.items():
        print(f"{name}: {rate:.1f} images/s")
    print(f"two workers ÷ one: {rates['ray, 2'] / rates['ray, 1']:.2f}")
    print(f"overhead of the engine: {rates['one process'] / rates['ray, 1'] - 1:.1%}")


def _rate(engine: Engine, images: list[ImageSource]) -> float:
    with tempfile.TemporaryDirectory() as room:
        began = time.perf_counter()
        encode_in_shards(engine, images, NamedEncoder(ENCODER), Path(room))
        return len(images) / (time.perf_counter() - began)


def slow(number: int) -> tuple[int, int]:
    time.sleep(0.2)
    return number, os.getpid()


def kills() -> None:
    rng, workers, ended, killed = random.Random(0), list[int](), threading.Event(), list[int]()

    def kill() -> None:
        while len(killed) < KILLS and not ended.wait(rng.uniform(0.5, 1.5)):
            if workers:
                killed.append(workers[-1])
                try:
                    os.kill(workers[-1], signal.SIGKILL)
                except ProcessLookupError:
                    killed.pop()

    answers = []
    with open_engine("ray", workers=2) as engine:
        killer = threading.Thread(target=kill)
        killer.start()
        for number, worker in engine.map(slow, range(300)):
            answers.append(number)
            workers.append(worker)
        ended.set()
        killer.join()
    print(f"{len(killed)} workers killed; all 300 answers, once and in order: {answers == list(range(300))}")


def memory() -> None:
    peaks = []
    for number in (5_000, 200_000):
        done = subprocess.run([sys.executable, __file__, "memory", str(number)], check=True, capture_output=True)
        peaks.append(float(done.stdout))
        print(f"driver at {number:,} synthetic images: {peaks[-1]:.0f} MB")
    print(f"growth: {peaks[1] / peaks[0] - 1:.1%}")


def fake_scores(first: int) -> NDArray[np.float64]:
    return np.random.default_rng(first).random(SHARD)


def driver_memory(images: int) -> float:
    def parts() -> Iterator[int]:
        yield from range(0, images, SHARD)

    with open_engine("ray", workers=2) as engine:
        scores = np.concatenate(list(engine.map(fake_scores, parts())))
    assert len(scores) >= images
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
