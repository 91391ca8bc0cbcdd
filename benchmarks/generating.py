"""Generating and measuring that add: kills, overhead beside the bare loop, and what an eleventh generator costs.

python benchmarks/generating.py kills [--kills 20] | overhead [--turns 5] | eleventh [--turns 5]

``kills``: the generate stage runs in a process that gets ``kill -9`` at a random moment, again and again; images
and the table ``generations`` are compared byte by byte with a run that was not disturbed. ``overhead``: the stage,
with a worker that renders filtered noise, against the loop that one would write oneself (render, encode, write the
file) in the same process, alternately. ``eleventh``: measuring eleven generators at once against adding the
eleventh to ten.
"""

import argparse
import io
import os
import random
import resource
import shutil
import signal
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl
from PIL import Image

from beholder.design.new import make_study
from beholder.generate.settings import GenerateSettings
from beholder.generate.stage import run as generate
from beholder.measure.settings import MeasureSettings
from beholder.measure.stage import run as measure
from beholder.simulate.grammar import draw_requests, prompt_text
from beholder.simulate.painter_worker import POLICIES
from beholder.study.generating import PainterGenerator, WorkerGenerator
from beholder.tables.provenance import Provenance
from beholder.tables.store import Store
from beholder.workers.messages import ImageReply, ImageRequest
from beholder.workers.serve import main as main_of_worker
from beholder.workers.service import Service


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=("kills", "overhead", "eleventh"))
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--prompts", type=int, default=0)
    parser.add_argument("--without-encoder", action="store_true", help="eleventh: pixel scorers only")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if arguments.part == "kills":
            kills(folder, arguments.kills, arguments.prompts or 300)
        elif arguments.part == "overhead":
            overhead(folder, arguments.turns, arguments.prompts or 60)
        else:
            eleventh(folder, arguments.prompts or 40, arguments.turns, with_encoder=not arguments.without_encoder)


def write_prompts(folder: Path, count: int) -> Path:
    texts = [prompt_text(request) for request in draw_requests(count, np.random.default_rng(3))]
    path = folder / "prompts.txt"
    path.write_text("\n".join(texts))
    return path


def kills(folder: Path, count: int, prompts: int) -> None:
    """Kill the run again and again, finish it, and compare; no frame is touched before a fork."""
    path = write_prompts(folder, prompts)
    assert os.waitstatus_to_exitcode(os.waitpid(begin(folder / "undisturbed", path), 0)[1]) == 0
    rng, counts = random.Random(0), [0]
    for _ in range(count):
        child = begin(folder / "killed", path)
        while lines(folder / "killed", prompts) <= counts[-1] and os.waitpid(child, os.WNOHANG)[0] == 0:
            time.sleep(0.002)
        time.sleep(rng.uniform(0, 0.2))
        try:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        except ChildProcessError:
            print("ended before it was killed")
        counts.append(lines(folder / "killed", prompts))
    print("images after each kill:", counts[1:], flush=True)
    assert os.waitstatus_to_exitcode(os.waitpid(begin(folder / "killed", path), 0)[1]) == 0
    ours, undisturbed = contents(folder / "killed"), contents(folder / "undisturbed")
    table = Store(folder / "killed").read("generations")
    keys = table.select("generator", "prompt", "sample")
    before_end = sum(images < 2 * prompts for images in counts[1:])
    print(f"{count} kills, {before_end} of them before the end; {table.height} rows of {2 * prompts} images")
    print(f"lost: {2 * prompts - keys.unique().height}, doubled: {keys.height - keys.unique().height}")
    print(f"files: {len(ours)}, the same bytes as undisturbed: {ours == undisturbed}")


def begin(folder: Path, prompts: Path) -> int:
    """Start the stage in a copy of this process; its id."""
    child = os.fork()
    if child == 0:
        command = (sys.executable, __file__, "serve")
        generators = tuple(WorkerGenerator(name=name, command=command) for name in ("first", "second"))
        generate(folder, generating=GenerateSettings(generators, prompts=prompts, width=96, height=96))
        os._exit(0)
    return child


