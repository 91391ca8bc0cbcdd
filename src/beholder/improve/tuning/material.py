"""What a generator is tuned on, from a study: its prompts, images that a scorer chooses, or raters' own pairs."""

import hashlib
import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import torch
from torch.nn import functional

from beholder.errors import UserError, unknown_name
from beholder.images.decode import decode_file
from beholder.improve.tuning.generators import KnowsTruth
from beholder.improve.tuning.losses import Examples, Pairs, Prompts
from beholder.improve.tuning.reward import Reward
from beholder.improve.tuning.tune import Material
from beholder.models.pipelines.generator import Context, TrainableGenerator
from beholder.models.pipelines.sampling import sample
from beholder.scorers.rich.reward import HasGradients
from beholder.tables.schemas.generate import DONE
from beholder.tables.store import Store

SEEDS = 64
"""Seeds per prompt that tuning draws from."""


@dataclass(frozen=True, slots=True)
class PromptSplit:
    """Prompts to tune on, and unseen ones to measure on."""

    tuned: tuple[str, ...]
    unseen: tuple[str, ...]


def split_prompts(prompts: Sequence[str], rng: np.random.Generator, unseen: float = 0.4) -> PromptSplit:
    """Split distinct prompts at random."""
    distinct = list(dict.fromkeys(prompts))
    if len(distinct) < 8:
        raise UserError(
            f"{len(distinct)} prompts; at least 8 are needed: some to tune on, unseen ones to measure on"
        )
    order = rng.permutation(len(distinct))
    cut = round(len(distinct) * (1 - unseen))
    chosen = [distinct[int(place)] for place in order]
    return PromptSplit(tuple(chosen[:cut]), tuple(chosen[cut:]))


def reward_material(prompts: Sequence[str], reward: Reward, seed: int) -> Material:
    """Prompts and a reward, for DRaFT, ReFL and DDPO."""
    seeds = tuple(int(drawn) for drawn in np.random.SeedSequence([seed, 41]).generate_state(SEEDS))
    return Material(Prompts(tuple(prompts), seeds), reward, fingerprint=_fingerprint(prompts, reward.identity))


def best_material(
    generator: TrainableGenerator,
    prompts: Sequence[str],
    reward: Reward,
    *,
    candidates: int,
    seed: int,
    heatmaps: HasGradients | None = None,
    aspect: str = "implausibility",
) -> Material:
    """The best of several images of each prompt, for SFT.

    With ``heatmaps`` the loss is weighed by where an image is predicted to be flawless, 1 − heatmap.
    """
    seeds = [int(drawn) for drawn in np.random.SeedSequence([seed, 42]).generate_state(candidates)]
    texts, chosen, latents, weights = list(prompts), list[int](), [], []
    for prompt in texts:
        with torch.no_grad():
            drawn = sample(generator, [prompt] * candidates, seeds)
            best = int(np.argmax(reward.plain(drawn.images, [prompt] * candidates)))
            chosen.append(seeds[best])
            latents.append(drawn.latents[best])
            if heatmaps is not None:
                flawed = heatmaps.with_gradients(drawn.images[best : best + 1], [prompt]).heatmaps[aspect]
                weights.append(_weights(flawed.to(drawn.latents), drawn.latents[best]))

    def context_of(rows: Sequence[int]) -> Context:
        return generator.context([texts[row] for row in rows], [chosen[row] for row in rows])

    spread = torch.stack(weights) if weights else None
    examples = Examples(torch.stack(latents), context_of, spread)
    weighed = "" if heatmaps is None else aspect
    return Material(examples=examples, fingerprint=_fingerprint(prompts, reward.identity, candidates, weighed))


def _weights(heatmap: torch.Tensor, latents: torch.Tensor) -> torch.Tensor:
    """1 − heatmap at the size of latents (channels, height, width); for other latents, its mean for all parts."""
    if latents.ndim < 3:
        return (1 - heatmap.mean()).expand(latents.shape)
    sized = functional.interpolate(1 - heatmap[None], tuple(latents.shape[-2:]), mode="area")[0]
    return sized.expand(latents.shape)


