"""Normalisation of features and augmentation of images for generators that a scorer was not trained on.

    python benchmarks/agiqa_transfer.py CACHE          # choose: leave one generator out, on 193 prompts
    python benchmarks/agiqa_transfer.py CACHE --open   # the choice beside agiqa-quality, on the 48 put aside

Every candidate is the regression of ``agiqa-quality`` with one thing changed. Data, split and CACHE are those of
``benchmarks/agiqa_scorer.py``; features of altered copies of the training images are stored there, too.
"""

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import pairwise
from pathlib import Path

import numpy as np
from agiqa_paired import difference_cells
from agiqa_scorer import SOURCE, Floats, Images, Mask, agreement, interval, load
from agiqa_scorer_fit import MOMENTS, HeadSettings
from PIL import Image, ImageEnhance
from scipy.special import ndtri

from beholder.images.in_order import batches
from beholder.models.components import signed_roots
from beholder.models.encoders.catalogue import load_encoder
from beholder.models.quality.packaged import ENCODERS

SEED = 54
SETTINGS = HeadSettings()
COLUMNS = np.concatenate([np.arange(SETTINGS.moments), MOMENTS + np.arange(SETTINGS.details)])
WIDTHS = (32, 16, 24, 40, 80, 112, 192)
"""Channels of stem and stages; the moments have all seven, the details the first six, each twice."""
STAGES = np.cumsum([0, *(width for widths in (WIDTHS, WIDTHS[:-1]) for width in widths for _ in range(2))])
AT_A_TIME = 16
STATISTICS = ("spearman", "pearson", "spearman-within-generators")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A way to train the regression."""

    roots: bool = True
    """Signed roots of the features; the features themselves otherwise."""
    scale: str = "training images"
    """What features are standardised by."""
    removed: int = 0
    """Directions of the greatest differences between generators that are projected out."""
    copies: str = ""
    """Which altered copies of the training images are trained on, too, with the labels of the originals."""


CANDIDATES: Mapping[str, Candidate] = {
    "as `agiqa-quality`": Candidate(),
    "features without signed roots": Candidate(roots=False),
    "normal scores of ranks among training images": Candidate(scale="ranks"),
    "every stage of an image standardised by itself": Candidate(scale="stage"),
    "features and labels of training images less half of their generator's means": Candidate(scale="half"),
    "1 direction between generators projected out": Candidate(removed=1),
    "2 directions": Candidate(removed=2),
    "4 directions": Candidate(removed=4),
    "8 directions": Candidate(removed=8),
    "copies: mirrored": Candidate(copies="mirrored"),
    "copies: squares of 75 to 100 % of the side, enlarged again": Candidate(copies="cropped"),
    "copies: JPEG of quality 30 to 90": Candidate(copies="jpeg"),
    "copies: brightness, contrast and saturation × .7 to 1.3": Candidate(copies="colours"),
    "copies: all four": Candidate(copies="all"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cache", type=Path, metavar="CACHE")
    parser.add_argument("--open", metavar="CANDIDATE", choices=list(CANDIDATES))
    arguments = parser.parse_args()
    images = load(arguments.cache)
    if arguments.open:
        open_held_out(images, arguments.cache, arguments.open)
    else:
        choose(images, arguments.cache)


def choose(images: Images, cache: Path) -> None:
    """Print how well each candidate scores the development images of generators that it did not see."""
    print("| changed | SRCC | PLCC | SRCC within generators |\n|---|---|---|---|")
    for name, candidate in CANDIDATES.items():
        scores = leave_one_generator_out(images, candidate, cache, images.development)
        cells = [f"{row['value']:.4f}" for row in agreement(images, scores, images.development, quick=True)]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def open_held_out(images: Images, cache: Path, name: str) -> None:
    """Print the chosen candidate and the packaged way on the prompts put aside, and the difference."""
    aside = images.held_out
    by_name = {
        label: leave_one_generator_out(images, CANDIDATES[label], cache, aside)
        for label in dict.fromkeys((next(iter(CANDIDATES)), name))
    }
    print("| trained | SRCC | PLCC | SRCC within generators |\n|---|---|---|---|")
    for label, scores in by_name.items():
        rows = {row["statistic"]: row for row in agreement(images, scores, aside)}
        print(f"| {label} | {' | '.join(interval(rows[key]) for key in STATISTICS)} |", flush=True)
    before, after = (by_name[label][aside] for label in (next(iter(CANDIDATES)), name))
    prompts = images.table["prompt"].filter(aside).to_list()
    print("difference of SRCC and PLCC:", *difference_cells(after, before, images.quality[aside], prompts))


def leave_one_generator_out(images: Images, candidate: Candidate, cache: Path, scored: Mask) -> Floats:
    """Scores of images, each by a regression on development images of the other generators; nan elsewhere."""
    scores = np.full(len(images.fold), np.nan)
    generators = images.table["generator"].to_numpy()
    copies = copies_of(images, candidate.copies, cache)
    for generator in np.unique(generators):
        train = images.development & (generators != generator)
        test = scored & (generators == generator)
        vectors = np.concatenate([images.vectors[train], *(copy[train[images.development]] for copy in copies)])
        repeats = 1 + len(copies)
        score = fit(
            vectors, np.tile(images.quality[train], repeats), np.tile(generators[train], repeats), candidate
        )
        scores[test] = score(images.vectors[test])
    return scores


def fit(
    vectors: np.ndarray, labels: Floats, generators: np.ndarray, candidate: Candidate
) -> Callable[[np.ndarray], Floats]:
    """Train a kernel ridge regression on principal components, and return how it scores vectors."""
    raw = described(vectors, candidate)
    if candidate.scale == "half":
        raw = raw - 0.5 * (group_means(raw, generators) - raw.mean(axis=0))
        labels = labels - 0.5 * (group_means(labels, generators) - labels.mean())
    ordered = np.sort(raw, axis=0)
    mean, spread = raw.mean(axis=0), raw.std(axis=0) + 1e-6

    def scaled(values: Floats) -> Floats:
        if candidate.scale == "ranks":
            places = [np.searchsorted(each, column) for each, column in zip(ordered.T, values.T, strict=True)]
            return np.asarray(ndtri((np.stack(places, axis=1) + 0.5) / (len(ordered) + 1)))
        return np.asarray((values - mean) / spread)

    points = scaled(raw)
    means = np.stack([points[generators == each].mean(axis=0) for each in np.unique(generators)])
    between = np.linalg.svd(means - means.mean(axis=0), full_matrices=False)[2][: candidate.removed]
    points = points - points @ between.T @ between
    components = np.linalg.eigh(points.T @ points)[1][:, ::-1][:, : SETTINGS.dims]
    centres = points @ components
    gamma = SETTINGS.gamma / len(COLUMNS)
    intercept = float(labels.mean())
    ridge = SETTINGS.ridge * np.eye(len(labels))
    coefficients = np.linalg.solve(kernel(centres, centres, gamma) + ridge, labels - intercept)

    def score(others: np.ndarray) -> Floats:
        values = scaled(described(others, candidate))
        values = (values - values @ between.T @ between) @ components
        return np.asarray(intercept + kernel(values, centres, gamma) @ coefficients)

    return score


def described(vectors: np.ndarray, candidate: Candidate) -> Floats:
    """The columns that count; with ``stage``, each stage's means and deviations are standardised by themselves."""
    values = vectors[:, COLUMNS].astype(np.float64)
    values = signed_roots(values) if candidate.roots else values
    if candidate.scale != "stage":
        return values
    parts = [values[:, first:end] for first, end in pairwise(STAGES)]
    own = [(part - part.mean(axis=1, keepdims=True)) / (part.std(axis=1, keepdims=True) + 1e-6) for part in parts]
    return np.concatenate(own, axis=1)


