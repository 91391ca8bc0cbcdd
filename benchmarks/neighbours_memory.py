"""Peak memory and time of precision, recall, density, coverage and authenticity at 50,000 × 1,024 features.

``python benchmarks/neighbours_memory.py``
"""

import resource
import time

import numpy as np
from numpy.typing import NDArray

from beholder.distances.neighbours import neighbours

IMAGES, DIMS, PORTION = 50_000, 1024, 5_000


def main() -> None:
    rng = np.random.default_rng(DIMS)
    mixing = rng.standard_normal((DIMS, DIMS), np.float32) / np.float32(np.sqrt(DIMS))
    real, generated = (_features(rng, mixing, scale) for scale in (1.0, 1.1))
    before = _peak()
    began = time.perf_counter()
    searched = neighbours(real, generated)
    seconds = time.perf_counter() - began
    print(f"{IMAGES:,} × {DIMS:,} a side, {(real.nbytes + generated.nbytes) / 1e9:.2f} GB of features")
    print(f"covered {searched.covered.mean():.4f}, recalled {searched.recalled.mean():.4f}; {seconds:.0f} s")
    print(f"peak memory of the process: {_peak():.2f} GB ({before:.2f} GB before)")


def _features(rng: np.random.Generator, mixing: NDArray[np.float32], scale: float) -> NDArray[np.float32]:
    """Return features, generated in portions, so that generating them takes little memory."""
    fall = (scale * (1 + np.arange(DIMS)) ** -0.5).astype(np.float32)
    features = np.empty((IMAGES, DIMS), np.float32)
    for start in range(0, IMAGES, PORTION):
        features[start : start + PORTION] = (rng.standard_normal((PORTION, DIMS), np.float32) * fall) @ mixing
    return features


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


if __name__ == "__main__":
    main()
