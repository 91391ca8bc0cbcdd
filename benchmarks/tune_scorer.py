"""Train the scorer that guiding and tuning optimise: convolutions on pixels, from scratch, on the rich study.

    python benchmarks/tune_scorer.py FOLDER

It sees no frozen encoder, so it costs little and is easy to exploit; ``tiny-rich-cnn``, which sees the image through
EfficientNet-lite0, is the scorer of another kind that watches it.
"""

import sys
import time
from pathlib import Path

import torch

from beholder.learn.recipe import load_recipe
from beholder.learn.stage import run as learn

NAME = "pixel-cnn"


def main(folder: Path) -> None:
    torch.set_num_threads(1)
    began = time.process_time()
    recipe = load_recipe("tiny-rich-cnn")
    model = {
        "architecture": "rich-cnn",
        "side": 96,
        "stem": 16,
        "widths": [24, 48, 96],
        "depths": [1, 1, 1],
        "blocks": "basic",
        "heads": {"heatmap": [32, 16], "score": [32, 16], "dense": [64]},
        "losses": {"floor": 0.1},
    }
    training = recipe.training.model_copy(update={"epochs": 14, "validate_every": 300, "save_every": 150})
    update = {"name": NAME, "model": model, "training": training, "about": "Convolutions on pixels, from scratch."}
    print(learn(folder / "rich", recipe.model_copy(update=update), resume=True))
    print(f"{NAME}: {time.process_time() - began:.0f} CPU s")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
