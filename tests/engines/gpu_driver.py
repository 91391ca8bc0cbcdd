"""What workers with GPUs do, as JSON: ``python gpu_driver.py ADDRESS FOLDER``."""

import json
import os
import signal
import sys
import time
from functools import partial
from pathlib import Path

from beholder.engines.engine import open_engine
from beholder.errors import UserError


def main(address: str, folder: Path) -> None:
    with open_engine("ray", address=address, gpus=0.5) as engine:
        seen = [list(engine.map(process_and_gpus, range(24))) for _ in range(2)]
    with open_engine("ray", address=address, workers=2, gpus=1) as engine:
        squares = list(engine.map(partial(killed_once, folder), range(9)))
    refusals = [refusal(address, workers, gpus) for workers, gpus in ((3, 1), (None, 4), (None, 1.5))]
    print(json.dumps({"seen": seen, "squares": squares, "refusals": refusals}))


def process_and_gpus(_: int) -> tuple[int, str | None]:
    """Return who asks, and the GPUs that CUDA would find."""
    time.sleep(0.02)
    return os.getpid(), os.environ.get("CUDA_VISIBLE_DEVICES")


def killed_once(folder: Path, number: int) -> int:
    """Return the square; kill the worker the first time that a multiple of three is worked on."""
    mark = folder / str(number)
    if number % 3 == 0 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def refusal(address: str, workers: int | None, gpus: float) -> str:
    """Return why an engine with too many GPUs is not opened."""
    try:
        with open_engine("ray", address=address, workers=workers, gpus=gpus):
            return ""
    except UserError as error:
        return str(error)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
