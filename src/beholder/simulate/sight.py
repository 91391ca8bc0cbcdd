"""The ground truth of images as simulated raters perceive it, before any noise or habit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from beholder.study.kinds.kind import Point

ASPECTS = ("plausibility", "alignment", "aesthetics", "overall")


@dataclass(frozen=True, slots=True)
class Sight:
    """The ground truth of the images of one trial, in the order shown."""

    detectability: NDArray[np.float64]  # (images,) d′ against a real image
    quality: Mapping[str, NDArray[np.float64]]  # aspect -> (images,) from 0 to 1
    points: Mapping[str, tuple[tuple[Point, ...], ...]] = field(default_factory=dict)
    """aspect -> the flawed points of each image"""
    words: tuple[int, ...] = ()
    """positions of the misaligned keywords of the first image's prompt"""


@dataclass(frozen=True, slots=True)
class View:
    """The ground truth of one image."""

    detectability: float
    quality: Mapping[str, float]
    points: Mapping[str, tuple[Point, ...]] = field(default_factory=dict)
    words: tuple[int, ...] = ()


def sight_of(views: Sequence[View]) -> Sight:
    """Return the ground truth of the images of a trial together."""
    marked = sorted({aspect for view in views for aspect in view.points})
    return Sight(
        detectability=np.asarray([view.detectability for view in views]),
        quality={aspect: np.asarray([view.quality[aspect] for view in views]) for aspect in ASPECTS},
        points={aspect: tuple(view.points.get(aspect, ()) for view in views) for aspect in marked},
        words=views[0].words if views else (),
    )
