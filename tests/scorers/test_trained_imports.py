"""What scoring by a trained model imports: transformers takes seconds, and not every model needs it."""

import subprocess
import sys
from pathlib import Path

import torch

from beholder.models.preference.two_tower import build, configure
from beholder.models.weights.checkpoint import Record, save_checkpoint


def test_a_model_of_the_image_alone_does_not_import_transformers() -> None:
    code = (
        "import sys, beholder.cli.score, beholder.scorers.trained.model, beholder.models.realism; "
        "print('transformers' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "False"


def test_a_two_tower_model_is_loaded_without_transformers_and_without_the_hub(tmp_path: Path) -> None:
    torch.manual_seed(0)
    config = configure({"architecture": "two-tower"}, ["a red circle"], ["preference"])
    save_checkpoint(tmp_path, build(config, fresh=True), Record("two-tower", config, ("preference",)))
    code = (
        "import sys; from beholder.scorers.catalogue import load_scorer; "
        f"load_scorer({str(tmp_path)!r}); print(sorted({{'transformers', 'huggingface_hub'}} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
