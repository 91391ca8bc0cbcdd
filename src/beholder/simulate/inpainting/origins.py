"""How each image of a synthetic study was painted, so that it can be painted again with or without its flaws."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from PIL import Image

from beholder.errors import UserError
from beholder.simulate.grammar import parse_prompt
from beholder.simulate.painter import FLAWLESS, Painting, Policy, paint_layers
from beholder.simulate.policies import GENERATORS, KNOWN_BAD
from beholder.tables.schemas.generate import DONE
from beholder.tables.store import TRUTH_ROOM, Store

NOT_PAINTED = (
    "{folder} has images that the synthetic world did not paint: its inpainters know only those that "
    "`beholder demo` and generators of kind painter made. Name another one with --inpainter"
)


@dataclass(frozen=True, slots=True)
class Origin:
    """What an image was painted from: equal origins give equal pixels."""

    prompt: str
    policy: Policy
    seed: tuple[int, ...]
    size: int

    def paint(self) -> Painting:
        """Paint it again, flaws apart."""
        rng = np.random.default_rng(self.seed)
        return paint_layers(parse_prompt(self.prompt), self.policy, size=self.size, rng=rng)


def pixel_key(pixels: NDArray[np.uint8]) -> str:
    """The hash by which an image is recognised: of its pixels, not of its file."""
    return hashlib.sha256(repr(pixels.shape).encode() + np.ascontiguousarray(pixels).tobytes()).hexdigest()


def study_origins(folder: Path) -> dict[str, Origin]:
    """Return the origin of every image of a synthetic study, by the image's id; an error where it is not one."""
    store = Store(folder)
    images = store.read("images")
    origins = _generated(store, images)
    if len(origins) < images.height:
        origins |= _of_world(store, images.filter(~pl.col("image").is_in(list(origins))))
    if len(origins) < images.height:
        raise UserError(NOT_PAINTED.format(folder=folder))
    return origins


def _generated(store: Store, images: pl.DataFrame) -> dict[str, Origin]:
    """Images that came from generators of kind painter."""
    rows = store.read_or_empty("generations").filter(pl.col("status") == DONE, pl.col("kind") == "painter")
    joined = images.select("path", "image").join(rows, on="path", how="inner")
    return {
        row["image"]: Origin(
            row["sent"],
            Policy(**json.loads(row["settings"])["policy"]),
            (int(row["seed"] or 0), 13),
            int(row["width"] or 192),
        )
        for row in joined.iter_rows(named=True)
    }


def _of_world(store: Store, images: pl.DataFrame) -> dict[str, Origin]:
    """Images of a world that was painted at once, such as the demo's; the first one is compared with its file."""
    record = Store(store.folder, TRUTH_ROOM).provenance("scores")
    if record is None or record.stage != "simulate" or not {"size", "prompts"} <= record.settings.keys():
        raise UserError(NOT_PAINTED.format(folder=store.folder))
    texts = dict(store.read("prompts").select("prompt", "text").iter_rows())
    size = int(str(record.settings["size"]))
    origins: dict[str, Origin] = {}
    for image, prompt in images.select("image", "prompt").iter_rows():
        policy, seed = _policy_and_seed(image, record.seed)
        if policy is not None and prompt in texts:
            origins[image] = Origin(texts[prompt], policy, seed, size)
    first = images.filter(pl.col("image").is_in(list(origins))).head(1).to_dicts()
    if not first or not _same_pixels(store.folder / first[0]["path"], origins[first[0]["image"]]):
        raise UserError(NOT_PAINTED.format(folder=store.folder))
    return origins


def _policy_and_seed(image: str, seed: int) -> tuple[Policy | None, tuple[int, ...]]:
    """The policy and the seed of an image of a world, whose id is ``policy/number``."""
    name, _, number = image.partition("/")
    policies: Mapping[str, tuple[int, Policy]] = {
        policy.name: (place, policy) for place, policy in enumerate((*GENERATORS, KNOWN_BAD))
    }
    if not number.isdigit():
        return None, ()
    if name == FLAWLESS.name:
        return FLAWLESS, (seed, 12, int(number))
    if name not in policies:
        return None, ()
    place, policy = policies[name]
    return policy, (seed, 11, place, int(number))


def _same_pixels(path: Path, origin: Origin) -> bool:
    with Image.open(path) as image:
        return np.array_equal(np.asarray(image.convert("RGB")), origin.paint().flatten().pixels)
