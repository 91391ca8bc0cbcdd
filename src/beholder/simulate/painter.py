"""Synthetic generators: images rendered from requests with known rates of flaws, and the ground truth of each.

The scene (places, tilts, light) is drawn from a generator of its own, so two policies given equal ``rng`` states
paint the same request as the same scene, apart from what their flaws change.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beholder.errors import FaultsError, UserError
from beholder.simulate import ground_truth as score
from beholder.simulate.backdrop import Pixels
from beholder.simulate.composition import COMPOSITIONS, compose_badly, haze
from beholder.simulate.flaws import FLAWS, Mask, draw_spot, spoil
from beholder.simulate.grammar import Attribute, Request, prompt_text, stated
from beholder.simulate.misalign import Misalignment, misalign
from beholder.simulate.render import Labels, render
from beholder.simulate.scene import Placed, Scene, lay_out

SMALLEST, LARGEST = 32, 1024
"""The sizes a picture can have, in pixels."""

MOST_REGIONS = 4
"""No picture has more implausible regions than this."""


@dataclass(frozen=True, slots=True)
class Policy:
    """A synthetic generator: known rates of flaws."""

    name: str
    implausible: float  # expected number of implausible regions per image (Poisson, capped at 4)
    misaligned: float  # probability that each attribute of the prompt is rendered wrong
    composition: float  # probability of a composition flaw
    haze: float = 0.0  # strength 0..1
    severity: float = 0.6  # mean severity

    def __post_init__(self) -> None:
        faults = [
            f"{setting} is {rate}, expected a number from 0 to 1"
            for setting, rate in (
                ("misaligned", self.misaligned),
                ("composition", self.composition),
                ("haze", self.haze),
            )
            if not 0 <= rate <= 1
        ]
        if not 0 <= self.implausible < float("inf"):
            faults.append(f"implausible is {self.implausible}, expected a mean number of regions, 0 or more")
        if not 0 < self.severity <= 1:
            faults.append(f"severity is {self.severity}, expected more than 0 and at most 1")
        if faults:
            raise FaultsError(f"policy {self.name!r}", faults)


FLAWLESS = Policy("real", 0, 0, 0)
"""The policy of real images: no flaws at all."""


@dataclass(frozen=True, slots=True)
class GroundTruth:
    """The ground truth of an image; the formulas are in :mod:`beholder.simulate.ground_truth`."""

    implausible: NDArray[np.bool_]  # (size, size)
    misaligned: NDArray[np.bool_]  # (size, size)
    misaligned_words: tuple[int, ...]  # positions in split_words(prompt)
    plausibility: float  # the four scores are in [0, 1], 1 = flawless
    alignment: float
    aesthetics: float
    overall: float
    detectability: float  # d′ against a real image, for an attentive rater with unlimited time
    flaws: tuple[str, ...]  # for the reader; the part before a colon names the kind


@dataclass(frozen=True, slots=True)
class Picture:
    """A rendered image, its prompt, and its ground truth."""

    pixels: NDArray[np.uint8]  # (size, size, 3)
    prompt: str
    truth: GroundTruth


@dataclass(frozen=True, slots=True)
class Region:
    """A flaw of one place."""

    name: str
    severity: float
    mask: Mask


@dataclass(frozen=True, eq=False)
class Painting:
    """A picture before it is flattened: what it would be without implausible regions, and these regions."""

    request: Request
    plain: Pixels  # (size, size, 3), without implausible regions
    spoiled: Pixels  # (size, size, 3), with them
    labels: Labels
    scene: Scene
    regions: tuple[Region, ...]
    misaligned: Misalignment
    composition: "_Composition | None"
    haze: float

    def truth(self, regions: Sequence[Region]) -> GroundTruth:
        """Return the ground truth of the picture with these implausible regions in place of its own."""
        return _ground_truth(
            self.request, self.misaligned, self.scene, self.labels, self.composition, list(regions), self.haze
        )

    def flatten(self) -> Picture:
        """Return the picture with all its flaws."""
        return Picture(to_bytes(self.spoiled), prompt_text(self.request), self.truth(self.regions))


def paint(request: Request, policy: Policy, *, size: int, rng: np.random.Generator) -> Picture:
    """Paint ``request`` as the generator ``policy`` would, ``size`` pixels square (32 to 1024)."""
    return paint_layers(request, policy, size=size, rng=rng).flatten()


def paint_layers(request: Request, policy: Policy, *, size: int, rng: np.random.Generator) -> Painting:
    """Paint the same, and keep the picture without implausible regions and the regions apart."""
    if not SMALLEST <= size <= LARGEST:
        raise UserError(f"size of a picture is {size} pixels, expected {SMALLEST} to {LARGEST}")
    scene_rng = np.random.default_rng(int(rng.integers(2**63)))
    misaligned = misalign(request, policy.misaligned, rng)
    scene = lay_out(misaligned.painted, scene_rng, requested=tuple(group.count for group in request.groups))
    scene, composition = _compose(scene, policy, rng)
    rendering = render(scene, size)
    plain = haze(rendering.pixels, policy.haze) if policy.haze > 0 else rendering.pixels
    spoiled, regions = _spoil(plain, rendering.labels, scene, policy, rng)
    return Painting(
        request, plain, spoiled, rendering.labels, scene, tuple(regions), misaligned, composition, policy.haze
    )


def to_bytes(pixels: Pixels) -> NDArray[np.uint8]:
    """Return pixels from 0 to 1 as bytes."""
    return (pixels * 255 + np.float32(0.5)).astype(np.uint8)


@dataclass(frozen=True, slots=True)
class _Composition:
    """A flaw of the whole picture."""

    name: str
    severity: float


def _compose(scene: Scene, policy: Policy, rng: np.random.Generator) -> tuple[Scene, _Composition | None]:
    if not rng.random() < policy.composition:
        return scene, None
    flaw = _Composition(_pick(rng, tuple(COMPOSITIONS)), _draw_severity(policy, rng))
    return compose_badly(scene, flaw.name, flaw.severity, rng), flaw


def _pick(rng: np.random.Generator, options: tuple[str, ...]) -> str:
    return options[int(rng.integers(len(options)))]


def _draw_severity(policy: Policy, rng: np.random.Generator) -> float:
    """Draw from a beta distribution with the policy's mean and a spread of about 0.19; at least 0.05."""
    mean = min(max(policy.severity, 0.03), 0.97)
    return max(0.05, float(rng.beta(6 * mean, 6 * (1 - mean))))


