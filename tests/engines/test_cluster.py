"""A cluster of Ray that runs already: commands by its address, and workers with GPUs, here numbers only."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tests.consolidate.test_stage import THREE, WRITTEN, collected
from tests.generate.test_engine_run import FIXED
from tests.generate.test_stage import LIAR, contents

from beholder.cli.main import main
from beholder.engines.engine import open_engine
from beholder.errors import UserError

GPUS = 2
STARTED = b"Ray runtime started."


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of a cluster of one machine with four cores and two GPUs, which only this machine reaches."""
    ray = pytest.importorskip("ray", reason="ray is not installed: pip install 'beholder[ray]'")
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import tests
    folder = Path(tempfile.mkdtemp(prefix="ray-"))  # short: sockets lie below it
    port, client, agent = free_ports(3)
    options = {
        "port": port,
        "ray-client-server-port": client,
        "dashboard-agent-listen-port": agent,
        "min-worker-port": 0,
        "max-worker-port": 0,
        "node-ip-address": "127.0.0.2",
        "num-cpus": 4,
        "num-gpus": GPUS,
        "temp-dir": folder,
        "include-dashboard": "false",
    }
    command = [sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--block", "--disable-usage-stats"]
    log = folder / "head.log"
    with log.open("wb") as output:
        head = subprocess.Popen(
            [*command, *(f"--{name}={value}" for name, value in options.items())],
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        deadline = time.monotonic() + 120
        while STARTED not in log.read_bytes():
            assert head.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.2)
        yield f"127.0.0.2:{port}"
    finally:
        head.terminate()  # which ends all that it started
        head.wait(30)
        shutil.rmtree(folder, ignore_errors=True)


def free_ports(count: int) -> list[int]:
    """Return ports that nobody listens on, all different."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.2", 0))
        return [int(each.getsockname()[1]) for each in sockets]
    finally:
        for each in sockets:
            each.close()


def test_scores_by_its_address(address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    for number in range(140):  # two shards
        Image.fromarray(rng.integers(0, 256, (12, 10, 3), np.uint8)).save(tmp_path / f"{number:03d}.png")
    outputs = []
    for engine in ((), ("--engine", "ray", "--address", address, "--workers", "2")):
        assert main(["score", str(tmp_path), "--scorer", "sharpness", "--json", *engine]) == 0
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1]


def test_agreement_by_its_address(address: str, bare_study: Callable[..., Path]) -> None:
    written = []
    for name, engine in (("local", ()), ("ray", ("--engine", "ray", "--address", address))):
        folder = bare_study(*THREE, name=name)
        store = collected(folder)
        assert main(["consolidate", str(folder), "--quiet", *engine]) == 0
        written.append([store.path(table).read_bytes() for table in WRITTEN])
    assert written[0] == written[1]


def test_images_by_its_address_and_a_worker_that_is_killed(address: str, tmp_path: Path) -> None:
    (tmp_path / "prompts.txt").write_text("".join(f"cat {number}\n" for number in range(20)))
    mark = tmp_path / "mark"
    mark.touch()
    # where the mark is, it takes it away, and kills the worker that runs it; without one, it writes an image
    killing = f"import os, pathlib, signal\nmark = pathlib.Path({str(mark)!r})\n"
    killing += "if mark.exists():\n    mark.unlink()\n    os.kill(os.getppid(), signal.SIGKILL)\n"
    (tmp_path / "program.py").write_text(killing + FIXED)
    generators = [
        f"liar=worker:{sys.executable} -S {LIAR}",
        f"killer=command:{sys.executable} -S {tmp_path / 'program.py'}",
    ]
    command = ["--prompts", str(tmp_path / "prompts.txt"), "--size", "8x6"]
    command += [part for generator in generators for part in ("--generator", generator)]
    by_ray = ["--engine", "ray", "--address", address, "--workers", "2", "--gpus", "1"]
    assert main(["generate", str(tmp_path / "ray"), *command, *by_ray]) == 0
    assert not mark.exists()
    assert main(["generate", str(tmp_path / "local"), *command]) == 0
    assert contents(tmp_path / "ray") == contents(tmp_path / "local")
    assert len(contents(tmp_path / "ray")) == 2 * 20 + 1


def seen(_: int) -> tuple[str | None, int]:
    """Return the GPUs that CUDA would find, and which process asks."""
    time.sleep(0.02)
    return os.environ.get("CUDA_VISIBLE_DEVICES"), os.getpid()


def test_workers_keep_their_gpus(address: str) -> None:
    with open_engine("ray", address=address, gpus=0.5) as engine:
        first = list(engine.map(seen, range(24)))
        second = list(engine.map(seen, range(24)))
    assert {visible for visible, _ in first} == {"0", "1"}
    assert len(set(first)) == 2 * GPUS  # every process has one, and keeps it
    assert set(second) <= set(first)


def killed_once(folder: Path, number: int) -> int:
    """Kill the worker the first time that a number is worked on."""
    mark = folder / str(number)
    if number % 3 == 0 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def test_a_killed_worker_with_a_gpu_loses_nothing(address: str, tmp_path: Path) -> None:
    with open_engine("ray", address=address, workers=2, gpus=1) as engine:
        squares = list(engine.map(partial(killed_once, tmp_path), range(9)))
    assert squares == [n * n for n in range(9)]
    assert len(list(tmp_path.iterdir())) == 3


def test_workers_without_a_gpu_are_refused_instead_of_waiting(address: str) -> None:
    with (
        pytest.raises(
            UserError, match="2 GPUs found on 1 machines: enough for 2 workers with 1 each and a core, 3"
        ),
        open_engine("ray", address=address, workers=3, gpus=1),
    ):
        pass
    with pytest.raises(UserError, match="enough for 0 workers"), open_engine("ray", address=address, gpus=4):
        pass
    with pytest.raises(UserError, match=r"found 1\.5"), open_engine("ray", address=address, gpus=1.5):
        pass