def pair_material(
    folder: Path, names: Sequence[str], generator: TrainableGenerator, prompts: Collection[str]
) -> Material:
    """Raters' own pairs of images of some prompts, for Diffusion-DPO.

    Of the generators that are named; of all where none is. A generator that knows its images by their seeds alone
    needs them named, and those seeds recorded.
    """
    by_seed = isinstance(generator, KnowsTruth)
    if by_seed and not names:
        raise UserError(
            f"{generator.identity.name} knows images by their seeds: name with --pairs-of whose images of the "
            "study it made"
        )
    rows = study_pairs(folder, names).filter(pl.col("text").is_in(list(prompts)))
    if by_seed:
        rows = rows.drop_nulls(["seed_image", "seed_other"])
    if rows.is_empty():
        whose = f"two images by {', '.join(names)}" if names else "two generated images"
        raise UserError(
            f"{folder}: raters compared no {whose} of a prompt to tune on; Diffusion-DPO needs their own pairs: "
            "run a study with a comparison question, such as hpd-pairs"
        )
    rows = rows.with_columns(pl.col("seed_image", "seed_other").fill_null(0))
    texts, share = rows["text"].to_list(), torch.tensor(rows["value"].to_list(), dtype=torch.float32)
    sides = {}
    for side in ("image", "other"):
        seeds = [int(seed) for seed in rows[f"seed_{side}"].to_list()]
        pixels = [_tensor(folder / path) for path in rows[f"path_{side}"].to_list()]
        latents = torch.cat(
            [
                generator.encode(image, generator.context([prompt], [seed]))
                for image, prompt, seed in zip(pixels, texts, seeds, strict=True)
            ]
        )
        sides[side] = (latents, seeds)
    return _paired(generator, texts, sides, share, _fingerprint(texts, *names, rows["value"].to_list()))


def _paired(
    generator: TrainableGenerator,
    prompts: list[str],
    sides: dict[str, tuple[torch.Tensor, list[int]]],
    share: torch.Tensor,
    fingerprint: str,
) -> Material:
    def context_of(rows: Sequence[int], first: bool) -> Context:
        seeds = sides["image" if first else "other"][1]
        return generator.context([prompts[row] for row in rows], [seeds[row] for row in rows])

    called: Callable[[Sequence[int], bool], Context] = context_of
    return Material(pairs=Pairs(sides["image"][0], sides["other"][0], called, share), fingerprint=fingerprint)


def study_pairs(folder: Path, names: Sequence[str] = ()) -> pl.DataFrame:
    """Pairs of images of one prompt that raters compared: texts, seeds, paths, and votes for the first.

    Of the generators that are named, or of all. Seeds are empty for images whose seeds were not recorded.
    """
    store = Store(folder)
    images = store.read("images").filter(~pl.col("real") & ~pl.col("gold"))
    generators = sorted(images["generator"].unique())
    for name in names:
        if name not in generators:
            raise UserError(unknown_name("generator", name, generators))
    images = images.filter(pl.col("generator").is_in(list(names) or generators)).select("image", "path", "prompt")
    texts = store.read_or_empty("prompts").select("prompt", "text")
    generations = store.read_or_empty("generations").filter(pl.col("status") == DONE).select("path", "seed")
    about = images.join(texts, on="prompt").join(generations, on="path", how="left")
    labels = store.read("labels").filter(pl.col("method") == "preference", pl.col("other").is_not_null())
    first = about.rename({"path": "path_image", "seed": "seed_image"})
    second = about.rename({"image": "other", "path": "path_other", "seed": "seed_other"}).drop("text")
    return (
        labels.select("image", "other", "value")
        .join(first, on="image")
        .join(second, on=("other", "prompt"))
        .select("text", "seed_image", "seed_other", "path_image", "path_other", "value")
    )


def _tensor(path: Path) -> torch.Tensor:
    pixels = np.array(decode_file(path).convert("RGB"), np.uint8)
    return torch.from_numpy(pixels).movedim(-1, 0)[None].float() / 255


def _fingerprint(*parts: object) -> str:
    return hashlib.sha256(json.dumps([str(part) for part in parts]).encode()).hexdigest()
