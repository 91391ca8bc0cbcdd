"""The first hour: from the wheel and folders of images to a leaderboard and a report in five commands.

    python benchmarks/first_hour.py FOLDER [--protocol NAME …] [--images 8 40 200]

1. ``pip install dist/beholder-….whl`` into an empty environment, without extras
2. ``beholder new PROTOCOL STUDY --generated NAME=DIR …``
3. ``beholder collect STUDY``: both links are opened, and the server is stopped with Ctrl-C
4. ``beholder collect STUDY --simulate 20``: simulated raters through the server
5. ``beholder run STUDY``: the leaderboard in the terminal, and the report

No file of a study is edited. Every combination of protocol and number of images must pass; one that
does not is listed on stderr with what it printed, and the exit code is 1.
"""

import argparse
import csv
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from PIL import Image

from beholder.simulate.grammar import draw_requests
from beholder.simulate.painter import paint
from beholder.simulate.policies import GENERATORS
from beholder.study.protocols.catalogue import PROTOCOLS

ROOT = Path(__file__).parents[1]
SIZES = (8, 40, 200)
SIDE = 128
RANKED = 9
"""Generators where images of one prompt are ranked, as in HPD v2; three elsewhere."""
RATERS = 20
WAIT = 120.0
LINK = re.compile(r"^(raters|researcher): +(http\S+)$", re.M)


@dataclass(slots=True)
class Trial:
    """One combination: what failed, and the seconds of every command."""

    protocol: str
    images: int
    fault: str = ""
    seconds: dict[str, float] = field(default_factory=dict)
    leaders: int = 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--protocol", nargs="*", default=list(PROTOCOLS), choices=list(PROTOCOLS))
    parser.add_argument("--images", nargs="*", type=int, default=list(SIZES))
    parser.add_argument("--beholder", type=Path, help="the command of an environment that is there already")
    options = parser.parse_args()
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    beholder = options.beholder
    if beholder is None:
        beholder, seconds = install(folder)
        print(f"installed from the wheel in {seconds:.0f} s; torch is not installed\n", flush=True)
    paint_folders(folder / "pictures", options.images)
    print("| protocol | images per generator | new | collect, to both links | simulate | run | generators rated |")
    print("|---|---|---|---|---|---|---|")
    failed = 0
    for protocol in options.protocol:
        for images in options.images:
            trial = first_hour(beholder, folder, protocol, images)
            cells = [f"{trial.seconds[name]:.1f} s" if name in trial.seconds else "–" for name in STEPS]
            rated = f"{trial.leaders} of {len(generators_of(protocol))}" if not trial.fault else "**failed**"
            print(f"| {protocol} | {images} | {' | '.join(cells)} | {rated} |", flush=True)
            if trial.fault:
                failed += 1
                print(f"{protocol}, {images} images per generator: {trial.fault}", file=sys.stderr, flush=True)
    return 1 if failed else 0


def install(folder: Path) -> tuple[Path, float]:
    """Build the wheel and install it into an empty environment; return the command and the seconds of pip."""
    environment = folder / "environment"
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder / "dist")],
        cwd=ROOT,
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wheel = max((folder / "dist").glob("*.whl"), key=lambda path: path.stat().st_mtime)
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(environment)], check=True)
    begin = time.monotonic()
    pip = [str(environment / "bin" / "pip"), "--quiet", "--disable-pip-version-check", "install"]
    subprocess.run(
        [*pip, "--constraint", str(ROOT / "constraints.txt"), str(wheel)], check=True, stderr=subprocess.DEVNULL
    )
    seconds = time.monotonic() - begin
    assert not [*environment.glob("lib/python*/site-packages/torch")]
    return environment / "bin" / "beholder", seconds


