"""What can be judged, and the trials drawn from it: the items that each question kind makes of the images."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl

from beholder.study.kinds.catalogue import AnyQuestion, kind_of
from beholder.study.kinds.traits import ItemType

LEAST_ROW = 3
"""Images of one prompt that can be ranked at least."""


@dataclass(frozen=True, slots=True)
class Image:
    """What the design needs to know of an image."""

    image: str
    generator: str
    real: bool
    gold: bool
    prompt: str | None


@dataclass(frozen=True, slots=True)
class Item:
    """What is judged on one screen, and the stratum over which the items of a slot are balanced."""

    images: tuple[str, ...]
    stratum: str
    prompt: str | None = None
    expected: str | None = None


@dataclass(frozen=True, slots=True)
class DrawnTrial:
    """An item assigned to a slot, in a role (``test``, ``gold``, …)."""

    item: Item
    role: str
    propensity: float
    repeats: int | None = None
    """Position, among the test trials of the slot, of the trial that this one repeats."""
    block: int = 0


@dataclass(frozen=True, slots=True)
class Pools:
    """The images by what they may be used for."""

    real: tuple[Image, ...]
    generated: tuple[Image, ...]
    gold: tuple[Image, ...]

    @property
    def generators(self) -> tuple[str, ...]:
        """The generators that are judged."""
        return tuple(sorted({image.generator for image in self.generated}))


def pool_images(images: pl.DataFrame) -> Pools:
    """Sort the images into real, generated and gold ones, in the order of their ids."""
    columns = ["image", "generator", "real", "gold", "prompt"]
    all_images = [Image(*row) for row in images.select(columns).sort("image").iter_rows()]
    return Pools(
        real=tuple(i for i in all_images if i.real and not i.gold),
        generated=tuple(i for i in all_images if not i.real and not i.gold),
        gold=tuple(i for i in all_images if i.gold),
    )


def generated_items(question: AnyQuestion, pools: Pools, rng: np.random.Generator) -> tuple[Item, ...]:
    """Return all items of the question that concern generated images."""
    kind = kind_of(question)
    return GENERATED_ITEMS[kind.traits.items](pools, kind.shows(question), rng)


def single_item(image: Image) -> Item:
    """Return the item of one image by itself; its stratum is its generator, and whether it is real is known."""
    expected = "real" if image.real else "generated"
    return Item((image.image,), image.generator, image.prompt, expected)


def _singles(pools: Pools, size: int, rng: np.random.Generator) -> tuple[Item, ...]:  # noqa: ARG001
    """Return every generated image by itself."""
    return tuple(single_item(image) for image in pools.generated)


def _pairs(pools: Pools, size: int, rng: np.random.Generator) -> tuple[Item, ...]:  # noqa: ARG001
    """Return every pair of images of one prompt by two generators; the stratum is the pair of generators."""
    pairs: list[Item] = []
    for prompt, members in _by_prompt(pools).items():
        for first, second in combinations(members, 2):
            if first.generator != second.generator:
                stratum = f"{first.generator} × {second.generator}"
                pairs.append(Item((first.image, second.image), stratum, prompt))
    return tuple(pairs)


def _rows(pools: Pools, size: int, rng: np.random.Generator) -> tuple[Item, ...]:
    """Return, for each prompt with enough images, ``size`` of them, of as many generators as there are."""
    rows: list[Item] = []
    for prompt, members in _by_prompt(pools).items():
        if len(members) < size:
            continue
        earlier: dict[str, int] = defaultdict(int)
        turns: list[tuple[int, Image]] = []
        for number in rng.permutation(len(members)):
            image = members[int(number)]
            turns.append((earlier[image.generator], image))
            earlier[image.generator] += 1
        chosen = [image for _, image in sorted(turns, key=lambda turn: turn[0])[:size]]
        rows.append(Item(tuple(image.image for image in chosen), "all", prompt))
    return tuple(rows)


def largest_row(pools: Pools, most: int) -> int | None:
    """Return the size of a row, at most ``most``, by which the most images can be judged; ``None`` below three."""
    counts = [len(members) for members in _by_prompt(pools).values()]
    sizes = range(LEAST_ROW, most + 1)
    judged = {size: size * sum(count >= size for count in counts) for size in sizes}
    best = max(sizes, key=lambda size: (judged[size], size))
    return best if judged[best] else None


def _by_prompt(pools: Pools) -> dict[str, list[Image]]:
    """Group the generated images by prompt, in the order of generator and id."""
    grouped: dict[str, list[Image]] = defaultdict(list)
    for image in sorted(pools.generated, key=lambda image: (image.generator, image.image)):
        if image.prompt is not None:
            grouped[image.prompt].append(image)
    return dict(sorted(grouped.items()))


GENERATED_ITEMS: dict[ItemType, Callable[[Pools, int, np.random.Generator], tuple[Item, ...]]] = {
    "real-and-generated": _singles,
    "series": _singles,
    "generated": _singles,
    "pairs": _pairs,
    "rows": _rows,
}
"""From the images, and how many a trial shows, to the items of each type that concern generated images."""
