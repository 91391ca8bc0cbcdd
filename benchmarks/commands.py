"""Whole commands as a user types them: seconds until they are done, processor seconds, and the goal.

python benchmarks/commands.py [--only TEXT] [--turns 5]

Compiled modules are kept, as on a user's machine (PYTHONDONTWRITEBYTECODE is not handed on), and the first turn of
each row, which may have to compile, is not counted. Seconds count on a machine that does nothing else; processor
seconds, of the process and its children, also on a busy one. Without the data below ``BEHOLDER_SHARED`` the row of
AGIQA-3K is left out.
"""

import argparse
import os
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from million import write_study
from PIL import Image
from rich_world import make_world

from beholder.consolidate import stage as consolidate_stage
from beholder.models.preference.two_tower import build, configure
from beholder.models.weights.checkpoint import Record, save_checkpoint

SHARED = Path(os.environ.get("BEHOLDER_SHARED", Path(__file__).parents[2] / "shared"))
AGIQA = SHARED / "data" / "agiqa-3k"
BEHOLDER = (sys.executable, "-m", "beholder")
ENVIRONMENT = {name: setting for name, setting in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
Seconds = tuple[float, float]
"""Wall and processor seconds."""


@dataclass(frozen=True)
class Row:
    """A command, its goal in seconds on two free cores, and one measurement of it."""

    task: str
    goal: float
    turn: Callable[[], Seconds]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="only rows whose task holds this text")
    parser.add_argument("--turns", type=int, default=5)
    arguments = parser.parse_args()
    print(table(arguments.only, arguments.turns))


def table(only: str = "", turns: int = 5) -> str:
    """Measure the commands and return a Markdown table of medians."""
    lines = ["| command | seconds (range) | processor seconds | goal |", "|---|---|---|---|"]
    with tempfile.TemporaryDirectory() as name:
        for task, prepare in TASKS.items():
            if only not in task:
                continue
            print(f"measuring: {task}", file=sys.stderr)
            for row in prepare(Path(name)):
                row.turn()
                measured = [row.turn() for _ in range(turns)]
                walls, busy = ([seconds[part] for seconds in measured] for part in (0, 1))
                wall, processor = statistics.median(walls), statistics.median(busy)
                spread = f"{min(walls):.2f}–{max(walls):.2f}"
                lines.append(f"| {row.task} | **{wall:.2f}** ({spread}) | {processor:.2f} | {row.goal:g} |")
    return "\n".join(lines)


def collecting(room: Path) -> Iterator[Row]:
    """Two generators of 40 images: time to the link, the first time and again."""
    for generator in ("a", "real"):
        _paint(room / "pictures" / generator, 40)
    images = ("--generated", f"a={room / 'pictures' / 'a'}", "--real", str(room / "pictures" / "real"))
    _run("new", "hype-infinity", str(room / "fresh"), *images)
    served = room / "served"

    def first() -> Seconds:
        shutil.rmtree(served, ignore_errors=True)
        shutil.copytree(room / "fresh", served)
        return _to_the_link(served)

    yield Row("`collect`, the first time, to the link", 2, first)
    yield Row("`collect` again, to the link", 0.9, lambda: _to_the_link(served))


def scoring(room: Path) -> Iterator[Row]:
    """One image by a two-tower model, whose weights are random, which takes the same time; and by the default."""
    torch.manual_seed(0)
    config = configure({"architecture": "two-tower"}, ["a red circle"], ["preference"])
    save_checkpoint(room / "model", build(config, fresh=True), Record("two-tower", config, ("preference",)))
    _paint(room / "single", 1)
    image, model = str(room / "single" / "0.png"), str(room / "model")
    yield Row(
        "`score` of one image by a two-tower model",
        4.5,
        lambda: _run("score", image, "--scorer", model, "--prompt", "a red circle"),
    )
    yield Row("`score` of one image by `agiqa-quality`", 3, lambda: _run("score", image))
    prompted = ("--scorer", "agiqa-alignment", "--prompt", "a red circle")
    yield Row("`score` of one image by `agiqa-alignment`", 3, lambda: _run("score", image, *prompted))


def measuring(room: Path) -> Iterator[Row]:
    """AGIQA-3K: 2,396 images, ten scorers, one distance, correlations with both opinions."""
    if not AGIQA.is_dir():
        print(f"{AGIQA}: not here; `measure` is left out", file=sys.stderr)
        return
    source, study = room / "agiqa", room / "measured"
    _run("import", "agiqa", str(AGIQA / "data.csv"), str(source), "--images", str(AGIQA / "image"))
    _run("consolidate", str(source))

    def turn() -> Seconds:
        shutil.rmtree(study, ignore_errors=True)
        shutil.copytree(source, study)
        return _run("measure", str(study))

    yield Row("`measure` of AGIQA-3K", 70, turn)