def _spoil(
    pixels: Pixels, labels: Labels, scene: Scene, policy: Policy, rng: np.random.Generator
) -> tuple[Pixels, list[Region]]:
    regions = []
    for _ in range(min(int(rng.poisson(policy.implausible)), MOST_REGIONS)):
        name, severity, spot = _pick(rng, tuple(FLAWS)), _draw_severity(policy, rng), draw_spot(scene, rng)
        pixels, mask = spoil(name, pixels, labels, spot, severity, rng)
        regions.append(Region(name, severity, mask))
    return pixels, regions


def _ground_truth(
    request: Request,
    misaligned: Misalignment,
    scene: Scene,
    labels: Labels,
    composition: _Composition | None,
    regions: list[Region],
    haze: float,
) -> GroundTruth:
    words = stated(request)
    implausible = np.zeros(labels.shape, dtype=np.bool_)
    for region in regions:
        implausible |= region.mask
    visibilities = [
        score.visibility(region.severity, np.count_nonzero(region.mask) / region.mask.size) for region in regions
    ]
    plausibility = score.plausibility(visibilities, haze)
    alignment = score.alignment(words, misaligned.wrong)
    severity = composition.severity if composition else 0.0
    aesthetics = score.aesthetics(score.taste(scene), severity, haze, plausibility)
    return GroundTruth(
        implausible=implausible,
        misaligned=_misaligned_mask(misaligned.wrong, scene, labels),
        misaligned_words=tuple(sorted(word for attribute in misaligned.wrong for word in words[attribute])),
        plausibility=plausibility,
        alignment=alignment,
        aesthetics=aesthetics,
        overall=score.overall(plausibility, alignment, aesthetics),
        detectability=score.detectability(visibilities, haze),
        flaws=(
            *misaligned.names,
            *((composition.name,) if composition else ()),
            *(region.name for region in regions),
            *(("haze",) if haze > 0 else ()),
        ),
    )


def _misaligned_mask(wrong: tuple[Attribute, ...], scene: Scene, labels: Labels) -> Mask:
    """Return where the wrong attributes show: the objects concerned, and the places of those that are missing.

    A wrong object, colour or size concerns its group, a wrong relation both groups, a wrong count only the objects
    too many or too few. For an object that is hidden by others its place stands, and for a place outside the frame
    the rest of its group.
    """
    mask = np.zeros(labels.shape, dtype=np.bool_)
    if not wrong:
        return mask
    counts = {attribute.group for attribute in wrong if attribute.name == "count"}
    groups = {attribute.group for attribute in wrong if attribute.name not in ("count", "relation")}
    if Attribute("relation") in wrong:
        groups = {0, 1}
    for number, placed in enumerate(scene.objects):
        if placed.group in groups or (placed.extra and placed.group in counts):
            visible = labels == number
            mask |= visible if visible.any() else _place(placed, labels.shape[0])
    for placed in scene.missing:
        place = _place(placed, labels.shape[0])
        mask |= place if place.any() else _visible(labels, scene, placed.group)
    return mask


def _visible(labels: Labels, scene: Scene, group: int) -> Mask:
    """Return where any object of a group shows; (size, size)."""
    of_group = np.array([placed.group == group for placed in scene.objects] + [False])  # the last is for label −1
    visible: Mask = of_group[labels]
    return visible


def _place(placed: Placed, size: int) -> Mask:
    """Return the disk an object takes up; (size, size)."""
    steps = (np.arange(size, dtype=np.float32) + np.float32(0.5)) / np.float32(size)
    far = (steps[None, :] - np.float32(placed.x)) ** 2 + (steps[:, None] - np.float32(placed.y)) ** 2
    disk: Mask = far < np.float32((0.9 * placed.radius) ** 2)
    return disk
