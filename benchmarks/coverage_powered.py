"""Ratings by raters and scores: coverage of their confidence intervals, and how wide they are without scores.

    python benchmarks/coverage_powered.py [--studies 500] [--seed 1]

Prints a markdown table; ``docs/measured/powered.md`` is a saved run. One process. Every row simulates studies of
four generators with known true ratings and runs what ``beholder measure`` and ``beholder rank --scores`` run.
"""

import argparse
import time

import numpy as np
import polars as pl
from coverage_clustered import table
from numpy.typing import NDArray
from scipy import special

from beholder.measure.metric_values import SCHEMA
from beholder.measure.powered.ratings import powered_rows
from beholder.study.kinds.catalogue import AnyQuestion
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.rating import RatingQuestion
from beholder.tables.catalogue import TABLES

GENERATORS = ("a", "b", "c", "d")
POSITIONS = np.array([-0.3, 0.0, 0.1, 0.4])  # true quality
SPREADS = np.array([1.3, 1.0, 1.0, 0.5])  # standard deviation of single images about that
RATERS = (5, 10, 30)
AGREEMENTS = (0.0, 0.5, 0.8)  # correlation of the score with the quality of an image
JUDGED, UNJUDGED = 40, 160  # prompts, one image of each generator for each
EACH = 8  # images of each generator that a rater rates; or pairs of each two generators
HABIT, NOISE = 0.4, 0.6  # standard deviations of what a rater adds to all images, and of a single answer
BOUND = 1.96  # standard errors of the simulation

Floats = NDArray[np.float64]


def study(
    rng: np.random.Generator, raters: int, agreement: float, *, votes: bool
) -> tuple[AnyQuestion, pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Return a question, its judgements, the images and their scores."""
    prompts = JUDGED + UNJUDGED
    latent = rng.normal(0, 1, (prompts, len(GENERATORS)))
    score = agreement * latent + np.sqrt(1 - agreement**2) * rng.normal(0, 1, latent.shape)
    appeal = SPREADS * latent  # of single images, about their generator's quality
    names = [[f"{generator}/{prompt}" for generator in GENERATORS] for prompt in range(prompts)]
    images = TABLES["images"].frame(
        [
            {"image": names[prompt][cell], "generator": generator, "prompt": f"p{prompt}", "real": False}
            | {"gold": False}
            for prompt in range(prompts)
            for cell, generator in enumerate(GENERATORS)
        ]
    )
    metrics = pl.DataFrame(
        [
            {"metric": "score", "slice": "all", "item": names[prompt][cell], "value": float(score[prompt, cell])}
            for prompt in range(prompts)
            for cell in range(len(GENERATORS))
        ],
        schema=SCHEMA,
    )
    rows = _votes(rng, raters, appeal, names) if votes else _ratings(rng, raters, appeal, names)
    question: AnyQuestion = PairQuestion(name="q") if votes else RatingQuestion(name="q")
    return question, TABLES["judgements"].frame(rows), images, metrics


def _ratings(
    rng: np.random.Generator, raters: int, appeal: Floats, names: list[list[str]]
) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for rater in range(raters):
        habit = rng.normal(0, HABIT)
        for cell in range(len(GENERATORS)):
            for prompt in rng.choice(JUDGED, EACH, replace=False):
                value = 3 + POSITIONS[cell] + appeal[prompt, cell] + habit + rng.normal(0, NOISE)
                rows.append(_row(rater, len(rows), names[prompt][cell], None, float(value), "rating"))
    return rows


def _votes(
    rng: np.random.Generator, raters: int, appeal: Floats, names: list[list[str]]
) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for rater in range(raters):
        taste = rng.normal(0, HABIT, len(GENERATORS))
        for first in range(len(GENERATORS)):
            for second in range(first + 1, len(GENERATORS)):
                for prompt in rng.choice(JUDGED, EACH, replace=False):
                    quality = POSITIONS + taste + appeal[prompt]
                    won = rng.random() < special.expit(quality[first] - quality[second])
                    pair = names[prompt][first], names[prompt][second]
                    rows.append(_row(rater, len(rows), *pair, 1.0 if won else -1.0, "vote"))
    return rows


def _row(rater: int, trial: int, image: str, other: str | None, value: float, kind: str) -> dict[str, object]:
    where = {"question": "q", "aspect": "quality", "rater": f"r{rater}", "session": f"s{rater}", "attempt": 1}
    judged = {"image": image, "other": other, "value": value, "value_kind": kind, "used": True}
    return {"trial": f"t{trial}", "place": 0} | where | judged


def true_ratings(*, votes: bool) -> Floats:
    """Return what endlessly many raters would say of endlessly many images."""
    if not votes:
        return 3 + POSITIONS
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    spread = np.sqrt(SPREADS[:, None] ** 2 + SPREADS**2 + 2 * HABIT**2)
    gaps = POSITIONS[:, None] - POSITIONS
    wins = special.expit(gaps[:, :, None] + spread[:, :, None] * nodes) @ weights / weights.sum()
    return np.asarray((wins.sum(axis=1) - 0.5) / (len(POSITIONS) - 1), np.float64)


def measure_row(
    rng: np.random.Generator, raters: int, agreement: float, studies: int, *, votes: bool
) -> tuple[str, ...]:
    """Return the cells of one row: coverage of both confidence intervals, and how wide the powered one is."""
    truth = dict(zip(GENERATORS, true_ratings(votes=votes), strict=True))
    covered = people = 0
    ratios: list[float] = []
    weights: list[float] = []
    for _ in range(studies):
        for row in powered_rows(*study(rng, raters, agreement, votes=votes), level=0.95):
            numbers = {name: float(str(row[name])) for name in ("low", "high", "people_low", "people_high")}
            value = truth[str(row["generator"])]
            covered += numbers["low"] <= value <= numbers["high"]
            people += numbers["people_low"] <= value <= numbers["people_high"]
            ratios.append(float(str(row["width_ratio"])))
            weights.append(float(str(row["tuning"])))
    cells = len(ratios)
    return (
        "win rates" if votes else "mean opinions",
        f"{raters}",
        f"{agreement:g}",
        f"{100 * people / cells:.1f} %",
        f"{100 * covered / cells:.1f} %",
        f"{np.median(ratios):.3f}",
        f"{np.quantile(ratios, 0.9):.3f}",
        f"{np.median(weights):.2f}",
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng, began = np.random.default_rng(options.seed), time.monotonic()
    heads = [
        "rating",
        "raters",
        "ρ",
        "coverage, raters",
        "coverage, powered",
        "width, median",
        "90 % quantile",
        "λ",
    ]
    rows = [
        measure_row(rng, raters, agreement, options.studies, votes=votes)
        for votes in (False, True)
        for raters in RATERS
        for agreement in AGREEMENTS
    ]
    print(table("Coverage and width", heads, rows))
    bound = 100 * BOUND * np.sqrt(0.95 * 0.05 / (options.studies * len(GENERATORS)))
    print(
        f"\n{options.studies} studies per row, {time.monotonic() - began:.0f} s; bound ± {bound:.1f} % (4 cells)"
    )


if __name__ == "__main__":
    main()
