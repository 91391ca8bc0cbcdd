"""TIFA-160: five people's ratings of 160 prompts × 5 generators, and ten automatic scores of every image."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from beholder.stats.intervals.crossed_t import crossed_means
from beholder.stats.prediction.crossed_powered import PoweredMeans, crossed_powered

SHARED = Path(os.environ.get("BEHOLDER_SHARED", Path(__file__).parents[2] / "shared")) / "data" / "prompts"
PEOPLE = SHARED / "dsg-1k" / "tifa160-likert-anns.csv"
SCORED = SHARED / "tifa" / "human_annotations_with_scores.json"
SKIP_TIFA = None if PEOPLE.is_file() and SCORED.is_file() else f"no {PEOPLE} and {SCORED}"

NAMES = {
    "sd1dot1": "stable_diffusion_v1_1",
    "sd1dot5": "stable_diffusion_v1_5",
    "sd2dot1": "stable_diffusion_v2_1",
}
SCORES = (
    *("meteor", "bleu", "rouge", "spice", "clipscore_vitb32"),
    *("tifa_vilt", "tifa_git-large", "tifa_ofa-large", "tifa_blip2-flant5xl", "tifa_mplug-large"),
)

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Tifa:
    """All answers and scores."""

    raters: tuple[str, ...]
    prompts: tuple[str, ...]
    generators: tuple[str, ...]
    answers: Floats  # (raters, prompts, generators) 1 to 5; nan where one is missing
    scores: dict[str, Floats]  # (prompts, generators)


def read_tifa() -> Tifa:
    """Read both files."""
    rows = pl.read_csv(PEOPLE).with_columns(
        generator=pl.col("t2i_model").replace(NAMES).str.replace_all("-", "_"),
        rater=pl.col("worker_id").cast(pl.String),
    )
    raters, prompts, generators = (rows[name].unique().sort() for name in ("rater", "source_id", "generator"))
    answers = np.full((len(raters), len(prompts), len(generators)), np.nan)
    places = (
        rows[name].replace_strict(names, list(range(len(names))), return_dtype=pl.Int64).to_numpy()
        for name, names in (("rater", raters), ("source_id", prompts), ("generator", generators))
    )
    answers[tuple(places)] = rows["answer"].to_numpy()
    by_image = {row["image_path"].removesuffix(".jpg"): row for row in json.loads(SCORED.read_text()).values()}
    scores = {
        name: np.array([[float(by_image[f"{p}_{g}"][name]) for g in generators] for p in prompts])
        for name in SCORES
    }
    return Tifa(tuple(raters), tuple(prompts), tuple(generators), answers, scores)


def draw_powered(
    rng: np.random.Generator, answers: Floats, scores: Floats, *, replace: bool, judged: int = 40
) -> PoweredMeans:
    """Rate the generators by people on some prompts, drawn at random, and scores of others.

    Args:
        rng: For the prompts.
        answers: (raters, prompts, generators).
        scores: (prompts, generators).
        replace: Whether prompts are drawn with replacement, from a population of which the 160 are the
            distribution; otherwise the judged ones are some of the 160 and the others the rest.
        judged: How many prompts people are asked about.
    """
    count = answers.shape[1]
    order = np.asarray(rng.integers(0, count, count) if replace else rng.permutation(count))
    chosen, others = order[:judged], order[judged:]
    rater, place, cell = (index.ravel() for index in np.indices((len(answers), judged, answers.shape[2])))
    prompt = chosen[place]
    rated = ~np.isnan(answers[rater, prompt, cell])
    rater, place, prompt, cell = rater[rated], place[rated], prompt[rated], cell[rated]
    return crossed_powered(
        crossed_means(rater, place, cell, answers[rater, prompt, cell]),
        crossed_means(rater, place, cell, scores[prompt, cell]),
        list(scores[others].T),
    )
