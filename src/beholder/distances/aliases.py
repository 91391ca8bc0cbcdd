"""Names that papers and other tools use, and the exact recipe that each stands for here."""

from collections.abc import Sequence
from dataclasses import dataclass

from beholder.distances.catalogue import DISTANCES
from beholder.errors import unknown_name
from beholder.models.encoders.catalogue import ENCODERS


@dataclass(frozen=True, slots=True)
class Alias:
    """One or more distances, and the encoders they are defined with."""

    distances: tuple[str, ...]
    recipe: str
    encoder: str | None = None
    """``None``: any encoder."""
    logits: str | None = None


ALIASES: dict[str, Alias] = {
    "fid": Alias(
        ("frechet",),
        "frechet over inception-v3-fid: Inception-v3 of 2015, TensorFlow 1's resize to 299 px",
        encoder="inception-v3-fid",
    ),
    "clean-fid": Alias(
        ("frechet",),
        "frechet over inception-v3-clean: the same network, antialiased bicubic resize",
        encoder="inception-v3-clean",
    ),
    "fd-dinov2": Alias(
        ("frechet",), "frechet over dinov2: DINOv2 ViT-L/14, its class token at 224 px", encoder="dinov2"
    ),
    "kid": Alias(
        ("kernel_subsets",),
        "kernel_subsets over inception-v3-fid: cubic kernel, mean over 100 subsets of 1,000 images",
        encoder="inception-v3-fid",
    ),
    "is": Alias(
        ("inception_score",),
        "inception_score over the class scores of inception-v3-logits, mean over 10 parts",
        logits="inception-v3-logits",
    ),
    "prdc": Alias(
        ("precision", "recall", "density", "coverage"),
        "precision, recall, density and coverage with 5 nearest neighbours, over the encoder that is chosen",
    ),
}
"""The distances that go by other names."""

NOT_OFFERED: dict[str, str] = {
    "lpips": "it compares an image with one reference image of its own, and generated images have none; for two "
    "sets of images, sliced_wasserstein or precision are nearest",
    "fls": "its fit depends on an optimiser; authenticity and ct detect copies",
}
"""Names that stand for nothing here, and why."""


@dataclass(frozen=True, slots=True)
class NamedDistances:
    """The distances that names stand for, with the encoders that they need."""

    by_encoder: dict[str, tuple[str, ...]]
    logits: str | None
    recipes: tuple[str, ...]
    """A line for each alias, to be printed."""
    faults: tuple[str, ...] = ()
    """Names that are not known, or do not fit the encoder."""


def resolve_distances(
    names: Sequence[str], encoder: str | None, logits: str | None, default: str
) -> NamedDistances:
    """Return the distances by encoder.

    ``encoder`` and ``logits`` are those that were asked for, ``default`` is the encoder where none was.
    """
    by_encoder: dict[str, list[str]] = {}
    faults, recipes = [], []
    faults += [
        unknown_name("encoder", each, ENCODERS) for each in (encoder, logits) if each and each not in ENCODERS
    ]
    for name in dict.fromkeys(names):
        alias = ALIASES.get(name.lower())
        if alias is None:
            if name in DISTANCES:
                by_encoder.setdefault(encoder or default, []).append(name)
            else:
                faults.append(_unknown_distance(name))
            continue
        if alias.encoder and encoder not in (None, alias.encoder):
            plain = ", ".join(alias.distances)
            faults.append(f"{name} is {alias.recipe}; over {encoder}, ask for {plain}")
            continue
        logits = logits or alias.logits
        by_encoder.setdefault(alias.encoder or encoder or default, []).extend(alias.distances)
        recipes.append(f"{name}: {alias.recipe}")
    distances = {key: tuple(dict.fromkeys(each)) for key, each in by_encoder.items()}
    return NamedDistances(distances, logits, tuple(recipes), tuple(faults))


def _unknown_distance(name: str) -> str:
    if name.lower() in NOT_OFFERED:
        return f"metric '{name}' is not offered: {NOT_OFFERED[name.lower()]}"
    return unknown_name("metric", name, [*DISTANCES, *ALIASES])
