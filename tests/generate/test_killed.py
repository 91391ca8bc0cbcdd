"""A run that is killed loses nothing, makes nothing twice, and ends with the same bytes."""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

from beholder.tables.store import Store

LIAR = Path(__file__).with_name("liar.py")
KILLS = 3
PROMPTS = 30


def test_killed_again_and_again(tmp_path: Path) -> None:
    (tmp_path / "prompts.txt").write_text("".join(f"cat number {number}\n" for number in range(PROMPTS)))
    begin(tmp_path, "undisturbed").wait(120)
    rng = random.Random(1)
    counts: list[int] = []
    for _ in range(KILLS):
        process = begin(tmp_path, "killed")
        wait_for(tmp_path / "killed", len(counts) and counts[-1], process)
        time.sleep(rng.uniform(0, 0.1))
        process.kill()
        process.wait()
        counts.append(lines(tmp_path / "killed"))
    assert 0 < counts[0] <= counts[1] <= counts[2]
    assert begin(tmp_path, "killed").wait(120) == 0
    assert contents(tmp_path / "killed") == contents(tmp_path / "undisturbed")
    assert Store(tmp_path / "killed").read("generation_costs").height == 2 * PROMPTS
    assert len(contents(tmp_path / "killed")) == 2 * PROMPTS + 1


def begin(folder: Path, name: str) -> "subprocess.Popen[bytes]":
    worker = f"worker:{sys.executable} -S {LIAR}"
    generators = ["--generator", f"first={worker}", "--generator", f"second={worker}"]
    command = ["generate", name, "--prompts", "prompts.txt", "--size", "48", *generators]
    return subprocess.Popen(
        [sys.executable, "-m", "beholder", *command],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"POLARS_MAX_THREADS": "1", "LIAR_SECONDS": "0.03"},
    )


def lines(folder: Path) -> int:
    """Images that the journal counts; all once the tables are there."""
    journal = folder / "generations" / "journal.jsonl"
    if not journal.exists():
        return 2 * PROMPTS if (folder / "tables" / "generations.parquet").exists() else 0
    return journal.read_bytes().count(b"\n")


def wait_for(folder: Path, more_than: int, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + 60
    while lines(folder) <= more_than and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)


def contents(folder: Path) -> dict[str, bytes]:
    """All files but the costs and what a killed write left under another name."""
    files = [path for path in folder.rglob("*") if path.is_file() and not path.name.endswith(".part")]
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in files
        if path.name != "generation_costs.parquet"
    }
