"""CMMD: MMD² with a Gaussian kernel of σ = 10 on features of unit length, times 1000.

1000 · (mean k(x, x′) + mean k(y, y′) − 2 mean k(x, y)), k(x, y) = exp(−|x − y|²/2σ²), over all pairs, x with
itself included (the biased form). Jayasumana et al., "Rethinking FID" (2024), with the features of CLIP ViT-L/14
at 336 px.

Unit vectors lie at most 2 apart, so σ = 10 makes the kernel all but linear, 1 − |x − y|²/200, and CMMD is
10 · |mean x − mean y|² within about 2 %: it depends on the mean of the features and on hardly anything else.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.distances.features import Features, checked_pair
from beholder.distances.mmd import mmd
from beholder.distances.result import Distance, normal_quantile
from beholder.errors import StatisticsError

SIGMA, SCALE = 10.0, 1000.0


def cmmd(real: ArrayLike, generated: ArrayLike, *, level: float = 0.95) -> Distance:
    """Return CMMD of two sets of features, scaled to unit length; 0 for identical sets, lower is better."""
    z = normal_quantile(level)
    real_features, generated_features = checked_pair("CMMD", real, generated)
    value, error = mmd(
        _unit("real", real_features), _unit("generated", generated_features), _gaussian, unbiased=False
    )
    value, error = max(0.0, SCALE * value), SCALE * error
    return Distance(
        name="cmmd",
        value=value,
        low=max(0.0, value - z * error) if np.isfinite(error) else error,
        high=value + z * error,
        level=level,
        method="jackknife over images",
        real=len(real_features),
        generated=len(generated_features),
        dims=real_features.shape[1],
        settings={"sigma": SIGMA, "scale": SCALE},
    )


def _gaussian(
    products: NDArray[np.float64], rows: NDArray[np.float64], columns: NDArray[np.float64]
) -> NDArray[np.float64]:
    products *= 2
    products -= rows
    products -= columns
    products /= 2 * SIGMA**2
    return np.exp(products, out=products)


def _unit(kind: str, vectors: Features) -> NDArray[np.float64]:
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1)
    if not lengths.all():
        raise StatisticsError(
            f"CMMD: {int((lengths == 0).sum())} {kind} images have features of length 0, the first is row "
            f"{int(np.argmin(lengths))}; CMMD needs directions"
        )
    return np.asarray(vectors / lengths[:, None], np.float64)
