"""A worker that scores images by any scorer: ``python -m beholder.scorers.scorer_worker NAME``."""

import argparse
import sys
from collections.abc import Sequence

from beholder.images.sources import read_pixels
from beholder.scorers.catalogue import load_scorer, recipe_of
from beholder.scorers.scorer import Scorer, ScorerInput
from beholder.workers.serve import main
from beholder.workers.service import Service


def load(arguments: argparse.Namespace) -> Service:
    """Load a scorer by name, or a trained model by its folder."""
    weights = {name: place for name, _, place in (pair.partition("=") for pair in arguments.weights)}
    scorer, recipe = load_scorer(arguments.name, weights), recipe_of(arguments.name)
    return Service(
        name=arguments.name,
        weights=scorer.identity,
        settings={"better": recipe.better, "needs": list(recipe.needs), "aspect": recipe.aspect},
        score=lambda files, prompts: score_files(scorer, files, prompts),
    )


def score_files(scorer: Scorer, files: Sequence[bytes], prompts: Sequence[str | None]) -> list[float]:
    """Return the scores of image files, each with its prompt."""
    inputs = [ScorerInput(read_pixels(file), prompt) for file, prompt in zip(files, prompts, strict=True)]
    return [float(score) for score in scorer.score(inputs)]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Scores images for other programs, by frames on stdin.")
    parser.add_argument("name", help="a scorer, or a folder with a trained model")
    parser.add_argument("--weights", action="append", default=[], metavar="NAME=PLACE", help="of its networks")
    return parser


if __name__ == "__main__":
    sys.exit(main(_parser(), load))
