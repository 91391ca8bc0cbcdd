"""How long the loop takes on the demo of rich feedback, and what it gains: one command, training reported apart.

    python benchmarks/improve_demo.py FOLDER

makes two studies of the synthetic world whose simulated raters mark what is wrong, trains a scorer on each, and
improves the images of the first by its own scorer, held out by the other. What exists already is not done again.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

TRAINING = ("--recipe", "tiny-rich-cnn", "--set", "training.epochs=12", "--set", "split.validation=0.1")
"""Of 1,000 images, 2 % for validation would be too few for the scorer's 95 % prediction interval."""
STEPS: dict[str, tuple[str, ...]] = {
    "demo": ("demo", "--feedback", "--json"),
    "scorer": ("learn", "demo-feedback", *TRAINING, "--json"),
    "other demo": ("demo", "--feedback", "--seed", "1", "--out", "other-feedback", "--json"),
    "held-out scorer": ("learn", "other-feedback", *TRAINING, "--set", "training.seed=7", "--json"),
    "improve": (
        *("improve", "demo-feedback", "--generator", "poor=painter:dune"),
        *("--scorer", "demo-feedback/models/tiny-rich-cnn"),
        *("--held-out", "other-feedback/models/tiny-rich-cnn", "--simulate"),
    ),
    "improve, called again": (
        *("improve", "demo-feedback", "--generator", "poor=painter:dune"),
        *("--scorer", "demo-feedback/models/tiny-rich-cnn"),
        *("--held-out", "other-feedback/models/tiny-rich-cnn", "--simulate"),
    ),
}


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    print("| step | seconds | processor seconds | load |\n|---|---|---|---|", flush=True)
    printed = b""
    for name, arguments in STEPS.items():
        began, used = time.monotonic(), _processor()
        command = [sys.executable, "-m", "beholder", *arguments]
        printed = subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE).stdout
        seconds, load = time.monotonic() - began, os.getloadavg()[0]
        print(f"| {name} | {seconds:.0f} | {_processor() - used:.0f} | {load:.0f} |", flush=True)
    print(f"\n{printed.decode()}")


def _processor() -> float:
    times = os.times()
    return times.children_user + times.children_system


if __name__ == "__main__":
    main(Path(sys.argv[1]))
