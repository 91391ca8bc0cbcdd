"""How the warnings of trained models came to recognise drawings: ``python benchmarks/drawn_shift.py CACHE``.

Prints, for several ways to draw and several strengths of the regression, how often a kind of unlike images is
reported that was left out of the training: altered images of AGIQA-3K, drawings as large as the images of the
training, and a synthetic world, which is never trained on. Images of the prompts that were put aside
(``benchmarks/agiqa_scorer.py``) and the worlds of ``benchmarks/trained_shift.py`` are not looked at.
"""

import argparse
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from trained_shift import TESTED, agiqa_prompts, encode_all, opened, painted, sample

from beholder.models.encoders.catalogue import load_encoder
from beholder.models.encoders.encoder import Encoder, Vectors
from beholder.models.shift.altered import REFERENCE
from beholder.models.shift.altered_set import MOST_EACH, altered_set
from beholder.models.shift.drawn import DRAWINGS
from beholder.models.shift.light import LIGHT, PIXELS
from beholder.models.shift.train import DRAWN, PromptedVectors, train_warning
from beholder.models.shift.warning import ShiftWarning

WORLD = 4242
"""The seed of the synthetic world, painted as large as the images of the training."""
STRENGTHS = (0.001, 0.01, 0.03, 0.1, 0.3)
IMAGES, FEWER = 1_600, 600
"""Images that are looked at, of which those of a quarter of the prompts are tested; fewer to train on."""
ADDED = "patterned"
"""The kind of drawings that was added; it is tested in all ways."""

Unlike = Mapping[str, PromptedVectors]
"""Kind -> images of it."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cache", type=Path, metavar="CACHE")
    cache = parser.parse_args().cache
    encoders = [load_encoder(encoder) for encoder in (*LIGHT, PIXELS)]
    files, numbers = sample(agiqa_prompts()[0], IMAGES)
    of_training = np.isin(numbers, np.random.default_rng(1).permutation(numbers.max() + 1)[numbers.max() // 4 :])
    vectors = encode(encoders, map(opened, files))
    usual = PromptedVectors(vectors[of_training], numbers[of_training])
    training_files = [file for file, chosen in zip(files, of_training, strict=True) if chosen]
    altered = altered_by_kind(encoders, training_files, usual.prompts)
    rng = np.random.default_rng(2)
    small, large, tested = (drawn_by_kind(encoders, rng, side) for side in (None, REFERENCE, REFERENCE))
    world = encode(encoders, map(opened, sorted(painted(cache, WORLD, REFERENCE, TESTED // 5))))
    half = np.arange(MOST_EACH) % 2 == 0
    mixed = {kind: joined([small[kind].where(half), large[kind].where(half)]) for kind in DRAWINGS}
    twice = {kind: joined([small[kind], large[kind]]) for kind in DRAWINGS}
    ways = {
        "of any side": (FEWER, without(small, ADDED)),
        "half of them of 512 px": (FEWER, without(mixed, ADDED)),
        f"and {ADDED}": (FEWER, mixed),
        f"twice as many of each kind, and {ADDED}": (FEWER, twice),
        f"the same, and {len(usual.vectors):,} images": (len(usual.vectors), twice),
    }
    print(f"| drawings | strength | mean | {' | '.join([*altered, *tested])} | world | false alarms |")
    print(f"|---|---|---|{'---|' * (len(altered) + len(tested) + 2)}")
    for (name, (count, drawn)), strength in product(ways.items(), STRENGTHS):
        kinds = {**altered, **drawn}
        chosen = usual.where(np.arange(len(usual.vectors)) < count)

        def warning(
            left_out: str, usual: PromptedVectors = chosen, kinds: Unlike = kinds, strength: float = strength
        ) -> ShiftWarning:
            against = joined(list(without(kinds, left_out).values()))
            return train_warning(encoders, usual, against, strength=strength)

        rates = [reported(warning(kind), unlike.vectors) for kind, unlike in {**altered, **tested}.items()]
        of_all = [reported(warning(""), images) for images in (world, vectors[~of_training])]
        cells = " | ".join(f"{value:.2f}" for value in [*rates, *of_all])
        print(f"| {name} | {strength:g} | {np.mean(rates):.3f} | {cells} |", flush=True)


def reported(warning: ShiftWarning, vectors: Vectors) -> float:
    return float((warning.shifts(vectors) > 1).mean())


def altered_by_kind(encoders: Sequence[Encoder], files: Sequence[str], prompts: NDArray[np.int64]) -> Unlike:
    """Altered copies of the images by kind; their prompts are those of the originals."""
    changed = [
        (kind, int(prompts[number]), image)
        for kind, number, image in altered_set(
            lambda number: opened(files[number]), len(files), np.random.default_rng(0)
        )
        if number is not None
    ]
    kinds, origins = np.array([kind for kind, _, _ in changed]), np.array([origin for _, origin, _ in changed])
    images = PromptedVectors(encode(encoders, (image for _, _, image in changed)), origins)
    return {str(kind): images.where(kinds == kind) for kind in dict.fromkeys(kinds)}


def drawn_by_kind(encoders: Sequence[Encoder], rng: np.random.Generator, side: int | None) -> Unlike:
    """Drawings of a side by kind."""
    no_prompts = np.full(MOST_EACH, DRAWN)
    return {
        kind: PromptedVectors(encode(encoders, (draw(of_kind, side) for _ in range(MOST_EACH))), no_prompts)
        for (kind, draw), of_kind in zip(DRAWINGS.items(), rng.spawn(len(DRAWINGS)), strict=True)
    }


def encode(encoders: Sequence[Encoder], images: Iterable[Image.Image]) -> Vectors:
    """Vectors of all encoders side by side, (images, dims)."""
    return np.concatenate(list(encode_all(encoders, images).values()), axis=1)


def without(kinds: Unlike, left_out: str) -> Unlike:
    return {kind: images for kind, images in kinds.items() if kind != left_out}


def joined(parts: Sequence[PromptedVectors]) -> PromptedVectors:
    vectors, prompts = ([getattr(part, name) for part in parts] for name in ("vectors", "prompts"))
    return PromptedVectors(np.concatenate(vectors), np.concatenate(prompts))


if __name__ == "__main__":
    main()
