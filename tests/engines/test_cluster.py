"""A cluster of Ray that runs already: commands by its address, and workers with GPUs, here numbers only.

The cluster has a token of its own, whatever the user has for others. Ray reads a token once per process, so that
whoever connects is a process of its own.
"""

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tests.consolidate.test_stage import THREE, WRITTEN, collected
from tests.generate.test_engine_run import FIXED
from tests.generate.test_stage import LIAR, contents

GPUS = 2
STARTED = b"Ray runtime started."
HERE = "127.0.0.2"  # Ray takes 127.0.0.1 for the machine's address in the network
DRIVER = Path(__file__).with_name("gpu_driver.py")


@dataclass(frozen=True)
class Cluster:
    address: str
    environment: dict[str, str] = field(repr=False)

    def python(self, *arguments: str) -> str:
        """Run a program that may connect to it, and return what it prints."""
        command = [sys.executable, *arguments]
        ran = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    def beholder(self, *arguments: str, by_ray: bool) -> str:
        """Run a command by the cluster, or without it, and return what that prints."""
        engine = ["--engine", "ray", "--address", self.address] if by_ray else []
        return self.python("-m", "beholder", *arguments, *engine)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """One machine with four cores and two GPUs, which only this machine reaches."""
    pytest.importorskip("ray", reason="ray is not installed: pip install 'beholder[ray]'")
    folder = Path(tempfile.mkdtemp(prefix="ray-"))  # short: sockets lie below it
    port, client, agent = free_ports(3)
    options = {
        "port": port,
        "ray-client-server-port": client,
        "dashboard-agent-listen-port": agent,
        "min-worker-port": 0,
        "max-worker-port": 0,
        "node-ip-address": HERE,
        "num-cpus": 4,
        "num-gpus": GPUS,
        "temp-dir": folder,
        "include-dashboard": "false",
    }
    command = [sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--block", "--disable-usage-stats"]
    environment = os.environ | {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    log = folder / "head.log"
    with log.open("wb") as output:
        head = subprocess.Popen(
            [*command, *(f"--{name}={value}" for name, value in options.items())],
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
        )
    try:
        deadline = time.monotonic() + 120
        while STARTED not in log.read_bytes():
            assert head.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.2)
        yield Cluster(f"{HERE}:{port}", environment)
    finally:
        head.terminate()  # which ends all that it started
        head.wait(30)
        shutil.rmtree(folder, ignore_errors=True)


def free_ports(count: int) -> list[int]:
    """Return ports that nobody listens on, all different."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind((HERE, 0))
        return [int(each.getsockname()[1]) for each in sockets]
    finally:
        for each in sockets:
            each.close()


def test_scores_by_its_address(cluster: Cluster, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for number in range(140):  # two shards
        Image.fromarray(rng.integers(0, 256, (12, 10, 3), np.uint8)).save(tmp_path / f"{number:03d}.png")
    command = ["score", str(tmp_path), "--scorer", "sharpness", "--json"]
    by_ray = cluster.beholder(*command, "--workers", "2", by_ray=True)
    assert by_ray == cluster.beholder(*command, by_ray=False)


def test_agreement_by_its_address(cluster: Cluster, bare_study: Callable[..., Path]) -> None:
    written = []
    for name in ("local", "ray"):
        folder = bare_study(*THREE, name=name)
        store = collected(folder)
        cluster.beholder("consolidate", str(folder), "--quiet", by_ray=name == "ray")
        written.append([store.path(table).read_bytes() for table in WRITTEN])
    assert written[0] == written[1]


def test_images_by_its_address_and_a_worker_that_is_killed(cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "prompts.txt").write_text("".join(f"cat {number}\n" for number in range(20)))
    mark = tmp_path / "mark"
    mark.touch()
    # where the mark is, it takes it away, and kills the worker that runs it; without one, it writes an image
    killer = f"import os, pathlib, signal\nmark = pathlib.Path({str(mark)!r})\n"
    killer += "if mark.exists():\n    mark.unlink()\n    os.kill(os.getppid(), signal.SIGKILL)\n"
    (tmp_path / "program.py").write_text(killer + FIXED)
    generators = [
        f"liar=worker:{sys.executable} -S {LIAR}",
        f"killer=command:{sys.executable} -S {tmp_path / 'program.py'}",
    ]
    command = ["--prompts", str(tmp_path / "prompts.txt"), "--size", "8x6"]
    command += [part for generator in generators for part in ("--generator", generator)]
    in_cluster = [str(tmp_path / "ray"), *command, "--workers", "2", "--gpus", "1", "--json"]
    printed = cluster.beholder("generate", *in_cluster, by_ray=True)
    assert not mark.exists()
    assert len(json.loads(printed)["generators"]) == len(
        generators
    )  # Ray's words on the killed worker are not in it
    cluster.beholder("generate", str(tmp_path / "local"), *command, by_ray=False)
    assert contents(tmp_path / "ray") == contents(tmp_path / "local")
    assert len(contents(tmp_path / "ray")) == 2 * 20 + 1


def test_workers_with_gpus(cluster: Cluster, tmp_path: Path) -> None:
    printed = cluster.python(str(DRIVER), cluster.address, str(tmp_path))
    done = json.loads(printed)  # that a worker was killed, Ray says on stderr
    first, second = ({(process, gpus) for process, gpus in seen} for seen in done["seen"])
    assert {gpus for _, gpus in first} == {"0", "1"}
    assert len(first) == 2 * GPUS  # every process has one, and keeps it
    assert second <= first
    assert done["squares"] == [number * number for number in range(9)]
    assert len(list(tmp_path.iterdir())) == 3  # so many workers were killed
    too_many, too_large, odd = done["refusals"]
    assert "2 GPUs found on 1 machines: enough for 2 workers with 1 each and a core, 3 expected" in too_many
    assert "enough for 0 workers with 4 each" in too_large
    assert "found 1.5" in odd
