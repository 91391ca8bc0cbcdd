"""By how much a score must rise before a change counts as better: from the scorer's own interval.

With w the half-width of the scorer's 95 % prediction interval of one image, and ρ the correlation of its errors on
an image before and after a change, the difference of two scores is within

    margin = w √(2 (1 − ρ))

of the difference of the raters' mean scores for 95 % of images, by the same normal approximation. A change
touches a part of an image, so both errors are much alike. ρ is estimated from other images and their changes,
with a second scorer in the place of the raters: the errors are own − held-out before, and after. That scorer
errs by itself, which lowers ρ and raises the margin. Without a second scorer ρ is 0 and the margin is widest.
"""

import numpy as np
from numpy.typing import ArrayLike

from beholder.errors import UserError

FEWEST = 8
"""Changes from which the correlation is estimated; with fewer it is 0."""


def error_correlation(
    own_before: ArrayLike, own_after: ArrayLike, held_out_before: ArrayLike, held_out_after: ArrayLike
) -> float:
    """Return the correlation, at least 0, of the errors of a scorer before and after changes."""
    before = np.asarray(own_before, np.float64) - np.asarray(held_out_before, np.float64)
    after = np.asarray(own_after, np.float64) - np.asarray(held_out_after, np.float64)
    if len(before) < FEWEST or before.std() == 0 or after.std() == 0:
        return 0.0
    return float(max(np.corrcoef(before, after)[0, 1], 0.0))


def margin_of(half_width: float | None, correlation: float = 0.0) -> float:
    """Return w √(2 (1 − ρ)); an error where the scorer has no interval."""
    if half_width is None:
        raise UserError(
            "the scorer records no prediction interval, so there is no margin to keep a change by: train it by "
            "`beholder learn` with validation images, or set --margin"
        )
    return float(half_width * np.sqrt(2 * (1 - min(max(correlation, 0.0), 1.0))))
