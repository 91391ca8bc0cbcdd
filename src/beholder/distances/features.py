"""Feature vectors as input of a distance, checked: one error lists all faults of both sets."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.errors import StatisticsError

Features = NDArray[np.float32] | NDArray[np.float64]
"""One row per image: (images, dims). Single precision is not converted, to save memory; sums are in double."""


def checked_pair(
    name: str, real: ArrayLike, generated: ArrayLike, *, least: int = 2, why: str = ""
) -> tuple[Features, Features]:
    """Both sets as floating-point arrays of the same dims, with at least ``least`` images each, all finite."""
    sets = {"real": _as_floats(real), "generated": _as_floats(generated)}
    faults = [fault for kind, vectors in sets.items() for fault in _faults(kind, vectors, least, why)]
    shapes = [vectors.shape for vectors in sets.values()]
    if all(len(shape) == 2 for shape in shapes) and shapes[0][1] != shapes[1][1]:
        faults.append(
            f"the real features have {shapes[0][1]} dims and the generated {shapes[1][1]}; use one encoder"
        )
    if faults:
        raise StatisticsError(f"{name}: {'; '.join(faults)}")
    return sets["real"], sets["generated"]


def checked(name: str, kind: str, vectors: ArrayLike, *, least: int = 2, why: str = "") -> Features:
    """One set as a floating-point array, with at least ``least`` images, all finite."""
    features = _as_floats(vectors)
    if faults := _faults(kind, features, least, why):
        raise StatisticsError(f"{name}: {'; '.join(faults)}")
    return features


def doubles(vectors: Features) -> NDArray[np.float64]:
    """The vectors in double precision; the same array if they already are."""
    return np.asarray(vectors, np.float64)


def _as_floats(vectors: ArrayLike) -> Features:
    features = np.asarray(vectors)
    if features.dtype in (np.float32, np.float64):
        return features
    if features.dtype == np.float16:
        return features.astype(np.float32)
    if np.issubdtype(features.dtype, np.integer) or features.dtype == np.bool_ or features.size == 0:
        return features.astype(np.float64)
    raise StatisticsError(f"features are real numbers, (images, dims); found {features.dtype}")


def _faults(kind: str, vectors: Features, least: int, why: str) -> list[str]:
    if vectors.ndim != 2 or (vectors.size == 0 and len(vectors) > 0):
        return [f"the {kind} features have shape {vectors.shape}; needed is (images, dims)"]
    faults = []
    if len(vectors) < least:
        faults.append(f"{len(vectors)} {kind} images; needed are at least {least}{f' {why}' if why else ''}")
    broken = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if len(broken):
        faults.append(
            f"{len(broken)} of {len(vectors)} {kind} images have NaN or infinite features, the first is row "
            f"{broken[0]}; encode them again or leave them out"
        )
    return faults
