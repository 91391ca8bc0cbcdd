"""All scorers by name. A new one is a file beside this and a line below."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Literal

from beholder.errors import UserError, WeightsError
from beholder.measure.scorers import natural_scene
from beholder.measure.scorers.brightness import brightness
from beholder.measure.scorers.chrominance import chroma_mean, chroma_spread
from beholder.measure.scorers.colourfulness import colourfulness
from beholder.measure.scorers.contrast import contrast
from beholder.measure.scorers.prompt_length import prompt_length
from beholder.measure.scorers.saturation import saturation
from beholder.measure.scorers.scorer import Need, Pixels, Scorer, by_pixels, by_prompt
from beholder.measure.scorers.sharpness import sharpness
from beholder.models.catalogue import NEEDED

Weights = Mapping[str, str]
"""Name of a network (``clip``, ``aesthetic``) -> a folder, file or hub name."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a scorer is made, what it judges and from what, and which of its values are better."""

    load: Callable[[str, Weights], Scorer]
    aspect: str
    about: str
    needs: tuple[Need, ...] = ("image",)
    better: Literal["lower", "higher"] | None = None
    """``None`` where neither more nor less is better as such."""
    networks: tuple[str, ...] = ()
    """Weights that it loads: the scorer runs by default only if it needs none."""


def _pixels(measure: Callable[[Pixels], float], aspect: str, about: str) -> Recipe:
    return Recipe(lambda name, _: by_pixels(name, measure), aspect, about)


def _clip_score(name: str, weights: Weights) -> Scorer:
    return _loader("clip_score", name)(name, weights.get("clip"))


def _aesthetic(name: str, weights: Weights) -> Scorer:
    if "aesthetic" not in weights:
        raise WeightsError(
            f"scorer '{name}' needs a file as weights 'aesthetic': LAION's sac+logos+ava1-l14-linearMSE.pth, "
            "or sa_0_4_vit_l_14_linear.pth"
        )
    return _loader("aesthetic", name)(name, weights["aesthetic"], weights.get("clip"))


SCORERS: dict[str, Recipe] = {
    "sharpness": _pixels(sharpness, "sharpness", "variance of the Laplacian of luma"),
    "contrast": _pixels(contrast, "contrast", "standard deviation of luma"),
    "brightness": _pixels(brightness, "brightness", "mean luma"),
    "saturation": _pixels(saturation, "colour", "mean distance from grey (HSV)"),
    "colourfulness": _pixels(colourfulness, "colour", "Hasler and Süsstrunk's M"),
    "chroma-mean": _pixels(chroma_mean, "colour", "mean chroma in the Cb–Cr plane"),
    "chroma-spread": _pixels(chroma_spread, "colour", "standard deviation of chroma"),
    "nss-shape": _pixels(natural_scene.shape, "naturalness", "shape of normalised luma; BRISQUE's first feature"),
    "nss-spread": _pixels(natural_scene.spread, "naturalness", "variance of normalised luma; its second"),
    "prompt-length": Recipe(
        lambda name, _: by_prompt(name, prompt_length), "prompt", "words of the prompt", ("prompt",)
    ),
    "clip-score": Recipe(
        _clip_score,
        "alignment",
        "CLIPScore: 2.5 · cosine of image and prompt",
        ("image", "prompt"),
        "higher",
        ("clip",),
    ),
    "aesthetic": Recipe(
        _aesthetic, "aesthetics", "LAION's head on CLIP", ("image",), "higher", ("aesthetic", "clip")
    ),
}
"""The scorers, with what is to be known of each."""

DEFAULT = tuple(name for name, recipe in SCORERS.items() if not recipe.networks)
"""Scorers that need no weights."""


def load_scorer(name: str, weights: Weights | None = None) -> Scorer:
    """The scorer of that name, with its usual weights or those given."""
    check_names([name], weights or {})
    return SCORERS[name].load(name, weights or {})


def check_names(names: list[str], weights: Weights) -> None:
    """Refuse scorers and networks that are not known, all at once."""
    known = sorted({network for recipe in SCORERS.values() for network in recipe.networks})
    faults = [
        f"scorer '{name}' is not known; known: {', '.join(SCORERS)}" for name in names if name not in SCORERS
    ]
    faults += [
        f"no scorer has weights '{name}'; known: {', '.join(known)}" for name in weights if name not in known
    ]
    if faults:
        raise UserError("\n".join(faults))


def _loader(module: str, name: str) -> Callable[..., Scorer]:
    """The ``load`` of a file that needs torch, imported now."""
    try:
        found = import_module(f"beholder.measure.scorers.{module}").load
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in NEEDED:
            raise
        raise UserError(
            f"scorer '{name}' needs {error.name}, which is not installed: pip install \"beholder[models]\""
        ) from error
    loader: Callable[..., Scorer] = found
    return loader
