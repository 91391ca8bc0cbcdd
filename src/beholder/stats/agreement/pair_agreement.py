"""How often two raters of an item agree, and how far that is beyond chance: what Fleiss' κ and Gwet's AC share."""

import numpy as np
from numpy.typing import NDArray


def pair_agreement(
    sums: NDArray[np.float64], squares: NDArray[np.float64], credit: NDArray[np.float64] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean agreement of pairs, and the mean proportion of each category.

    These are (replicates,) and (categories, replicates).

    ``sums`` and ``squares`` (items, categories, replicates) are Σw and Σw² of the raters. ``credit`` (categories,
    categories) is what a pair counts, with 1 on the diagonal; 1 for equal and 0 for different ones where none is
    given. Agreement is over items with two raters, proportions are over items with one; nan where there is none.
    """
    size = sums.sum(axis=1)  # (items, replicates)
    copies = squares.sum(axis=1)
    pairs = size**2 - copies
    beside = sums if credit is None else np.einsum("ck,ikd->icd", credit, sums, optimize=True)
    agree = np.einsum("icd,icd->id", sums, beside) - copies
    proportions = np.divide(sums, size[:, None], out=np.zeros_like(sums), where=size[:, None] > 0)
    each = np.divide(agree, pairs, out=np.zeros_like(pairs), where=pairs > 0)
    paired, judged = (pairs > 0).sum(axis=0), (size > 0).sum(axis=0)
    observed = np.where(paired > 0, each.sum(axis=0) / np.maximum(paired, 1), np.nan)
    return observed, proportions.sum(axis=0) / np.maximum(judged, 1)


def beyond_chance(observed: NDArray[np.float64], chance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (observed − chance)/(1 − chance), nan where chance alone would agree on everything."""
    defined = chance < 1 - 1e-12
    return np.where(defined, (observed - chance) / np.where(defined, 1 - chance, 1.0), np.nan)