def paint_folders(folder: Path, sizes: Sequence[int]) -> None:
    """Paint images of the synthetic world, equally many real and of every generator, with prompts."""
    requests = draw_requests(max(sizes), np.random.default_rng(0))
    for which, name in enumerate(["real", *generators_of("hpd-ranking")]):
        policy = GENERATORS[which % len(GENERATORS)]
        for images in sizes:
            (folder / str(images) / name).mkdir(parents=True, exist_ok=True)
        prompts = []
        for number, request in enumerate(requests):
            picture = paint(request, policy, size=SIDE, rng=np.random.default_rng([1, which, number]))
            prompts.append((f"{number:03d}.png", picture.prompt))
            for images in sizes:
                if number < images:
                    Image.fromarray(picture.pixels).save(folder / str(images) / name / f"{number:03d}.png")
        for images in sizes:
            with (folder / str(images) / name / "prompts.csv").open("w", newline="", encoding="utf-8") as file:
                csv.writer(file).writerows([("file", "prompt"), *prompts[:images]])


def generators_of(protocol: str) -> list[str]:
    """Names of the generators of a study by the protocol."""
    return [f"generator-{number + 1}" for number in range(RANKED if protocol == "hpd-ranking" else 3)]


def first_hour(beholder: Path, folder: Path, protocol: str, images: int) -> Trial:
    """Run the commands after the installation, and check what each of them leaves."""
    trial = Trial(protocol, images)
    study, pictures = f"{protocol}-{images}", Path("pictures") / str(images)
    generated = [part for name in generators_of(protocol) for part in ("--generated", f"{name}={pictures / name}")]
    real = ["--real", str(pictures / "real")] if PROTOCOLS[protocol].needs_real else []
    try:
        _timed(trial, "new", [str(beholder), "new", protocol, study, *generated, *real], folder)
        _serve(trial, [str(beholder), "collect", study, "--port", "0"], folder)
        _timed(trial, "simulate", [str(beholder), "collect", study, "--simulate", str(RATERS)], folder)
        printed = _timed(trial, "run", [str(beholder), "run", study], folder)
        ranked = list(leaderboard(printed))
        trial.leaders = len(set(ranked))
        report = (folder / study / "report.html").read_text(encoding="utf-8")
        missing = [name for name in generators_of(protocol) if name not in ranked or name not in report]
        if missing:
            trial.fault = f"not rated or not in the report: {', '.join(missing)}\n{printed}"
    except CommandError as error:
        trial.fault = str(error)
    return trial


def leaderboard(printed: str) -> Iterator[str]:
    """Yield the generators in the rows of the leaderboards."""
    lines = printed.splitlines()
    for number, line in enumerate(lines):
        if line.startswith("rank  generator"):
            for row in lines[number + 2 :]:
                if not row.strip():
                    break
                yield row.split()[1]


class CommandError(Exception):
    """A command that failed, and what it printed."""


STEPS = ("new", "collect", "simulate", "run")


def _timed(trial: Trial, step: str, command: Sequence[str], folder: Path) -> str:
    begin = time.monotonic()
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, env=_plain_environment()
    )
    trial.seconds[step] = time.monotonic() - begin
    if done.returncode:
        raise CommandError(f"{step}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def _serve(trial: Trial, command: Sequence[str], folder: Path) -> None:
    """Start the server, open both its links, and stop it as Ctrl-C does."""
    begin = time.monotonic()
    log = folder / "collect.log"
    with log.open("w", encoding="utf-8") as file:
        server = subprocess.Popen(
            command, cwd=folder, stdout=file, stderr=subprocess.STDOUT, env=_plain_environment()
        )
        try:
            while len(links := dict(LINK.findall(log.read_text(encoding="utf-8")))) < 2:
                if server.poll() is not None or time.monotonic() > begin + WAIT:
                    raise CommandError(f"collect: no links\n{log.read_text(encoding='utf-8')}")
                time.sleep(0.02)
            trial.seconds["collect"] = time.monotonic() - begin
            browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
            for name, link in links.items():
                with browser.open(link, timeout=30) as page:
                    if page.status != 200 or b"<script" not in page.read():
                        raise CommandError(f"collect: {name} {link} is no page")
            server.send_signal(signal.SIGINT)
            if server.wait(timeout=WAIT):
                raise CommandError(f"collect: exit code {server.returncode}\n{log.read_text(encoding='utf-8')}")
        finally:
            server.kill()


def _plain_environment() -> dict[str, str]:
    """The variables of a user: none that leads to the sources of a checkout."""
    return {name: content for name, content in os.environ.items() if not name.startswith(("PYTHON", "BEHOLDER"))}


if __name__ == "__main__":
    sys.exit(main())