def group_means(values: Floats, groups: np.ndarray) -> Floats:
    """For each row the mean of its group."""
    means = np.zeros_like(values)
    for group in np.unique(groups):
        means[groups == group] = values[groups == group].mean(axis=0)
    return means


def kernel(points: Floats, centres: Floats, gamma: float) -> Floats:
    squares = (points**2).sum(axis=1)[:, None] + (centres**2).sum(axis=1)
    return np.asarray(np.exp(-gamma * np.maximum(squares - 2 * points @ centres.T, 0.0)))


def copies_of(images: Images, kinds: str, cache: Path) -> list[np.ndarray]:
    """Vectors of one altered copy of each development image, for each kind."""
    names = images.table["name"].filter(images.development).to_list()
    chosen = {"": [], "all": list(ALTERATIONS)}.get(kinds, [kinds])
    return [altered_vectors(kind, [SOURCE / "image" / name for name in names], cache) for kind in chosen]


def altered_vectors(kind: str, files: Sequence[Path], cache: Path) -> np.ndarray:
    stored = cache / f"copies-{kind}.npy"
    if not stored.is_file():
        encoders = [load_encoder(name) for name in ENCODERS]
        parts = []
        for some in batches(altered_pixels(kind, files), AT_A_TIME):
            parts.append(np.concatenate([encoder.encode(some) for encoder in encoders], axis=1))
        np.save(stored, np.concatenate(parts))
    return np.asarray(np.load(stored))


def altered_pixels(kind: str, files: Sequence[Path]) -> Iterator[np.ndarray]:
    rng = np.random.default_rng([SEED, list(ALTERATIONS).index(kind)])
    for file in files:
        yield np.asarray(ALTERATIONS[kind](Image.open(file).convert("RGB"), rng))


def mirrored(image: Image.Image, _: np.random.Generator) -> Image.Image:
    return image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)


def cropped(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    side = rng.uniform(0.75, 1) * min(image.size)
    left, top = (rng.uniform(0, length - side) for length in image.size)
    return image.resize((min(image.size),) * 2, Image.Resampling.BICUBIC, (left, top, left + side, top + side))


def jpeg(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    content = BytesIO()
    image.save(content, "JPEG", quality=int(rng.integers(30, 91)))
    return Image.open(content).convert("RGB")


def colours(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    for enhance in (ImageEnhance.Brightness, ImageEnhance.Contrast, ImageEnhance.Color):
        image = enhance(image).enhance(rng.uniform(0.7, 1.3))
    return image


ALTERATIONS = {"mirrored": mirrored, "cropped": cropped, "jpeg": jpeg, "colours": colours}


if __name__ == "__main__":
    main()
