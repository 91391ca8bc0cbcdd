"""Simulated raters: how they perceive and decide, how long they take, and the bad habits of some."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from beholder.simulate.sight import ASPECTS, Sight
from beholder.study.kinds.kind import Point, Sensed

BAD = ("lazy", "random", "fast", "malicious")
"""Habits that make answers worthless; screening should detect each."""

TYPICAL_SECONDS = 1.5
"""Median response time of the median rater who calls one image real or generated."""

SUBTLE = ("side-biased", "tired")
"""Habits that spoil answers a little; screening may or may not detect them."""


@dataclass(frozen=True, slots=True)
class SimulatedRater:
    """A rater who perceives quality as true + leniency + side bias + noise, evidence as d′·acuity + N(0, 1)."""

    rater: str
    habit: str
    acuity: float = 1.0
    criterion: float = 1.0
    """evidence above which an image is called generated"""
    noise: float = 0.15
    """standard deviation of perceived quality, on the scale from 0 to 1"""
    leniency: float = 0.0
    indifference: float = 0.06
    """difference in perceived quality below which two images tie"""
    side_pull: float = 0.0
    """added to the perceived quality of the first image"""
    drift: float = 0.0
    """by which noise grows, and acuity falls, from the first trial to the last"""
    lapse: float = 0.01
    """probability of an answer without looking"""
    notice: float = 0.85
    """probability of noticing a flawed region or a misaligned keyword"""
    threshold_ms: float = 250.0
    """exposure at which half of the evidence is available"""
    slope: float = 2.0
    seconds: float = TYPICAL_SECONDS
    """median response time"""

    def sense(
        self, sight: Sight, *, progress: float, exposure_ms: float | None, rng: np.random.Generator
    ) -> Sensed:
        """Return what the rater perceives, ``progress`` (0 to 1) of the way through the session."""
        images = len(sight.detectability)
        tired = 1 + self.drift * progress
        evidence = sight.detectability * self.acuity / tired * self.visibility(exposure_ms)
        pull = np.zeros(images)
        pull[0] = self.side_pull if images > 1 else 0.0
        quality = {
            aspect: sight.quality[aspect] + self.leniency + pull + rng.normal(0, self.noise * tired, images)
            for aspect in ASPECTS
        }
        return Sensed(
            generated=evidence + rng.normal(0, 1, images),
            quality=quality,
            criterion=self.criterion,
            indifference=self.indifference,
            points={aspect: self._noticed(places, rng) for aspect, places in sight.points.items()},
            words=tuple(word for word in sight.words if rng.random() < self.notice),
        )

    def visibility(self, exposure_ms: float | None) -> float:
        """Return the fraction of evidence available: 1 − 2^−(exposure/threshold)^slope; 1 without a limit."""
        if exposure_ms is None:
            return 1.0
        return float(1 - 2 ** -((exposure_ms / self.threshold_ms) ** self.slope))

    def draw_seconds(self, base: float, rng: np.random.Generator) -> float:
        """Draw a response time, log-normal about the median of this rater and task."""
        return float(self.seconds * base * np.exp(rng.normal(0, 0.45)))

    def _noticed(
        self, places: tuple[tuple[Point, ...], ...], rng: np.random.Generator
    ) -> tuple[tuple[Point, ...], ...]:
        """Return the flawed points that the rater notices, each displaced a little."""
        return tuple(
            tuple(
                (_unit(x + rng.normal(0, 0.02)), _unit(y + rng.normal(0, 0.02)))
                for x, y in image
                if rng.random() < self.notice
            )
            for image in places
        )


def _unit(fraction: float) -> float:
    return min(max(float(fraction), 0.0), 1.0)


def draw_honest_rater(rater: str, rng: np.random.Generator) -> SimulatedRater:
    """Draw an ordinary, honest rater: raters differ in acuity, criterion, noise, leniency and speed."""
    return SimulatedRater(
        rater=rater,
        habit="noisy",
        acuity=float(np.exp(rng.normal(0, 0.15))),
        criterion=float(rng.normal(1.0, 0.2)),
        noise=float(rng.uniform(0.1, 0.2)),
        leniency=float(rng.normal(0, 0.05)),
        threshold_ms=float(250 * np.exp(rng.normal(0, 0.2))),
        seconds=float(TYPICAL_SECONDS * np.exp(rng.normal(0, 0.25))),
    )


HABITS: dict[str, Callable[[SimulatedRater], SimulatedRater]] = {
    "ideal": lambda p: replace(p, acuity=1.0, criterion=1.0, noise=0.02, leniency=0.0, lapse=0.0, notice=1.0),
    "noisy": lambda p: p,
    "lenient": lambda p: replace(p, leniency=p.leniency + 0.12, criterion=p.criterion + 0.3),
    "harsh": lambda p: replace(p, leniency=p.leniency - 0.12, criterion=p.criterion - 0.3),
    "side-biased": lambda p: replace(p, side_pull=0.3, criterion=p.criterion - 0.6),
    "tired": lambda p: replace(p, drift=1.5, seconds=p.seconds * 1.3),
    "lazy": lambda p: replace(p, seconds=p.seconds * 0.6),
    "random": lambda p: p,
    "fast": lambda p: replace(p, seconds=0.12),
    "malicious": lambda p: p,
}
"""How each habit changes an ordinary rater. *lazy*, *random*, *fast* and *malicious* also answer differently."""


def with_habit(rater: SimulatedRater, habit: str) -> SimulatedRater:
    """Return the rater with a habit."""
    return replace(HABITS[habit](rater), habit=habit)


def draw_raters(number: int, bad: int, rng: np.random.Generator) -> tuple[SimulatedRater, ...]:
    """Draw raters in random order: ``bad`` of them with bad or subtle habits in turn, the others honest.

    Among the honest, one in eight is lenient and one in eight harsh.
    """
    if not 0 <= bad <= number:
        raise ValueError(f"bad must lie between 0 and {number}, found {bad}")
    bad_habits = [(*BAD, *BAD, *SUBTLE)[i % (2 * len(BAD) + len(SUBTLE))] for i in range(bad)]
    good_habits = [{0: "lenient", 4: "harsh"}.get(i % 8, "noisy") for i in range(number - bad)]
    habits = [*bad_habits, *good_habits]
    order: NDArray[np.int64] = rng.permutation(number)
    return tuple(
        with_habit(draw_honest_rater(f"rater-{place:04d}", rng), habits[int(which)])
        for place, which in enumerate(order)
    )
