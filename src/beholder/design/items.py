"""What can be judged: the items that each question kind draws from the images."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl

from beholder.study.kinds.catalogue import AnyQuestion, kind_of
from beholder.study.kinds.traits import ItemType


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
    """Something to be judged on one screen, and the stratum over which people's items are evened out."""

    images: tuple[str, ...]
    stratum: str
    prompt: str | None = None
    expected: str | None = None


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


def pools_of(images: pl.DataFrame) -> Pools:
    """Real, generated and gold images, in the order of their ids."""
    columns = ["image", "generator", "real", "gold", "prompt"]
    all_images = [Image(*row) for row in images.select(columns).sort("image").iter_rows()]
    return Pools(
        real=tuple(i for i in all_images if i.real and not i.gold),
        generated=tuple(i for i in all_images if not i.real and not i.gold),
        gold=tuple(i for i in all_images if i.gold),
    )


def generated_items(question: AnyQuestion, pools: Pools, rng: np.random.Generator) -> tuple[Item, ...]:
    """All items of the question that concern generated images."""
    kind = kind_of(question)
    return GENERATED_ITEMS[kind.traits.items](pools, kind.shows(question), rng)


def single(image: Image) -> Item:
    """One image by itself; its stratum is its generator, and whether it is real is known."""
    expected = "real" if image.real else "generated"
    return Item((image.image,), image.generator, image.prompt, expected)


def _singles(pools: Pools, size: int, rng: np.random.Generator) -> tuple[Item, ...]:  # noqa: ARG001
    """Every generated image by itself."""
    return tuple(single(image) for image in pools.generated)


def _pairs(pools: Pools, size: int, rng: np.random.Generator) -> tuple[Item, ...]:  # noqa: ARG001
    """Every pair of images of one prompt by two generators; the stratum is the pair of generators."""
    pairs: list[Item] = []
    for prompt, members in _by_prompt(pools).items():
        for one, other in combinations(members, 2):
            if one.generator != other.generator:
                stratum = f"{one.generator} × {other.generator}"
                pairs.append(Item((one.image, other.image), stratum, prompt))
    return tuple(pairs)


def _rows(pools: Pools, size: int, rng: np.random.Generator) -> tuple[Item, ...]:
    """For each prompt with enough images, ``size`` of them, of as many generators as there are."""
    rows: list[Item] = []
    for prompt, members in _by_prompt(pools).items():
        if len(members) < size:
            continue
        seen: dict[str, int] = defaultdict(int)
        turns: list[tuple[int, Image]] = []
        for number in rng.permutation(len(members)):
            image = members[int(number)]
            turns.append((seen[image.generator], image))
            seen[image.generator] += 1
        chosen = [image for _, image in sorted(turns, key=lambda turn: turn[0])[:size]]
        rows.append(Item(tuple(image.image for image in chosen), "all", prompt))
    return tuple(rows)


def _by_prompt(pools: Pools) -> dict[str, list[Image]]:
    """Generated images by prompt, in the order of generator and id."""
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
