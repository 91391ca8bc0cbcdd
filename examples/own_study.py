"""A study from folders of images, rehearsed with simulated raters, and its ratings read with Polars.

    python examples/own_study.py my-example

The folders would hold the images of your generators; here three synthetic generators paint a few prompts. In a
rehearsal with images of which nothing is known, the qualities are drawn at random: the ratings show how a study
would go, not how good the images are.
"""

import csv
import sys
from pathlib import Path

import numpy as np
import polars as pl
from PIL import Image

from beholder.cli.main import main as beholder
from beholder.simulate.grammar import draw_requests
from beholder.simulate.painter import paint
from beholder.simulate.world import GENERATORS

PROMPTS = 20


def main(folder: Path) -> pl.DataFrame:
    """Paint, make the study, run the loop, and return the ratings."""
    pictures, study = folder / "pictures", folder / "study"
    generators = paint_folders(pictures)

    # One folder per generator; prompts.csv in each says which prompt an image was made for.
    folders = [part for name in generators for part in ("--generated", f"{name}={pictures / name}")]
    call("new", "hpd-pairs", study, *folders, "--raters", 20, "--trials", 30)
    call("design", study)
    call("collect", study, "--simulate", 20, "--bad", 4)
    call("consolidate", study)
    call("rank", study)

    ratings = pl.read_parquet(study / "tables" / "ratings.parquet").filter(pl.col("slice") == "all")
    return ratings.select("generator", "rating", "low", "high", "rank_low", "rank_high", "raters").sort("rating")


def paint_folders(pictures: Path) -> list[str]:
    """Paint a folder of pictures with their prompts for each of three synthetic generators."""
    requests = draw_requests(PROMPTS, np.random.default_rng(0))
    policies = (GENERATORS[0], GENERATORS[2], GENERATORS[4])
    for which, policy in enumerate(policies):
        (pictures / policy.name).mkdir(parents=True, exist_ok=True)
        with (pictures / policy.name / "prompts.csv").open("w", newline="", encoding="utf-8") as file:
            listing = csv.writer(file)
            listing.writerow(["file", "prompt", "style"])
            for number, request in enumerate(requests):
                picture = paint(request, policy, size=128, rng=np.random.default_rng([1, which, number]))
                name = f"{number:03d}.png"
                Image.fromarray(picture.pixels).save(pictures / policy.name / name)
                listing.writerow([name, picture.prompt, request.style])
    return [policy.name for policy in policies]


def call(*arguments: str | int | Path) -> None:
    """Run a command as the shell would, and stop where it fails."""
    code = beholder([str(argument) for argument in arguments])
    if code:
        sys.exit(code)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python examples/own_study.py FOLDER")
    print(main(Path(sys.argv[1])))
