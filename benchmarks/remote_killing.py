"""A study in object storage is run to the end although its process is killed again and again.

python benchmarks/remote_killing.py [--kills 10] [--seed 20261117]

The demo (``beholder demo``) runs with its folder at ``s3://…`` of a SeaweedFS server on this machine. At random
moments, from its start to a little beyond the duration of a run that nobody kills, it gets ``kill -9``, every
other time on another machine, that is with another local copy. Then it is run to the end, copied from storage,
and its tables are compared with those of a run in a local folder. Every time a reader on a third machine fetches
what is published.
"""

import argparse
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from beholder.tables.store import Store

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "storage"))  # another package is called tests

from s3_server import s3_server  # type: ignore[import-not-found]

ADDRESS = "s3://beholder-benchmark/demo"


def run(*arguments: str, environment: dict[str, str], seconds: float | None = None) -> int | None:
    """Run a command; kill it after so many seconds. Returns its exit code, or nothing where it was killed."""
    command = [sys.executable, "-m", "beholder", *arguments]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
    ) as process:
        try:
            _, errors = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return None
    if process.returncode:
        print(errors.decode()[-500:])
    return process.returncode


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=20261117)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    with tempfile.TemporaryDirectory() as scratch, s3_server(Path(scratch) / "s3") as variables:
        folder = Path(scratch)

        def machine(name: str) -> dict[str, str]:
            return {**os.environ, **variables, "XDG_CACHE_HOME": str(folder / name)}

        began = time.monotonic()
        assert run("demo", "--out", str(folder / "local"), environment=machine("local-cache")) == 0
        local_seconds = time.monotonic() - began
        began = time.monotonic()
        assert run("demo", "--out", "s3://beholder-benchmark/whole", environment=machine("whole")) == 0
        seconds = time.monotonic() - began
        killed, refused, readable, ended = 0, 0, 0, 0
        while killed < options.kills:
            address, worker = f"{ADDRESS}-{ended}", machine(f"worker-{killed % 2}")
            code = run("demo", "--out", address, environment=worker, seconds=rng.uniform(0.5, 1.1 * seconds))
            killed += code is None
            ended += code == 0  # the next one begins with an empty folder
            if code == 2:  # another machine published meanwhile, whose changes are not mixed with the own
                refused += 1
                shutil.rmtree(worker["XDG_CACHE_HOME"])
            shutil.rmtree(folder / "read", ignore_errors=True)
            readable += run("copy", address, str(folder / "read"), environment=machine("reader")) == 0
        address = f"{ADDRESS}-{ended}"
        while run("demo", "--out", address, environment=machine("worker-0")) != 0:
            shutil.rmtree(folder / "worker-0")
        assert run("copy", address, str(folder / "fetched"), environment=machine("fourth")) == 0
        names = [path.stem for path in sorted((folder / "local" / "tables").glob("*.parquet"))]
        own, fetched = Store(folder / "local"), Store(folder / "fetched")
        equal = [name for name in names if own.read(name).equals(fetched.read(name))]
        load = os.getloadavg()[0]
    print(f"{platform.machine()}, {os.cpu_count()} cores, load {load:.1f}")
    print(f"demo in a folder {local_seconds:.1f} s, in object storage {seconds:.1f} s")
    print(f"killed {killed} times; refused because of another machine's publication {refused} times")
    print(f"copies that a reader fetched: {readable}; before the first publication there is nothing to read")
    print(f"tables equal to those of a local run: {len(equal)} of {len(names)}")


if __name__ == "__main__":
    main()
