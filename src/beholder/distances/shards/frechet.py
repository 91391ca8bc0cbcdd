"""Fréchet distances of sets in shards, from moments that merge: FD and FD∞.

Three passes over the shards: moments; where a covariance is singular, factors of it; and the influence of every
image, for the confidence interval. Answers are added up as they come: whatever the number of shards, a few
matrices of dims × dims are held (two for each size of FD∞), and 8 bytes per image. Small shards are joined, so
that an answer is no larger than the features that it is made of; two sets that are one such shard each are
compared at once, in one task.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from beholder.distances.eigenvalues import Symmetric
from beholder.distances.frechet import (
    Moments,
    Stretches,
    combined,
    frechet,
    influence,
    stretches_of_covariances,
    stretches_of_factors,
    triangle,
)
from beholder.distances.frechet_infinity import (
    LEAST,
    POINTS,
    frechet_infinity,
    frechet_of_sizes,
    line_through,
    subset_sizes,
)
from beholder.distances.result import JACKKNIFE, Distance, normal_quantile, standard_error
from beholder.distances.shards.moments import SetMoments, merge, shard_moments, shard_triangle, triangle_of
from beholder.distances.shards.shard import Joined, Shard, joined, sizes_of
from beholder.errors import StatisticsError
from beholder.stats.each import Map, in_turn


def frechet_of_shards(
    real: Sequence[Shard], generated: Sequence[Shard], *, level: float = 0.95, each: Map = in_turn
) -> Distance:
    """Return what :func:`beholder.distances.frechet.frechet` returns of the sets, with no set in memory.

    Args:
        real: The shards of the real images.
        generated: Those of the generated images.
        level: Of the confidence interval.
        each: What applies a function to every shard: ``map``, or an engine's.

    Returns:
        The distance, equal to that of the whole sets up to rounding.

    Example:
        >>> from beholder.distances.shards.shard import Held
        >>> corners = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 2.0]])
        >>> halves = [Held(corners[:2]), Held(corners[2:])]
        >>> round(frechet_of_shards(halves, [Held(corners + 3)]).value, 9)  # moved by 3 on both axes
        18.0
    """
    z = normal_quantile(level)
    real, generated = _fit_for_matrices(real, 1, each), _fit_for_matrices(generated, 1, each)
    if len(real) == len(generated) == 1:
        return next(each(partial(_at_once, level=level), [(real[0], generated[0])]))
    first, second = _moments(real, each), _moments(generated, each)
    stretches = _stretches(real, generated, first.moments(), second.moments(), each)
    value = combined(first.moments(), second.moments(), stretches.root_trace)
    shift = first.mean - second.mean
    influences = (
        np.concatenate(list(each(partial(_influence, mean=mean, shift=toward, stretch=stretch), shards)))
        for shards, mean, toward, stretch in (
            (real, first.mean, shift, stretches.first),
            (generated, second.mean, -shift, stretches.second),
        )
    )
    reach = z * standard_error(*influences)
    return Distance(
        name="frechet",
        value=value,
        low=max(0.0, value - reach),
        high=value + reach,
        level=level,
        method=JACKKNIFE,
        real=first.images,
        generated=second.images,
        dims=len(first.mean),
    )


def frechet_infinity_of_shards(
    real: Sequence[Shard],
    generated: Sequence[Shard],
    *,
    rng: np.random.Generator,
    points: int = POINTS,
    level: float = 0.95,
    each: Map = in_turn,
) -> Distance:
    """Return what :func:`beholder.distances.frechet_infinity.frechet_infinity` returns, from the same subsets."""
    z = normal_quantile(level)
    groups = [_fit_for_matrices(shards, points, each) for shards in (real, generated)]
    if len(groups[0]) == len(groups[1]) == 1:
        extrapolated = partial(_extrapolated_at_once, rng=rng, points=points, level=level)
        return next(each(extrapolated, [(groups[0][0], groups[1][0])]))
    plain = frechet_of_shards(real, generated, level=level, each=each)
    if plain.generated < LEAST:
        raise StatisticsError(f"FD∞: {plain.generated} generated images; needed are at least {LEAST}")
    sizes = subset_sizes(plain.generated, points)
    values = _by_size(real, groups[1], sizes, rng.permutation(plain.generated), each)
    intercept, error = line_through(1 / sizes, values)
    reach = z * float(np.hypot(error, (plain.high - plain.value) / z))
    return Distance(
        name="frechet_infinity",
        value=intercept,
        low=intercept - reach,
        high=intercept + reach,
        level=level,
        method=f"{plain.method}, and residuals of the line",
        real=plain.real,
        generated=plain.generated,
        dims=plain.dims,
        settings={"points": points, "smallest": int(sizes[0])},
    )


def _at_once(pair: tuple[Shard, Shard], level: float) -> Distance:
    """Return the distance of two sets that are no larger than their matrices."""
    return frechet(pair[0](), pair[1](), level=level)


def _extrapolated_at_once(
    pair: tuple[Shard, Shard], rng: np.random.Generator, points: int, level: float
) -> Distance:
    return frechet_infinity(pair[0](), pair[1](), rng=rng, points=points, level=level)


@dataclass(frozen=True, eq=False)
class _Steps:
    """The part of one or more shards in nested subsets."""

    between: list[SetMoments]  # of the images from one size to the next
    rows: NDArray[np.float64]  # (few, dims) those among the very first
    places: NDArray[np.int64]  # (few,) their places in the order


def _by_size(
    real: Sequence[Shard],
    generated: Sequence[Shard],
    sizes: NDArray[np.int64],
    order: NDArray[np.int64],
    each: Map,
) -> NDArray[np.float64]:
    """Return FD of all real images and the first n generated ones of the order, for each n of ``sizes``."""
    real = _fit_for_matrices(real, 1, each)
    first = _moments(real, each).moments()
    upper = None if first.covariance is None else triangle(first.covariance)
    root = _factor(real, first, each) if upper is None else upper  # (rank, dims)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    edges = np.concatenate([[0], np.cumsum([shard.shape[0] for shard in generated])])
    tasks = ((shard, place[a:z]) for shard, (a, z) in zip(generated, pairwise(edges.tolist()), strict=True))
    few = int(max([size for size in sizes if size <= len(root)], default=0))
    steps = _folded(each(partial(_steps, sizes=sizes, few=few), tasks))
    return frechet_of_sizes(_by_steps(steps, sizes, first, root), len(root))


def _folded(parts: Iterable[_Steps]) -> _Steps:
    """Return the part of all shards together; that of no more than one shard is held at a time."""
    between, rows, places = list[SetMoments](), list[NDArray[np.float64]](), list[NDArray[np.int64]]()
    for part in parts:
        if not between:
            between = list(part.between)
        else:
            for number, moments in enumerate(part.between):
                between[number] = between[number].merged(moments)
        rows.append(part.rows)
        places.append(part.places)
    order = np.argsort(np.concatenate(places))
    return _Steps(between, np.concatenate(rows)[order], np.concatenate(places)[order])


def _by_steps(
    steps: _Steps, sizes: NDArray[np.int64], first: Moments, root: NDArray[np.float64]
) -> Iterator[tuple[float, Symmetric]]:
    """Yield for each size all of FD but the roots, and the matrix whose eigenvalues' roots are subtracted."""
    for size, moments in zip(sizes.tolist(), accumulate(steps.between, SetMoments.merged), strict=True):
        shift = first.mean - moments.mean
        rest = float(shift @ shift) + first.spread + float(np.trace(moments.products)) / (size - 1)
        if size <= len(root):
            centred = (steps.rows[:size] - steps.rows[:size].mean(axis=0)) @ root.T
            yield rest, Symmetric(centred @ centred.T / (size - 1), zeros=1)
        else:
            yield rest, Symmetric(root @ (moments.products / (size - 1)) @ root.T)