def lines(folder: Path, prompts: int) -> int:
    journal = folder / "generations" / "journal.jsonl"
    if journal.exists():
        return journal.read_bytes().count(b"\n")
    return 2 * prompts if (folder / "tables" / "generations.parquet").exists() else 0


def contents(folder: Path) -> dict[str, bytes]:
    """All files but the costs, and but halves of files under another name that a kill left."""
    files = [path for path in folder.rglob("*") if path.is_file() and not path.name.endswith(".part")]
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in files
        if path.name != "generation_costs.parquet"
    }


@dataclass
class Clock:
    """Elapsed and processor time per image, over the images after the first."""

    moments: list[tuple[float, float]] = field(default_factory=list)

    def tick(self, *_: object) -> None:
        self.moments.append((time.perf_counter(), time.process_time()))

    def per_image(self) -> tuple[float, float]:
        (began, cpu), (ended, cpu_ended) = self.moments[0], self.moments[-1]
        count = len(self.moments) - 1
        return (ended - began) / count, (cpu_ended - cpu) / count


def overhead(folder: Path, turns: int, prompts: int) -> None:
    """The stage with a worker, and the bare loop, alternately; the same images, rendered in the same time."""
    path = write_prompts(folder, prompts)
    texts = path.read_text().splitlines()
    for size in (256, 512):
        elapsed: list[tuple[float, float]] = []
        cpu: list[tuple[float, float]] = []
        own_process: list[float] = []
        for turn in range(turns):
            out = folder / f"{size}-{turn}"
            clock = Clock()
            worker = WorkerGenerator(name="noise", command=(sys.executable, __file__, "serve"))
            settings = GenerateSettings((worker,), prompts=path, width=size, height=size, seed=turn)
            generate(out, generating=settings, progress=clock.tick)
            own_elapsed, own_cpu = clock.per_image()
            costs = Store(out).read("generation_costs")
            in_worker = float(costs["cpu_seconds"].sum()) / costs.height
            seeds = dict(Store(out).read("generations").select("text", "seed").iter_rows())
            bare = bare_loop(texts, seeds, size, folder / f"bare-{size}-{turn}")
            elapsed.append((own_elapsed, bare[0]))
            cpu.append((own_cpu + in_worker, bare[1]))
            own_process.append(own_cpu)
            shutil.rmtree(out)
        for what, pairs in (("elapsed", elapsed), ("CPU", cpu)):
            ratios = [own / other for own, other in pairs]
            print(
                f"{size} px, {what}: stage {1000 * statistics.median(own for own, _ in pairs):.1f} ms per image, "
                f"bare loop {1000 * statistics.median(other for _, other in pairs):.1f} ms, ratio "
                f"{statistics.median(ratios):.3f} ({min(ratios):.3f}–{max(ratios):.3f})",
                flush=True,
            )
        print(
            f"{size} px, CPU of the stage's own process: {1000 * statistics.median(own_process):.2f} ms per image"
        )


def bare_loop(texts: list[str], seeds: dict[str, int], size: int, folder: Path) -> tuple[float, float]:
    """What one would write oneself: render, encode, write."""
    folder.mkdir()
    clock = Clock()
    for number, text in enumerate(texts):
        request = ImageRequest(prompt=text, seed=seeds[text], width=size, height=size)
        (folder / f"{number}.png").write_bytes(render(request).content)
        clock.tick()
    return clock.per_image()


