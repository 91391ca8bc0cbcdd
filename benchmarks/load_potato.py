"""The same load test for Potato: simulated raters who answer pairs as fast as its server accepts them.

python benchmarks/load_potato.py PATH/TO/potato [--raters 32] [--seconds 20]

``potato`` is the command of a virtual environment of its own (``pip install potato-annotation``). An answer is
what Potato's page does for one: save the choice (``/updateinstance``) and go to the next item (``/annotate``).
"""

import argparse
import asyncio
import json
import os
import re
import socket
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

import httpx
import numpy as np

ITEM = re.compile(r'name="instance_id"[^>]*value="(item_\d+)"')
CONFIG = """
annotation_task_name: pairs
task_dir: .
output_annotation_dir: annotation_output
output_annotation_format: jsonl
data_files: [data.jsonl]
item_properties: {id_key: id, text_key: text}
require_password: false
user_config: {allow_all_users: true, users: []}
assignment_strategy: random
max_annotations_per_user: 120
max_annotations_per_item: -1
annotation_schemes:
  - {annotation_type: radio, name: preference, description: "Which do you prefer?", labels: [left, tie, right]}
site_dir: default
secret_key: abcdefghijklmnopqrstuvwxyz0123456789
"""


def make_task(folder: Path) -> None:
    lines = [
        json.dumps({"id": f"item_{n}", "text": f"<img src='/a{n}.webp'><img src='/b{n}.webp'>"})
        for n in range(240)
    ]
    (folder / "data.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (folder / "config.yaml").write_text(CONFIG, encoding="utf-8")


async def simulate_rater(number: int, address: str, end: float, saves: list[float], cycles: list[float]) -> None:
    async with httpx.AsyncClient(base_url=address, timeout=120) as client:
        await client.post("/auth", data={"email": f"u{number}", "pass": ""})
        page = (await client.get("/annotate")).text
        while time.perf_counter() < end:
            item = ITEM.search(page)
            if item is None:
                raise RuntimeError("no item on Potato's page")
            began = time.perf_counter()
            body = {"instance_id": item[1], "annotations": {"preference:::left": "left"}}
            (await client.post("/updateinstance", json=body)).raise_for_status()
            saves.append(1e3 * (time.perf_counter() - began))
            step = {"action": "next_instance", "instance_id": item[1]}
            page = (await client.post("/annotate", json=step, follow_redirects=True)).text
            cycles.append(1e3 * (time.perf_counter() - began))


async def crowd(address: str, raters: int, seconds: float) -> tuple[list[float], list[float], float]:
    saves: list[float] = []
    cycles: list[float] = []
    began = time.perf_counter()
    await asyncio.gather(*(simulate_rater(n, address, began + seconds, saves, cycles) for n in range(raters)))
    return saves, cycles, time.perf_counter() - began


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("potato", type=Path)
    parser.add_argument("--raters", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=20)
    options = parser.parse_args()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="beholder-potato-") as temporary:
        make_task(Path(temporary))
        command = [str(options.potato), "start", "config.yaml", "-p", str(port)]
        server = subprocess.Popen(command, cwd=temporary, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            began = time.perf_counter()
            while True:
                try:
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5).close()
                    break
                except OSError:
                    if server.poll() is not None:
                        raise RuntimeError(f"Potato ended with {server.returncode}") from None
                    time.sleep(0.05)
            boot, cpu = time.perf_counter() - began, cpu_seconds(server.pid)
            address = f"http://127.0.0.1:{port}"
            saves, cycles, took = asyncio.run(crowd(address, options.raters, options.seconds))
            spent = cpu_seconds(server.pid) - cpu
        finally:
            server.kill()
            server.wait()
    p50, p95, p99 = np.percentile(saves, [50, 95, 99])
    print(f"{options.raters} raters, {took:.0f} s, load average {os.getloadavg()[0]:.1f}")
    print(f"boot {boot:.1f} s, of which CPU {cpu:.1f} s")
    print(f"{len(cycles) / took:.1f} answers/s, server CPU {1e3 * spent / len(cycles):.1f} ms an answer")
    print(f"save ms p50/p95/p99: {p50:.0f} / {p95:.0f} / {p99:.0f}; save and next p50: {np.median(cycles):.0f}")


if __name__ == "__main__":
    main()
