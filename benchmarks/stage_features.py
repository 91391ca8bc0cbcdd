"""What features of all stages cost beside the bare forward pass: ``python benchmarks/stage_features.py``.

Processor seconds per image on one core, the median of several turns over a batch of 16 images of 512 × 512 px, and
the seconds until each packaged scorer has scored its first image in a new process.
"""

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image

from beholder.models.encoders.catalogue import ENCODERS, EncoderEntry, load_encoder
from beholder.models.encoders.efficientnet_lite import load_network
from beholder.models.encoders.encoder import Encoder
from beholder.models.encoders.stage_features import VARIANTS
from beholder.scorers.catalogue import BEST

BATCH, TURNS = 16, 5
FIRST_SCORE = """
import resource, sys
import numpy as np
from PIL import Image
from beholder.scorers.catalogue import load_scorer
load_scorer(sys.argv[1])(np.zeros((512, 512, 3), np.uint8), "a cat")
used = resource.getrusage(resource.RUSAGE_SELF)
print(used.ru_utime + used.ru_stime)
"""


def main() -> None:
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    images = [Image.fromarray(rng.integers(0, 256, (512, 512, 3), np.uint8)) for _ in range(BATCH)]
    print("| encoder | preparing | bare forward | features | ratio |\n|---|---|---|---|---|")
    by_size = sorted(ENCODERS.items(), key=lambda item: VARIANTS[item[1].variant].crop if staged(item[1]) else 0)
    for name, entry in by_size:
        if not staged(entry):
            continue
        encoder = load_encoder(name)
        network = load_network(name, VARIANTS[entry.variant].size, entry.weights)[0].eval()
        network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        prepared = np.stack(prepare_all(encoder, images))
        inputs = torch.from_numpy(prepared).to(memory_format=torch.channels_last)
        preparing = seconds(partial(prepare_all, encoder, images))
        with torch.inference_mode():
            bare = seconds(partial(network, inputs))
        features = seconds(partial(encoder.network, prepared))
        row = " | ".join(f"{1000 * value:.1f} ms" for value in (preparing, bare, features))
        print(f"| `{name}` | {row} | {features / bare:.2f} |", flush=True)
    for scorer in (BEST, "agiqa-alignment"):
        command = [sys.executable, "-c", FIRST_SCORE, scorer]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        print(f"\nfirst score by {scorer} in a new process: {float(run.stdout):.1f} processor seconds")


def prepare_all(encoder: Encoder, images: list[Image.Image]) -> list[NDArray[np.float32]]:
    return [encoder.preprocessing.prepare(image) for image in images]


def staged(entry: EncoderEntry) -> bool:
    return entry.module == "stage_features"


def seconds(call: Callable[[], object]) -> float:
    """Processor seconds per image."""
    call()
    turns = []
    for _ in range(TURNS):
        began = time.process_time()
        call()
        turns.append((time.process_time() - began) / BATCH)
    return statistics.median(turns)


if __name__ == "__main__":
    main()