def evaluating(room: Path) -> Iterator[Row]:
    """A rich-feedback model of one step, which takes the same time: an image explained, and its held-out images.

    Predictions are saved by `learn`, as usual; the synthetic world has a second row, of the ground truth.
    """
    study = room / "rich"
    with redirect_stdout(sys.stderr):
        make_world(study, prompts=1_000)
    steps = ("--set", "training.steps=1", "--set", "split.test=0.75")
    for recipe in ("tiny-rich-grounded", "tiny-rich-cnn"):
        _run("learn", str(study), "--recipe", recipe, *steps)
    image, model = next((study / "images").rglob("*.png")), study / "models" / "tiny-rich-grounded"
    explained = ("explain", str(image), "--model", str(model), "--prompt", "a red circle", "--json")
    yield Row("`explain` of one image by a model of `tiny-rich-grounded`", 3, lambda: _run(*explained))
    yield Row(
        "`evaluate` of 3,750 images, a model of `tiny-rich-cnn` and the ground truth",
        60,
        lambda: _run("evaluate", str(study), "tiny-rich-cnn"),
    )


def consolidating(room: Path) -> Iterator[Row]:
    """400,000 ratings."""
    study = room / "ratings"
    study.mkdir()
    write_study(study, "rating", 400_000)
    yield Row(
        "`consolidate` of 400,000 ratings", 12, lambda: _run("consolidate", str(study), "--force", "--quiet")
    )


PART = "agreement_rows"
"""What of `consolidate` is timed by itself."""


def agreeing(room: Path) -> Iterator[Row]:
    """Inter-rater agreement of 100,000 votes on pairs, within `consolidate`: the part, not the command."""
    study = room / "votes"
    study.mkdir()
    write_study(study, "pair", 100_000)
    agreement_rows: Callable[..., object] = getattr(consolidate_stage, PART)
    spent: list[Seconds] = []

    def timed(*arguments: object) -> object:
        began = time.perf_counter(), time.process_time()
        rows = agreement_rows(*arguments)
        spent.append((time.perf_counter() - began[0], time.process_time() - began[1]))
        return rows

    def turn() -> Seconds:
        spent.clear()
        setattr(consolidate_stage, PART, timed)
        try:
            consolidate_stage.run(study, force=True)
        finally:
            setattr(consolidate_stage, PART, agreement_rows)
        return sum(wall for wall, _ in spent), sum(busy for _, busy in spent)

    yield Row("agreement of 100,000 votes on pairs", 1, turn)


def reporting(room: Path) -> Iterator[Row]:
    """The report of the demo."""
    study = str(room / "demo")
    _run("demo", "--out", study)
    yield Row("`report` of the demo", 3, lambda: _run("report", study, "--force"))


def benching(room: Path) -> Iterator[Row]:
    """The demo benchmark: five painters × 200 prompts, 30 simulated raters, three scorers, one of them trained."""
    folder = room / "benchmark"

    def turn() -> Seconds:
        shutil.rmtree(folder, ignore_errors=True)
        return _run("demo", "--benchmark", "--out", str(folder))

    yield Row("`demo --benchmark`", 180, turn)


TASKS: dict[str, Callable[[Path], Iterator[Row]]] = {
    "collect": collecting,
    "score": scoring,
    "consolidate": consolidating,
    "agreement": agreeing,
    "report": reporting,
    "measure": measuring,
    "evaluate": evaluating,
    "bench": benching,
}
"""Name -> what prepares its rows in a folder."""


def _run(*arguments: str) -> Seconds:
    before, began = _children(), time.perf_counter()
    subprocess.run([*BEHOLDER, *arguments], check=True, capture_output=True, env=ENVIRONMENT)
    return time.perf_counter() - began, _children() - before


def _to_the_link(folder: Path) -> Seconds:
    began = time.perf_counter()
    command = [*BEHOLDER, "collect", str(folder), "--port", "0", "--accept-low-pay"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=ENVIRONMENT
    ) as server:
        assert server.stdout is not None
        while not server.stdout.readline().startswith("raters:"):
            if server.poll() is not None:
                raise RuntimeError(f"the server of {folder} has ended")
        wall = time.perf_counter() - began
        fields = Path(f"/proc/{server.pid}/stat").read_text().rpartition(")")[2].split()
        busy = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")  # its own, and its children's that ended
        server.send_signal(signal.SIGINT)
        server.stdout.read()
    return wall, busy


def _children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _paint(folder: Path, images: int) -> None:
    folder.mkdir(parents=True)
    rng = np.random.default_rng(len(folder.name))
    for number in range(images):
        small = Image.fromarray(rng.integers(0, 256, (16, 16, 3), dtype=np.uint8))
        small.resize((512, 512), Image.Resampling.BICUBIC).save(folder / f"{number}.png")


if __name__ == "__main__":
    main()
