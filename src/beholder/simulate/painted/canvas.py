"""What a prompt and a seed fix of a painted image: the scene, and how it looks with each flaw that it could have.

The latents then only say how strong each flaw is. Places, kinds of flaws and wrong attributes are drawn from the
seed, so that an image before and after a change of the generator is the same image apart from its flaws.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from beholder.simulate.backdrop import Pixels
from beholder.simulate.flaws import FLAWS, Mask, draw_spot, spoil
from beholder.simulate.grammar import Attribute, Request, parse_prompt, stated
from beholder.simulate.memo import Memo
from beholder.simulate.misalign import alter
from beholder.simulate.painted.latents import CANDIDATES, PATTERNS, REGIONS
from beholder.simulate.render import Labels, render
from beholder.simulate.scene import Scene, lay_out

LEVELS = (0.5, 1.0)
"""Severities at which a flaw is rendered; between them, and down to no flaw, pictures are blended."""
ALTERABLE = ("object", "colour", "count", "size", "relation")
"""Names of the attributes that can be rendered wrong."""


@dataclass(frozen=True, eq=False)
class Canvas:
    """The fixed part of one image."""

    request: Request
    scene: Scene
    labels: Labels
    clean: Pixels  # (size, size, 3)
    flawed: NDArray[np.float16]  # (regions, levels, size, size, 3): difference from the clean picture
    altered: NDArray[np.float16]  # (candidates, size, size, 3): difference from the clean picture
    kinds: tuple[str, ...]  # of the regions
    masks: tuple[Mask, ...]  # of the regions, at full severity
    candidates: tuple[Attribute | None, ...]  # attributes that could be wrong; None where the prompt has fewer


_canvases: Memo[Canvas] = Memo(384 * 2**20, lambda canvas: canvas.flawed.nbytes + canvas.altered.nbytes)


def canvas(prompt: str, seed: int, size: int) -> Canvas:
    """Return the fixed part of the image of a prompt and a seed, ``size`` pixels square."""
    return _canvases.get((prompt, seed, size), lambda: _draw(parse_prompt(prompt), seed, size))


def _draw(request: Request, seed: int, size: int) -> Canvas:
    scene_seed, flaw_rng, alter_rng = _generators(seed)
    scene = _scene(request, request, scene_seed)
    rendering = render(scene, size)
    flawed = np.zeros((REGIONS, len(LEVELS), size, size, 3), np.float16)
    kinds, masks = [], []
    for region in range(REGIONS):
        kind, spot = tuple(FLAWS)[int(flaw_rng.integers(len(FLAWS)))], draw_spot(scene, flaw_rng)
        drawn = int(flaw_rng.integers(2**63))
        mask = np.zeros((size, size), np.bool_)
        for level, severity in enumerate(LEVELS):
            rng = np.random.default_rng(drawn)
            pixels, mask = spoil(kind, rendering.pixels, rendering.labels, spot, severity, rng)
            flawed[region, level] = pixels - rendering.pixels
        kinds.append(kind)
        masks.append(mask)
    candidates, altered = _alterations(request, scene_seed, alter_rng, rendering.pixels)
    return Canvas(
        request,
        scene,
        rendering.labels,
        rendering.pixels,
        flawed,
        altered,
        tuple(kinds),
        tuple(masks),
        candidates,
    )


def _generators(seed: int) -> tuple[int, np.random.Generator, np.random.Generator]:
    """Return the seed of the scene, and the generators of flaws and of wrong attributes."""
    scene, flaws, attributes = np.random.SeedSequence([seed, 21]).spawn(3)
    return (
        int(scene.generate_state(1, np.uint64)[0]),
        np.random.default_rng(flaws),
        np.random.default_rng(attributes),
    )


def _scene(painted: Request, request: Request, seed: int) -> Scene:
    requested = tuple(group.count for group in request.groups)
    return lay_out(painted, np.random.default_rng(seed), requested=requested)


def _alterations(
    request: Request, scene_seed: int, rng: np.random.Generator, clean: Pixels
) -> tuple[tuple[Attribute | None, ...], NDArray[np.float16]]:
    """Draw attributes that could be wrong, and render each one wrong by itself."""
    size = clean.shape[0]
    altered = np.zeros((CANDIDATES, size, size, 3), np.float16)
    drawn = candidate_attributes(request, rng)
    for number, attribute in enumerate(drawn):
        if attribute is not None:
            painted = alter(request, attribute, rng)
            altered[number] = render(_scene(painted, request, scene_seed), size).pixels - clean
    return drawn, altered


def candidate_attributes(request: Request, rng: np.random.Generator) -> tuple[Attribute | None, ...]:
    """Draw three attributes of the prompt that could be rendered wrong; ``None`` where it has fewer."""
    alterable = [attribute for attribute in stated(request) if attribute.name in ALTERABLE]
    order = rng.permutation(len(alterable))[:CANDIDATES]
    drawn: list[Attribute | None] = [alterable[int(place)] for place in order]
    return tuple(drawn + [None] * (CANDIDATES - len(drawn)))


@lru_cache(maxsize=8)
def patterns(size: int) -> Pixels:
    """Return the twelve periodic patterns at amplitude 1: stripes and dots, in grey and in red against green.

    (patterns, size, size, 3)
    """
    steps = (np.arange(size, dtype=np.float32) + np.float32(0.5)) / np.float32(size) * np.float32(2 * np.pi)
    fields = []
    for cycles in (4, 8, 16):
        stripes = np.broadcast_to(np.cos(cycles * steps)[None, :], (size, size))
        dots = np.cos(cycles * steps)[None, :] * np.cos(cycles * steps)[:, None]
        for field in (stripes, dots):
            for tone in ((1.0, 1.0, 1.0), (1.0, -1.0, 0.0)):
                fields.append(field[..., None] * np.array(tone, np.float32))
    assert len(fields) == PATTERNS
    return np.stack(fields).astype(np.float32)
