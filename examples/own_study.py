"""A study from folders of images, rehearsed with simulated raters, and its leaderboard.

    python examples/own_study.py my-example

The folders would hold the images of your generators; here three synthetic generators paint a few prompts. In a
rehearsal with images of which nothing is known, the qualities are drawn at random: the ratings show how a study
would go, not how good the images are.
"""

import csv
import sys
from pathlib import Path

import numpy as np
from PIL import Image

import beholder as bh
from beholder.simulate.grammar import draw_requests
from beholder.simulate.painter import paint
from beholder.simulate.policies import GENERATORS

PROMPTS = 20


def main(folder: Path) -> bh.ResultTable:
    """Paint, make the study, run the loop, and return the leaderboard."""
    pictures = folder / "pictures"
    generators = paint_folders(pictures)

    # One folder per generator; prompts.csv in each says which prompt an image was made for.
    study = bh.new_study(
        "hpd-pairs",
        folder / "study",
        generated={name: pictures / name for name in generators},
        raters=20,
        trials=30,
    )
    study.run(simulate=20, bad=4)  # to ask people: beholder collect FOLDER/study, and then study.run()

    leaderboard = study.leaderboard()
    leaderboard.plot().save(folder / "ratings.svg")
    return leaderboard


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


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python examples/own_study.py FOLDER")
    print(main(Path(sys.argv[1])))