def _steps(task: tuple[Shard, NDArray[np.int64]], sizes: NDArray[np.int64], few: int) -> _Steps:
    shard, place = task
    features = shard()
    step = np.searchsorted(sizes, place, side="right")
    early = place < few
    return _Steps(
        [shard_moments(features[step == number]) for number in range(len(sizes))],
        np.asarray(features[early], np.float64),
        place[early],
    )


def _fit_for_matrices(shards: Sequence[Shard], matrices: int, each: Map) -> list[Joined]:
    """Return the shards joined to 2 · matrices · dims images: in single precision the bytes of the matrices."""
    return joined(shards, sizes_of(shards, each), 2 * matrices * shards[0].shape[1])


def _moments(shards: Sequence[Shard], each: Map) -> SetMoments:
    merged = merge(each(_shard_moments, shards))
    if merged.images < 2:
        raise StatisticsError(f"Fréchet distance: {merged.images} images in all shards; needed are at least 2")
    return merged


def _shard_moments(shard: Shard) -> SetMoments:
    return shard_moments(shard())


def _stretches(
    real: Sequence[Shard], generated: Sequence[Shard], first: Moments, second: Moments, each: Map
) -> Stretches:
    if first.covariance is not None and second.covariance is not None:
        stretches = stretches_of_covariances(first.covariance, second.covariance)
        if stretches is not None:
            return stretches
    return stretches_of_factors(_factor(real, first, each), _factor(generated, second, each))


def _factor(shards: Sequence[Shard], moments: Moments, each: Map) -> NDArray[np.float64]:
    """Return an F with FᵀF = Σ of all shards: triangles of shards are triangulated together."""
    gathered, images = np.zeros((0, len(moments.mean))), 0
    for size, part in each(partial(_triangle, mean=moments.mean), shards):
        images += size
        gathered = triangle_of(np.concatenate([gathered, part]))
    return np.asarray(gathered / np.sqrt(images - 1), np.float64)


def _triangle(shard: Shard, mean: NDArray[np.float64]) -> tuple[int, NDArray[np.float64]]:
    features = shard()
    return len(features), shard_triangle(features, mean)


def _influence(
    shard: Shard, mean: NDArray[np.float64], shift: NDArray[np.float64], stretch: NDArray[np.float64]
) -> NDArray[np.float64]:
    features = shard()
    return influence(features, mean, shift, stretch) if len(features) else np.zeros(0)
