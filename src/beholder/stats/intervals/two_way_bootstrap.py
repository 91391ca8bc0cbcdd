"""The two-way bootstrap: raters and images are both samples, so both are resampled.

A confidence interval that resamples raters alone speaks of these very images. To speak of all images a generator
might make, images are resampled too. In Owen's pigeonhole bootstrap (2007, "The pigeonhole bootstrap", Annals of
Applied Statistics 1) a replicate weighs the answer of rater i to image j by uᵢ·vⱼ, the times rater and image were
drawn.

With lᵢⱼ the linear influence of the answers of i to j on the estimate, the three sums of squares

    P = Σᵢ (Σⱼ lᵢⱼ)²,    Q = Σⱼ (Σᵢ lᵢⱼ)²,    R = Σᵢⱼ lᵢⱼ²

hold all that is needed: the replicates have the variance P + Q + R, which counts what is neither rater nor image
three times, while P + Q − R counts it once (Cameron, Gelbach and Miller 2011). The interval therefore reaches less
far into the replicates than their own spread would have it; see :func:`two_way_ratio`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse, special

from beholder.errors import StatisticsError
from beholder.stats.estimate import Estimates
from beholder.stats.intervals.bootstrap_intervals import accelerated_interval

METHOD = "calibrated BCa bootstrap over raters and images"

_BLOCK = 4_000_000  # elements of the floating-point copies made at a time


def two_way_ratio(
    raters: ArrayLike,
    images: ArrayLike,
    numerators: ArrayLike,
    denominators: ArrayLike,
    cells: ArrayLike,
    rater_weights: NDArray[np.integer],
    image_weights: NDArray[np.integer],
    *,
    level: float = 0.95,
) -> Estimates:
    """Return Σ numerators / Σ denominators of each cell, with a confidence interval over raters and images.

    The columns are long, a row for each answer: ``raters`` and ``images`` are indices, ``cells`` the generator (or
    other cell) the answer counts for. For an error rate the numerator is 1 where the answer is wrong, and the
    denominator 1. Both weights, (replicates, raters) and (replicates, images), come from
    :func:`beholder.stats.intervals.bootstrap.rater_weights`; the strata of images are their generators.

    The interval is Efron's BCa on the replicates, with acceleration a = Σ l³ / (6 (Σ l²)^{3/2}) over the
    influences of raters and of images together, and with the reach

        z = t₁₋α/₂,ν · √(V / (P + Q + R)),    V = max(P′ + Q′ − R′, P′, Q′),

    P′ = P (m/(m−1))² with m the Kish number of raters, Q′ likewise with images and R′ with rater–image pairs
    (the leave-one-out variance, as in :func:`beholder.stats.intervals.bootstrap_intervals.bca_interval`). ν is
    Satterthwaite's, V² / (P′²/(raters − 1) + Q′²/(images − 1)), at least the smaller and at most the larger of
    the two. Its coverage: ``docs/measured/two-way.md``. A cell with fewer than two raters or two
    images has no interval.
    """
    table = _table(raters, images, numerators, denominators, cells)
    value = table.point()
    replicates = table.replicates(rater_weights, image_weights)
    spread = _spread(table, value, level)
    low, high = accelerated_interval(value, replicates, spread.reach, spread.acceleration)
    return Estimates(
        value=value,
        low=low,
        high=high,
        level=level,
        method=METHOD,
        raters=spread.rater_count,
        items=spread.images,
        answers=table.answers,
        replicates=len(replicates),
    )


def two_way_replicates(
    raters: ArrayLike,
    images: ArrayLike,
    numerators: ArrayLike,
    denominators: ArrayLike,
    cells: ArrayLike,
    rater_weights: NDArray[np.integer],
    image_weights: NDArray[np.integer],
) -> NDArray[np.float64]:
    """Return Σ u v numerator / Σ u v denominator of each replicate and cell (replicates, cells); nan for 0/0."""
    return _table(raters, images, numerators, denominators, cells).replicates(rater_weights, image_weights)


@dataclass(frozen=True, eq=False)
class _Table:
    """Answers summed by rater (rows) and by image and cell (columns)."""

    above: sparse.csr_array  # (raters, columns) numerators
    below: sparse.csr_array  # (raters, columns) denominators, with the same entries
    image: NDArray[np.int64]  # (columns,)
    cell: NDArray[np.int64]  # (columns,), ascending
    cells: int
    answers: NDArray[np.int64]  # (cells,)

    def by_cell(self, columns: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum (rows, columns) to (rows, cells)."""
        begin = np.searchsorted(self.cell, np.arange(self.cells))
        return np.asarray(np.add.reduceat(columns, begin, axis=-1), np.float64)

    def point(self) -> NDArray[np.float64]:
        above, below = (self.by_cell(np.asarray(part.sum(axis=0))) for part in (self.above, self.below))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(above / below, np.float64)

    def replicates(
        self, rater_weights: NDArray[np.integer], image_weights: NDArray[np.integer]
    ) -> NDArray[np.float64]:
        """Return the ratio in every replicate (replicates, cells)."""
        rater_count, columns = self.above.shape
        wide = int(self.image.max()) + 1
        if (
            rater_weights.ndim != 2
            or image_weights.ndim != 2
            or len(rater_weights) != len(image_weights)
            or len(rater_weights) == 0
        ):
            raise StatisticsError(
                f"weights must be (replicates, raters) and (replicates, images) of as many replicates; found "
                f"{rater_weights.shape} and {image_weights.shape}"
            )
        if rater_weights.shape[1] < rater_count or image_weights.shape[1] < wide:
            raise StatisticsError(
                f"weights are needed for {rater_count} raters and {wide} images; found "
                f"{rater_weights.shape[1]} and {image_weights.shape[1]}"
            )
        dense = rater_count * columns <= max(_BLOCK, 8 * self.above.nnz)
        parts = [part.toarray() if dense else part.T.tocsr() for part in (self.above, self.below)]
        ratios = np.empty((len(rater_weights), self.cells))
        step = max(1, _BLOCK // max(rater_count, columns))
        for start in range(0, len(rater_weights), step):
            block = slice(start, start + step)
            u = rater_weights[block, :rater_count].astype(np.float64)
            v = image_weights[block][:, self.image].astype(np.float64)  # (block, columns)
            sums = [self.by_cell(v * (u @ part if dense else (part @ u.T).T)) for part in parts]
            with np.errstate(divide="ignore", invalid="ignore"):
                ratios[block] = sums[0] / sums[1]
        return ratios


@dataclass(frozen=True, eq=False)
class _Spread:
    """What the confidence interval of each cell needs besides the replicates; each (cells,)."""

    rater_count: NDArray[np.int64]
    images: NDArray[np.int64]
    reach: NDArray[np.float64]  # in standard deviations of the replicates; nan where there is no interval
    acceleration: NDArray[np.float64]


def _table(
    raters: ArrayLike, images: ArrayLike, numerators: ArrayLike, denominators: ArrayLike, cells: ArrayLike
) -> _Table:
    who, what, where = (np.asarray(column) for column in (raters, images, cells))
    above, below = np.asarray(numerators, np.float64), np.asarray(denominators, np.float64)
    columns = (who, what, where, above, below)
    if any(c.ndim != 1 or c.shape != who.shape for c in columns) or any(
        c.dtype.kind not in "iu" for c in (who, what, where)
    ):
        shapes = ", ".join(f"{c.dtype} {c.shape}" for c in columns)
        raise StatisticsError(
            f"answers need integer raters, images and cells, and numerators and denominators, of one length; "
            f"found {shapes}"
        )
    if len(who) == 0 or min(who.min(), what.min(), where.min()) < 0:
        raise StatisticsError("answers need at least one row and indices of at least 0")
    if not (np.all(np.isfinite(above)) and np.all(np.isfinite(below)) and np.all(below >= 0)):
        raise StatisticsError("answers need finite numerators and finite denominators of at least 0")
    count = int(where.max()) + 1
    answers = np.bincount(where, minlength=count)
    if np.any(answers == 0):
        empty = ", ".join(map(str, np.flatnonzero(answers == 0)))
        raise StatisticsError(f"every cell of 0…{count - 1} needs an answer; found none for {empty}")
    wide = int(what.max()) + 1
    keys, column = np.unique(where.astype(np.int64) * wide + what, return_inverse=True)
    shape = (int(who.max()) + 1, len(keys))
    place = (who, column.reshape(-1))
    parts = [sparse.coo_array((part, place), shape=shape).tocsr() for part in (above, below)]
    cell, image = np.divmod(keys, wide)
    return _Table(parts[0], parts[1], image, cell, count, answers.astype(np.int64))


def _spread(table: _Table, value: NDArray[np.float64], level: float) -> _Spread:
    if not 0 < level < 1:
        raise StatisticsError(f"an interval needs a level between 0 and 1; found {level}")
    point = np.where(np.isnan(value), 0.0, value)
    pull = (table.above - table.below * point[table.cell]).tocsr()  # influence, up to a factor a cell
    member = sparse.csr_array(
        (np.ones(len(table.cell)), (np.arange(len(table.cell)), table.cell)), shape=(len(table.cell), table.cells)
    )
    rater_count, images = (pull @ member).toarray(), np.asarray(pull.sum(axis=0))  # (raters, cells), (columns,)
    by_rater = (table.below @ member).toarray()
    by_image = np.asarray(table.below.sum(axis=0), np.float64)
    squares = np.stack(
        [(rater_count**2).sum(axis=0), table.by_cell(images**2), table.by_cell(np.asarray((pull**2).sum(axis=0)))]
    )  # P, Q, R as (3, cells)
    kish = np.stack(
        [
            _kish(by_rater.sum(axis=0), (by_rater**2).sum(axis=0)),
            _kish(table.by_cell(by_image), table.by_cell(by_image**2)),
            _kish(table.by_cell(by_image), table.by_cell(np.asarray((table.below**2).sum(axis=0)))),
        ]
    )
    counts = np.stack([np.count_nonzero(by_rater, axis=0), table.by_cell((by_image > 0).astype(np.float64))])
    usable = (counts >= 2).all(axis=0) & (kish > 1).all(axis=0)
    total = squares.sum(axis=0)
    still = total == 0  # all answered alike
    p, q, r = squares * (np.where(usable, kish, 2.0) / (np.where(usable, kish, 2.0) - 1)) ** 2
    variance = np.maximum.reduce([p + q - r, p, q])
    fewer = np.maximum(counts - 1, 1)
    degrees = variance**2 / np.where(still, 1.0, p**2 / fewer[0] + q**2 / fewer[1])
    degrees = np.clip(degrees, fewer.min(axis=0), fewer.max(axis=0))
    reach = special.stdtrit(degrees, (1 + level) / 2) * np.sqrt(variance / np.where(still, 1.0, total))
    cubes = (rater_count**3).sum(axis=0) + table.by_cell(images**3)
    acceleration = cubes / (6 * np.where(still, 1.0, squares[0] + squares[1]) ** 1.5)
    return _Spread(
        rater_count=counts[0].astype(np.int64),
        images=counts[1].astype(np.int64),
        reach=np.where(usable, reach, np.nan),
        acceleration=np.where(still, 0.0, acceleration),
    )


def _kish(total: NDArray[np.float64], squares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Kish's effective number (Σx)²/Σx²; 0 for nothing."""
    return np.asarray(total**2 / np.where(squares > 0, squares, 1.0), np.float64)
