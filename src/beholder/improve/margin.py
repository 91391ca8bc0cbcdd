"""By how much a score must rise before a change counts as better: from the scorer's own interval.

With w the half-width of the scorer's 95 % prediction interval of one image, and ρ the correlation of its errors on
an image before and after a change, the error of the difference of two scores is at most

    m₁ = (1.645/1.960) w √(2 (1 − ρ))

upwards for 95 % of images, by the same normal approximation: a change is called better by mistake in at most one
of twenty cases where nothing changed. A change touches a part of an image, so both errors are much alike. ρ is
estimated from other images and their changes, with a second scorer in the place of the raters: the errors are
own − held-out before, and after.

The interval holds the raters' mean, so w is wider than the scorer's own error by what raters differ. The same
changes give a second bound, from the gains g by the scorer and h by the held-out one,

    m₂ = 1.645 √(mean (g − h)²),

which holds the held-out scorer's errors instead of the raters', and what the choice of the best try adds. Both are
too wide for the error that is meant, and the smaller one is the margin. Without a second scorer ρ is 0, and m₁ is
the margin.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from beholder.errors import UserError

FEWEST = 8
"""Changes from which the two bounds are estimated; with fewer ρ is 0."""

ONE_SIDED, TWO_SIDED = 1.6449, 1.9600
"""95 % quantiles of the normal distribution."""


@dataclass(frozen=True, slots=True)
class Margin:
    """The least gain at which a change is kept, and what it follows from."""

    margin: float
    correlation: float
    """ρ: of the scorer's errors before and after changes."""
    by_interval: float | None
    """m₁."""
    by_changes: float | None
    """m₂; nothing without a held-out scorer."""


def choose_margin(
    half_width: float | None,
    own_before: ArrayLike = (),
    own_after: ArrayLike = (),
    held_out_before: ArrayLike = (),
    held_out_after: ArrayLike = (),
) -> Margin:
    """Return the margin of a scorer.

    Args:
        half_width: Of its 95 % prediction interval.
        own_before: Its scores of other images before a change, and
        own_after: after it.
        held_out_before: Scores of the same images by a held-out scorer, and
        held_out_after: after it.

    Returns:
        The smaller of the two bounds; an error where there is neither.
    """
    own = [np.asarray(scores, np.float64) for scores in (own_before, own_after)]
    other = [np.asarray(scores, np.float64) for scores in (held_out_before, held_out_after)]
    enough = len(own[0]) >= FEWEST and len(other[0]) == len(own[0])
    correlation = error_correlation(*own, *other) if enough else 0.0
    by_interval = (
        None if half_width is None else ONE_SIDED / TWO_SIDED * half_width * float(np.sqrt(2 * (1 - correlation)))
    )
    by_changes = None
    if enough:
        by_changes = ONE_SIDED * float(np.sqrt((((own[1] - own[0]) - (other[1] - other[0])) ** 2).mean()))
    bounds = [bound for bound in (by_interval, by_changes) if bound is not None]
    if not bounds:
        raise UserError(
            "the scorer records no prediction interval, so there is no margin to keep a change by: train it by "
            "`beholder learn` with validation images, name a second scorer with --held-out, or set --margin"
        )
    return Margin(min(bounds), correlation, by_interval, by_changes)


def error_correlation(
    own_before: ArrayLike, own_after: ArrayLike, held_out_before: ArrayLike, held_out_after: ArrayLike
) -> float:
    """Return the correlation, at least 0, of the errors of a scorer before and after changes."""
    before = np.asarray(own_before, np.float64) - np.asarray(held_out_before, np.float64)
    after = np.asarray(own_after, np.float64) - np.asarray(held_out_after, np.float64)
    if before.std() == 0 or after.std() == 0:
        return 0.0
    return float(np.clip(np.corrcoef(before, after)[0, 1], 0.0, 1.0))
