"""Colours that the prompt names, compared with the pixels of the image.

Each pixel of the image at 64 × 64 has one of eleven basic colour terms (Berlin and Kay 1969), by its hue,
saturation and brightness. For each term in the prompt, the root of the proportion of such pixels is
standardised by its mean and standard deviation over generated images; *warm* and *cold* do the same with the
mean of red minus blue. The score is the mean over the terms of the prompt: above 0, the image has more of these
colours than usual. It is 0 for prompts without any.
"""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from beholder.scorers.scorer import Scorer, ScorerInput

SIDE = 64
TERMS = ("black", "white", "grey", "red", "orange", "yellow", "green", "blue", "purple", "pink", "brown")
SPELLINGS = {"gray": "grey", "violet": "purple", "golden": "yellow"}
HUES = {"orange": (15, 45), "yellow": (45, 70), "green": (70, 170), "blue": (170, 255), "purple": (255, 290)}
"""Degrees of hue; pink is 290 to 345 and pale red, red the rest, brown dark orange."""
USUAL = {
    "black": (0.361, 0.253),
    "white": (0.186, 0.196),
    "grey": (0.308, 0.250),
    "red": (0.197, 0.194),
    "orange": (0.219, 0.194),
    "yellow": (0.143, 0.165),
    "green": (0.127, 0.197),
    "blue": (0.218, 0.255),
    "purple": (0.043, 0.096),
    "pink": (0.104, 0.155),
    "brown": (0.305, 0.243),
}
"""Term -> mean and standard deviation of the root of its proportion over 1,915 images of AGIQA-3K."""
USUAL_WARMTH = (0.086, 0.133)
"""The same of mean red minus mean blue, from −1 to 1."""
TEMPERATURES = {"warm": 1.0, "cold": -1.0}
WORD = re.compile(r"[a-z]+")


def colour_words(image: Image.Image, prompt: str) -> float:
    """Return how much more than usual of the colours of its prompt an image has, in standard deviations."""
    named, temperatures = _colours_of(prompt)
    if not named and not temperatures:
        return 0.0
    pixels = np.asarray(image.convert("RGB").resize((SIDE, SIDE), Image.Resampling.BOX), np.float64) / 255
    proportions = colour_proportions(pixels)
    differences = [(proportions[term] ** 0.5 - USUAL[term][0]) / USUAL[term][1] for term in named]
    warmth = (float((pixels[..., 0] - pixels[..., 2]).mean()) - USUAL_WARMTH[0]) / USUAL_WARMTH[1]
    return float(np.mean(differences + [TEMPERATURES[word] * warmth for word in temperatures]))


def names_colours(prompt: str) -> bool:
    """Return whether a prompt names colours, or asks for warm or cold ones.

    Example:
        >>> names_colours("a golden crown"), names_colours("a crown")
        (True, False)
    """
    return any(_colours_of(prompt))


def _colours_of(prompt: str) -> tuple[list[str], list[str]]:
    """The terms and the temperatures that a prompt names."""
    words = {SPELLINGS.get(word, word) for word in WORD.findall(prompt.lower())}
    return [term for term in TERMS if term in words], [word for word in TEMPERATURES if word in words]


def colour_proportions(pixels: NDArray[np.float64]) -> dict[str, float]:
    """Return the proportion of pixels (height, width, 3), from 0 to 1, of each term; they add up to 1.

    Example:
        >>> proportions = colour_proportions(np.array([[[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]]))
        >>> proportions["red"], proportions["black"]
        (0.5, 0.5)
    """
    most, least = pixels.max(axis=-1), pixels.min(axis=-1)
    saturation = (most - least) / np.maximum(most, 1e-9)
    hue = _hue(pixels, most, most - least)
    black = most < 0.2
    pale = ~black & (saturation < 0.15)
    coloured = ~black & ~pale
    masks = {"black": black, "white": pale & (most > 0.8), "grey": pale & (most <= 0.8)}
    masks |= {term: coloured & (hue >= low) & (hue < high) for term, (low, high) in HUES.items()}
    reddish = coloured & ((hue < 15) | (hue >= 345))
    light = reddish & (saturation < 0.6) & (most > 0.7)
    masks |= {"red": reddish & ~light, "pink": light | (coloured & (hue >= 290) & (hue < 345))}
    masks |= {"brown": masks["orange"] & (most < 0.65), "orange": masks["orange"] & (most >= 0.65)}
    return {term: float(masks[term].mean()) for term in TERMS}


def _hue(
    pixels: NDArray[np.float64], most: NDArray[np.float64], chroma: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Hue in degrees; 0 for greys."""
    red, green, blue = np.moveaxis(pixels, -1, 0)
    divisor = np.where(chroma > 0, chroma, 1.0)
    sixths = np.select(
        [chroma == 0, most == red, most == green],
        [0.0, (green - blue) / divisor % 6, (blue - red) / divisor + 2],
        (red - green) / divisor + 4,
    )
    return np.asarray(60 * sixths)


def load(name: str) -> Scorer:
    """Load the scorer; it needs no weights."""

    def score(inputs: Sequence[ScorerInput]) -> NDArray[np.float64]:
        pairs = [(each.image, each.prompt or "") for each in inputs]
        return np.array([colour_words(image, prompt) if image else np.nan for image, prompt in pairs], np.float64)

    return Scorer(name, f"{name}@1", score)
