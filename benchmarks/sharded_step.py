"""One training step of a tower of ViT-H's size, sharded between processes (FSDP), on random weights.

    python benchmarks/sharded_step.py [--processes 2] [--layers 32] [--whole]

The image tower of CLIP ViT-H/14 (632 million parameters, all trained) with a small text tower, two images per
process, AdamW and gradient checkpointing, by the trainer of ``beholder learn``. ``--whole`` does not shard: every
process then holds all weights. Each process says how much memory it needed; a saved run is in
``docs/measured/large-recipes.md``.
"""

import argparse
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import torch
from torch.distributed import TCPStore  # type: ignore[attr-defined]  # torch re-exports it

from beholder.learn.processes.devices import is_main_process, process_count
from beholder.learn.recipe import Training
from beholder.learn.train import train
from beholder.models.architectures import architecture
from beholder.models.trainable import Batch
from beholder.tables.provenance import Plain

SIDE = 224
SIZES: dict[str, Plain] = {"image_size": SIDE, "patch_size": 14, "image_width": 1280, "image_heads": 16}
SIZES |= {"text_width": 64, "text_layers": 1, "text_heads": 2, "embedding": 1024}
GIGABYTE = 1e9


class OnePair:
    """Two images of one prompt per process."""

    steps_per_epoch = 1

    def __call__(self, step: int, part: int) -> Batch:
        generator = torch.Generator().manual_seed(step + part)
        return Batch(
            pixels=torch.randn(2, 3, SIDE, SIDE, generator=generator),
            prompts=("a red cat",),
            prompt_of=torch.tensor([0, 0]),
            pairs=torch.tensor([[0, 1]]),
            soft_labels=torch.tensor([1.0]),
            pair_weights=torch.tensor([1.0]),
            aspects=("preference",),
            ratings=torch.full((2, 1), torch.nan),
            answers=torch.zeros(2, 1),
        )


class OneStepDone(Exception):  # noqa: N818 - it is no error
    """Ends the run before it validates and saves."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--layers", type=int, default=32)
    parser.add_argument("--whole", action="store_true")
    options = parser.parse_args()
    if "RANK" in os.environ or options.processes == 1:
        step(options.layers, sharded=not options.whole and options.processes > 1)
        return
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, ", end="")
    print(f"torch {torch.__version__}; {options.processes} processes, gloo", flush=True)
    store = TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, timeout=timedelta(minutes=5))
    shared = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(store.port), "WORLD_SIZE": str(options.processes)}
    shared |= {"TORCHELASTIC_USE_AGENT_STORE": "True", "TORCHELASTIC_RESTART_COUNT": "0"}
    children = [
        subprocess.Popen(
            [sys.executable, *sys.argv], env=os.environ | shared | {"RANK": str(rank), "LOCAL_RANK": str(rank)}
        )
        for rank in range(options.processes)
    ]
    sys.exit(max(child.wait() for child in children))


def step(layers: int, *, sharded: bool) -> None:
    """Build the tower, and train it for one step."""
    torch.manual_seed(0)
    maker = architecture("two-tower")
    settings: Mapping[str, Plain] = {"sizes": {**SIZES, "image_layers": layers}, "freeze": False, "context": 8}
    model = maker.build(maker.configure(settings, ["a red cat"], ["preference"]), fresh=True)
    count = sum(parameter.numel() for parameter in model.module.parameters())
    if is_main_process():
        print(f"{count:,} parameters, all trained; {'sharded' if sharded else 'complete in every process'}")
    training = Training(
        steps=2, batch=process_count(), learning_rate=1e-6, gradient_checkpointing=True, sharded=sharded
    )
    began = time.perf_counter()

    def stop(*_: int) -> None:
        raise OneStepDone

    with tempfile.TemporaryDirectory() as folder:
        try:
            train(
                model,
                OnePair(),
                lambda: {"none": 0.0},
                training,
                Path(folder),
                fingerprint="",
                resume=False,
                progress=stop,
            )
        except OneStepDone:
            used = resource.getrusage(resource.RUSAGE_SELF)
            now = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
            print(
                f"process {os.environ.get('RANK', '0')}: one step, {time.perf_counter() - began:.0f} s "
                f"({used.ru_utime:.0f} s of processor time in all), "
                f"peak {used.ru_maxrss / 1e6:.1f} GB, {now / GIGABYTE:.1f} GB after the step",
                flush=True,
            )


if __name__ == "__main__":
    main()