def render(request: ImageRequest) -> ImageReply:
    """Filtered noise of the requested size as PNG: some processor time, no caches, the same bytes for a seed."""
    size = request.width or 64
    rng = np.random.default_rng(request.seed)
    frequencies = np.hypot(np.fft.fftfreq(size)[:, None], np.fft.rfftfreq(size)[None, :])
    planes = []
    for _ in range(3):
        noise = np.zeros((size, size))
        for octave in (1.0, 1.5, 2.0, 2.5, 3.0):
            spectrum = np.fft.rfft2(rng.normal(size=(size, size)))
            noise += np.fft.irfft2(spectrum / (1 / size + frequencies) ** octave, (size, size))
        planes.append((noise - noise.min()) / np.ptp(noise))
    file = io.BytesIO()
    Image.fromarray((np.stack(planes, -1) * 255).astype(np.uint8)).save(file, "PNG")
    return ImageReply(file.getvalue())


def serve() -> None:
    """Be the worker of this benchmark."""
    main_of_worker(argparse.ArgumentParser(), lambda _: Service("noise", generate=render))


def eleventh(folder: Path, prompts: int, turns: int, *, with_encoder: bool) -> None:
    """Measure eleven generators in one study; then ten in another, and the eleventh after them."""
    path = write_prompts(folder, prompts)
    names = [f"g{number:02d}" for number in range(11)]
    policies = list(POLICIES)
    generators = tuple(
        PainterGenerator(name=name, policy=policies[number % 5], template="{prompt}")
        for number, name in enumerate(names)
    )
    for number, generator in enumerate(generators):  # seeds of their own: no two have the same images
        part = GenerateSettings((generator,), prompts=path, width=256, height=256, seed=number)
        generate(folder / "all", generating=part)
    study = folder / "all"
    make_study(["mos"], study, generations=[study])
    for label, settings in (
        ("default scorers", MeasureSettings(distances=())),
        ("default scorers, distances by efficientnet-lite0", MeasureSettings(distances=("vendi",))),
    )[: 2 if with_encoder else 1]:
        for _ in range(turns):
            print(f"{label}, {add_eleventh(study, settings, names[-1])}", flush=True)


def add_eleventh(study: Path, settings: MeasureSettings, last: str) -> str:
    """Measure all generators from nothing; then all but the last from nothing, and the last after them."""
    store = Store(study)
    images = store.read("images")
    forget(study)
    full = measured(study, settings)
    scores = store.read("scores")
    forget(study)
    write(store, images.filter(pl.col("generator") != last))
    ten = measured(study, settings)
    rows_of_ten = {name: store.read(name) for name in ("scores", "distances")}
    write(store, images)
    added = measured(study, settings)
    same = all(
        store.read(name).join(frame, on=frame.columns, how="semi", nulls_equal=True).equals(frame)
        for name, frame in rows_of_ten.items()
    )
    return (
        f"{images.height} images of 256 px: eleven at once {full[0]:.2f} CPU s ({full[1]:.2f} s), "
        f"ten {ten[0]:.2f} CPU s, the eleventh {added[0]:.2f} CPU s ({added[1]:.2f} s) = "
        f"{100 * added[0] / full[0]:.1f} % ({100 * added[1] / full[1]:.1f} % of the time); the rows of the "
        f"ten are bit-identical: {same}; all scores equal to those of eleven at once: "
        f"{store.read('scores').equals(scores)}"
    )


def forget(study: Path) -> None:
    """Remove what measuring keeps, and its tables."""
    for room in ("scores", "features"):
        shutil.rmtree(study / room, ignore_errors=True)
    for name in ("scores", "correlations", "powered_ratings"):
        Store(study).path(name).unlink(missing_ok=True)


def measured(study: Path, settings: MeasureSettings) -> tuple[float, float]:
    """Processor and elapsed time of the measure stage."""
    began, cpu = time.perf_counter(), processor_time()
    measure(study, measuring=settings)
    return processor_time() - cpu, time.perf_counter() - began


def processor_time() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def write(store: Store, images: pl.DataFrame) -> None:
    store.write({"images": images}, Provenance("new", {}, 0, {}))


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        sys.argv.pop()
        serve()
    else:
        main()
