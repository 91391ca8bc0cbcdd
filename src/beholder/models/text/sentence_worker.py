"""A worker that embeds sentences by MiniLM: ``python -m beholder.models.text.sentence_worker [FOLDER]``."""

import argparse
import sys
from pathlib import Path

from beholder.models.text.sentence_encoder import LONGEST, load_sentence_encoder
from beholder.workers.serve import main
from beholder.workers.service import Service


def load(arguments: argparse.Namespace) -> Service:
    """Load the encoder of a folder, or the one inside the package."""
    encoder = load_sentence_encoder(arguments.folder)
    return Service(
        name="minilm",
        weights=encoder.weights,
        settings={"longest_tokens": LONGEST, "dims": encoder.dims},
        embed=encoder.encode,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Embeds sentences for other programs, by frames on stdin.")
    parser.add_argument("folder", nargs="?", type=Path, help="weights; by default those of the extra 'text'")
    return parser


if __name__ == "__main__":
    sys.exit(main(_parser(), load))
