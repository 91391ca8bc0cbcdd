"""From a folder of images to a leaderboard in the terminal: two commands, no file edited, by every protocol.

``benchmarks/first_hour.py`` does it from a wheel in an empty environment, with 8, 40 and 200 images.
"""

import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from beholder.study.protocols.catalogue import PROTOCOLS

Run = Callable[..., Any]


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Real images and those of nine generators, eight of each."""
    root = tmp_path_factory.mktemp("first-hour")
    rng = np.random.default_rng(0)
    for generator in ("real", *(f"g{number}" for number in range(9))):
        (root / generator).mkdir()
        for number in range(8):
            pixels = rng.integers(0, 256, (16, 16, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(root / generator / f"{number}.png")
            (root / generator / f"{number}.txt").write_text(f"prompt number {number}")
    return root


def options(pictures: Path, protocol: str) -> list[str]:
    """Folders of two generators, or of nine where nine images are ranked."""
    names = [f"g{number}" for number in range(9 if protocol == "hpd-ranking" else 2)]
    generated = [part for name in names for part in ("--generated", f"{name}={pictures / name}")]
    return [*generated, *(["--real", str(pictures / "real")] if PROTOCOLS[protocol].needs_real else [])]


@pytest.mark.parametrize("protocol", list(PROTOCOLS))
def test_a_leaderboard_in_two_commands(run: Run, pictures: Path, tmp_path: Path, protocol: str) -> None:
    folder = tmp_path / "study"
    made = run("new", protocol, folder, *options(pictures, protocol))
    assert made.code == 0, made.err
    assert "changed to fit: " in made.out
    ran = run("run", folder, "--simulate", 14)
    assert ran.code == 0, ran.err
    header = next(line for line in ran.out.splitlines() if line.startswith("rank  generator  "))
    first = ran.out.splitlines()[ran.out.splitlines().index(header) + 2]
    assert first.split()[0].startswith("1")
    assert first.split()[1].startswith("g")
    assert "inter-rater agreement\n" in ran.out
    assert " excluded by screening" in ran.out
    assert (folder / "report.html").is_file()


@pytest.mark.parametrize("protocol", ["hpd-pairs", "mos", "rich-feedback"])
def test_trying_it_on_oneself(run: Run, pictures: Path, tmp_path: Path, protocol: str) -> None:
    """A single rater sees every image once, and gets results with whatever screening says."""
    folder = tmp_path / "study"
    assert run("new", protocol, folder, *options(pictures, protocol), "--raters", 1).code == 0
    ran = run("run", folder, "--simulate", 1, "--include-excluded")
    assert ran.code == 0, ran.err
    assert "rank  generator  " in ran.out
    assert "With the answers of raters whom screening excludes (--include-excluded)" in ran.out


def test_from_images_to_a_report_as_processes(pictures: Path, tmp_path: Path) -> None:
    """The commands after the installation, each a process: new, collect until Ctrl-C, a rehearsal, and run."""

    def beholder(*arguments: object) -> str:
        command = [sys.executable, "-m", "beholder", *map(str, arguments)]
        return subprocess.run(command, check=True, capture_output=True, text=True, cwd=tmp_path).stdout

    beholder("new", "hpd-pairs", "study", *options(pictures, "hpd-pairs"), "--trials", 8)
    log = tmp_path / "collect.log"
    with log.open("w") as file:
        command = [sys.executable, "-m", "beholder", "collect", "study", "--port", "0"]
        server = subprocess.Popen(command, cwd=tmp_path, stdout=file, stderr=subprocess.STDOUT)
    try:
        end = time.monotonic() + 120
        while len(links := re.findall(r"(http://127\.0\.0\.1:\d+/\S*)", log.read_text())) < 2:
            assert server.poll() is None, log.read_text()
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.05)
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        for link in links:
            with browser.open(link, timeout=60) as page:
                assert b"<script" in page.read()
        server.send_signal(signal.SIGINT)
        assert server.wait(timeout=120) == 0
    finally:
        server.kill()
    assert log.read_text().endswith("Next: beholder run study\n")
    assert "Traceback" not in log.read_text()
    assert "5 complete" in beholder("collect", "study", "--simulate", 5)
    printed = beholder("run", "study", "--include-excluded")
    assert "rank  generator" in printed
    assert "no finding about the generators" in printed
    report = (tmp_path / "study" / "report.html").read_text(encoding="utf-8")
    assert "g0" in report
    assert "g1" in report
