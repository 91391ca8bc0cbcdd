"""How often the painted generator errs before anybody improves it: what its flow is trained to imitate.

Its habits depend on the prompt and on what the seed drew, as those of real generators do: crowded scenes have more
implausible regions, counts and relations go wrong more often than objects, photographs are hazier than cartoons.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beholder.simulate.flaws import FLAWS
from beholder.simulate.grammar import SETTINGS, STYLES, Attribute, Request
from beholder.simulate.painted.canvas import ALTERABLE
from beholder.simulate.painted.latents import (
    CANDIDATES,
    CONTRAST,
    DIMS,
    FIRST_GAIN,
    FIRST_PATTERN,
    HAZE,
    REGIONS,
)

FEATURES = 1 + len(STYLES) + len(SETTINGS) + REGIONS * len(FLAWS) + CANDIDATES * (len(ALTERABLE) + 1)

PRESENT = (0.60, 0.45, 0.25, 0.10)
"""Probability that each region is flawed, in a scene of four objects."""
BY_KIND = {"melted": 1.2, "duplicated": 1.0, "torn": 0.9, "noisy": 0.8}
WRONG = {"object": 0.15, "colour": 0.25, "count": 0.35, "size": 0.30, "relation": 0.35}
"""Probability that each attribute is wrong; where its words are not heard, it is :data:`UNHEARD`."""
UNHEARD = 0.85
HAZE_BY_STYLE = {"photo": 0.45, "painting": 0.25, "cartoon": 0.15, "sketch": 0.30}
FLAT = 0.25
ABSENT = -0.35
"""Where the latent of a flaw that is not there lies, on average."""


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What a flow is conditioned on: the request, what the seed drew, and which attributes' words are heard."""

    request: Request
    kinds: tuple[str, ...]
    candidates: tuple[Attribute | None, ...]
    unheard: frozenset[Attribute] = frozenset()


def features(circumstances: Circumstances) -> NDArray[np.float32]:
    """Return the circumstances as numbers, (features,)."""
    request = circumstances.request
    objects = sum(group.count for group in request.groups)
    vector = [(objects - 4) / 4]
    vector += [float(style == request.style) for style in STYLES]
    vector += [float(setting == request.setting) for setting in SETTINGS]
    vector += [float(kind == drawn) for drawn in circumstances.kinds for kind in FLAWS]
    for candidate in circumstances.candidates:
        heard = candidate is not None and candidate not in circumstances.unheard
        vector += [float(heard and candidate is not None and candidate.name == name) for name in ALTERABLE]
        vector.append(float(candidate is not None and not heard))
    return np.array(vector, np.float32)


def draw_latents(circumstances: Circumstances, rng: np.random.Generator) -> NDArray[np.float32]:
    """Draw latents (dims,) as the generator's habits have them."""
    request = circumstances.request
    objects = sum(group.count for group in request.groups)
    crowd = 1 + 0.1 * (objects - 4)
    latents = np.zeros(DIMS, np.float32)
    latents[:FIRST_GAIN] = ABSENT + 0.1 * rng.standard_normal(FIRST_GAIN)
    for region, kind in enumerate(circumstances.kinds):
        if rng.random() < PRESENT[region] * BY_KIND[kind] * crowd:
            latents[region] = rng.beta(3.6, 2.4)
    for number, candidate in enumerate(circumstances.candidates):
        if candidate is not None and rng.random() < wrong_rate(candidate, circumstances.unheard):
            latents[REGIONS + number] = 1 + 0.1 * abs(rng.standard_normal())
    latents[HAZE] = HAZE_BY_STYLE[request.style] + 0.12 * rng.standard_normal()
    if rng.random() < FLAT:
        latents[CONTRAST] = rng.beta(3.0, 3.0)
    latents[FIRST_GAIN:FIRST_PATTERN] = 0.03 * rng.standard_normal(FIRST_PATTERN - FIRST_GAIN)
    latents[FIRST_PATTERN:] = 0.004 * rng.standard_normal(DIMS - FIRST_PATTERN)
    return latents


def wrong_rate(candidate: Attribute, unheard: Sequence[Attribute] | frozenset[Attribute]) -> float:
    """Return the probability that an attribute is rendered wrong."""
    return UNHEARD if candidate in unheard else WRONG[candidate.name]
