"""What to know before distances of few or unequal numbers of images are compared."""

from collections.abc import Mapping, Sequence

COVARIANCES = ("frechet", "frechet_infinity")
"""Distances that estimate a covariance of all dims."""

UNEQUAL = 1.1
"""Numbers of images that differ by more than this factor are named."""


def cautions(distances: Sequence[str], dims: int, real: int, generated: Mapping[str, int]) -> list[str]:
    """Return a sentence for each reason why distances may mislead: too few images, or unequal numbers of them."""
    sentences = []
    estimating = [name for name in distances if name in COVARIANCES]
    few = {name: count for name, count in {"real images": real, **generated}.items() if 0 < count <= dims}
    if estimating and few:
        counts = ", ".join(f"{name} {count:,}" for name, count in few.items())
        sentences.append(
            f"{' and '.join(estimating)}: fewer images than the {dims:,} dims of the encoder ({counts}): the "
            "covariance is singular and the value far too large. Compare it only at equal numbers, or use kernel"
        )
    numbers = sorted(generated.values())
    if len(numbers) > 1 and numbers[-1] > UNEQUAL * numbers[0]:
        sentences.append(
            f"the generators have between {numbers[0]:,} and {numbers[-1]:,} images: most distances depend on the "
            "number of images, so compare generators at equal numbers"
        )
    return sentences
