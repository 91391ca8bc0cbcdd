"""Krippendorff's α for thousands of weighted replicates at once, without a matrix of coincidences: of many values.

For an item with weights wᵢ, the answers i ≠ j make wᵢwⱼ pairs, and the item's pairs are scaled by f = M/(M² −
Σwᵢ²), M = Σwᵢ, so that they add up to M, its answers. Copies of one rater (the terms wᵢ²) are left out. The
coincidences are needed through three sums only:

    n(v) = Σ f (M Σᵥw − Σᵥw²),    over items, Σᵥ over the answers v to the item,
    Σ o(v,v′) (x − x′)² = 2 (Σ n(v) x² − Σ f ((Σ w x)² − Σ w² x²)),    for values at positions x,
    Σ n(v) n(v′) (x − x′)² = 2 (n Σ n(v) x² − (Σ n(v) x)²).

The interval scale has the values as positions. The ordinal scale has the middles of the cumulated n(v), a
replicate's own. The nominal scale has 0 and 1 where there are two values; with more, values are taken one by one.
The ratio scale has as many positions as its distances have eigenvalues. Every sum over answers is a product with
one fixed matrix, dense or sparse, whichever is faster.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from beholder.stats.agreement.answers import LongAnswers
from beholder.stats.agreement.resampled_agreement import InBlocks
from beholder.stats.each import Map

_BLOCK = 100_000  # elements of the largest array held at a time: few enough to stay in the cache
_FEWEST = 16  # replicates done at a time, however many items there are, …
_MOST = 2**23  # … unless the largest array would have more elements than this
_DENSE = 0.25  # proportion of entries above which a dense product is faster than a sparse one


@dataclass(frozen=True, eq=False)
class Product:
    """Multiplication from the left by a fixed matrix."""

    matrix: NDArray[np.float64] | sparse.csr_array

    def __call__(self, right: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the product."""
        return np.asarray(self.matrix @ right)


@dataclass(frozen=True, eq=False)
class Answered:
    """Who gave which value to which item.

    Items go by *panel*, the set of their raters, for items with one panel share their factor f. A *use* is a
    rater with one of the values they gave; uses go by value.
    """

    items: int
    rater_count: int
    kinds: int  # distinct values
    item: NDArray[np.integer]  # (answers,) 0 … items − 1
    rater: NDArray[np.int64]  # (answers,)
    kind: NDArray[np.int64]  # (answers,) 0 … kinds − 1
    panel: NDArray[np.int64]  # (items,) ascending
    use_rater: NDArray[np.int64]  # (uses,)
    use_kind: NDArray[np.int64]  # (uses,) ascending
    by_rater: Product  # (panels, raters): who is in it
    by_use: Product  # (items, uses)
    to_use: Product  # (uses, panels): on how many of its items


@dataclass(frozen=True, eq=False)
class Weighted:
    """The sums that every scale needs, for a block of replicates."""

    rater: NDArray[np.float64]  # (raters, replicates) w
    use: NDArray[np.float64]  # (uses, replicates) w
    factor: NDArray[np.float64]  # (items, replicates) f
    copies: NDArray[np.float64]  # (replicates,) Σ f Σw² over items
    use_factor: NDArray[np.float64]  # (uses, replicates) Σ f over the items of the use
    margin: NDArray[np.float64]  # (kinds, replicates) n(v)
    total: NDArray[np.float64]  # (replicates,) n


Sums = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Σ o δ² and Σ n n′ δ² of each replicate."""

Disagreement = Callable[[Answered], Callable[[Weighted], Sums]]
"""A scale: what is prepared once for the answers, and then done for each block of replicates."""


def alpha_of_weights(
    answers: LongAnswers,
    kind: NDArray[np.integer],
    kinds: int,
    disagreement: Disagreement,
    *,
    each: Map = map,
) -> InBlocks:
    """Return α as a function of weights (replicates, raters); ``kind`` (answers,) numbers each answer's value.

    ``each`` applies it to blocks of replicates.
    """
    answered = _answered(answers, kind, kinds)
    longest = max(answered.items, len(answered.use_kind))
    step = max(1, min(_FEWEST, _MOST // longest), _BLOCK // longest)
    return InBlocks(partial(_alphas, answered, disagreement(answered)), step, each)


def at_positions(positions: NDArray[np.float64]) -> Disagreement:
    """δ² = (x − x′)² for values at fixed ``positions`` (kinds,), up to a factor."""
    width = np.ptp(positions)
    place = ((positions - positions.min()) / (width if width > 0 else 1.0))[:, None]
    return lambda answered: partial(_between, answered, place)


def at_middles(answered: Answered) -> Callable[[Weighted], Sums]:
    """δ² = (Σ of n from one value to the other − half of both ends)²: the distance of two middles."""
    return partial(_between_middles, answered)


def different(answered: Answered) -> Callable[[Weighted], Sums]:
    """δ² = 1 for different values."""
    return partial(_unlike, _given(answered))


def apart_by(distances: NDArray[np.float64]) -> Disagreement:
    """Any symmetric δ² (kinds, kinds) with a zero diagonal.

    With eigenvalues λ and eigenvectors u of δ², Σ wᵢwⱼ δ² over two answers to an item is Σ λ (Σ wᵢ u(vᵢ))²: one
    sum over answers for each λ. Copies are not there, since Σ λ u(v)² is δ² of a value to itself.
    """
    sizes, vectors = np.linalg.eigh(distances)
    nonzero = np.abs(sizes) > 1e-14 * np.abs(sizes).max(initial=0.0)
    axes = list(zip(sizes[nonzero].tolist(), vectors.T[nonzero], strict=True))

    def prepared(answered: Answered) -> Callable[[Weighted], Sums]:
        shape = (answered.items, answered.rater_count)
        along = [(size, _product(answered.item, answered.rater, shape, u[answered.kind])) for size, u in axes]
        return partial(_along, along, distances)

    return prepared


def chance_corrected(
    observed: NDArray[np.float64], expected: NDArray[np.float64], total: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return 1 − (n − 1) Σ o δ² / Σ n n′ δ²; nan where all answers are alike (δ² up to 1, so all but rounding)."""
    defined = (expected > 1e-28 * total**2) & (total > 1)
    return np.where(defined, 1 - (total - 1) * observed / np.where(defined, expected, 1.0), np.nan)


def _alphas(
    answered: Answered, sums: Callable[[Weighted], Sums], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return α of a block of replicates."""
    drawn = _weighted(answered, np.ascontiguousarray(weights.T))
    return chance_corrected(*sums(drawn), drawn.total)


def _answered(answers: LongAnswers, kind: NDArray[np.integer], kinds: int) -> Answered:
    panel_of = _panels(answers)  # (items in ascending order,)
    order = np.argsort(panel_of, kind="stable")
    place = np.empty(len(order), index_type(len(order)))
    place[order] = np.arange(len(order))
    item = place[numbered(answers.items, answers.item_count)[1]]
    first = np.searchsorted(panel_of[order], np.arange(int(panel_of.max()) + 1))
    held, use = numbered(kind * answers.rater_count + answers.raters, kinds * answers.rater_count)
    use_kind, use_rater = np.divmod(held, answers.rater_count)
    is_first = np.zeros(len(order), np.bool_)
    is_first[first] = True
    panel_at = (np.cumsum(is_first) - 1).astype(index_type(len(first)))  # (items,)
    panel = panel_at[item]  # (answers,)
    in_first = is_first[item]  # the answers to one item of each panel
    by_rater = _product(panel[in_first], answers.raters[in_first], (len(first), answers.rater_count))
    del in_first
    by_use = _product(item, use, (len(order), len(held)))
    return Answered(
        items=len(order),
        rater_count=answers.rater_count,
        kinds=kinds,
        item=item,
        rater=answers.raters,
        kind=np.asarray(kind, np.int64),
        panel=panel_of[order],
        use_rater=use_rater,
        use_kind=use_kind,
        by_rater=by_rater,
        by_use=by_use,
        to_use=_counts(use, panel, (len(held), len(first))),
    )


def _panels(answers: LongAnswers) -> NDArray[np.int64]:
    """Return a number for each item, in ascending order, that is the same where the raters are the same."""
    keys = answers.items * answers.rater_count + answers.raters
    keys.sort()  # each occurs once: faster than to sort by two columns
    starts = np.flatnonzero(np.diff(keys // answers.rater_count, prepend=-1))
    keys %= answers.rater_count
    raters = keys.astype(index_type(answers.rater_count))
    del keys
    sizes = np.diff(starts, append=len(raters))
    rng = np.random.default_rng(0)  # what comes out does not depend on it
    while True:
        marks = rng.integers(2**64, size=answers.rater_count, dtype=np.uint64)
        _, first, panel = np.unique(np.add.reduceat(marks[raters], starts), return_index=True, return_inverse=True)
        if _alike(raters, starts, sizes, first[panel]):  # else two sets of raters have one sum by chance
            break
    number = np.empty(len(first), np.int64)
    number[np.argsort(first)] = np.arange(len(first))
    return number[panel]


def _alike(
    raters: NDArray[np.generic], starts: NDArray[np.int64], sizes: NDArray[np.int64], model: NDArray[np.int64]
) -> bool:
    """Say whether each item has the raters of the item that is its model; each item's begin at ``starts``."""
    if not np.array_equal(sizes, sizes[model]):
        return False
    shift = np.repeat(starts[model] - starts, sizes)
    return np.array_equal(raters, raters[np.arange(len(raters)) + shift])


def index_type(size: int) -> type[np.int32 | np.int64]:
    """Return the smaller type of integers that numbers so many: of many answers, every byte counts."""
    return np.int32 if size <= np.iinfo(np.int32).max else np.int64


def numbered(keys: NDArray[np.int64], size: int) -> tuple[NDArray[np.int64], NDArray[np.integer]]:
    """Return the distinct keys, which are below ``size``, in ascending order, and the place of each key there.

    Where the keys are dense, a table saves sorting them.
    """
    if size > 4 * len(keys):
        distinct, places = np.unique(keys, return_inverse=True)
        return distinct, places
    distinct = np.flatnonzero(np.bincount(keys, minlength=size))
    table = np.zeros(size, index_type(len(distinct)))
    table[distinct] = np.arange(len(distinct))
    return distinct, table[keys]


def _weighted(answered: Answered, weights: NDArray[np.float64]) -> Weighted:
    size, copies = answered.by_rater(weights), answered.by_rater(weights**2)  # (panels, replicates)
    pairs = size**2 - copies
    factor = size / np.where(pairs > 0, pairs, np.inf)
    use, use_factor = weights[answered.use_rater], answered.to_use(factor)  # (uses, replicates)
    starts = np.searchsorted(answered.use_kind, np.arange(answered.kinds))
    margin = np.add.reduceat(use * (answered.to_use(factor * size) - use * use_factor), starts, axis=0)
    alone = np.einsum("ud,ud,ud->d", use_factor, use, use)
    by_item = factor if len(factor) == answered.items else factor[answered.panel]
    return Weighted(weights, use, by_item, alone, use_factor, margin, margin.sum(axis=0))


def _over_items(drawn: Weighted, sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Σ f × sum² (replicates,) for ``sums`` (items, replicates)."""
    return np.asarray(np.einsum("id,id,id->d", drawn.factor, sums, sums), np.float64)


def _between(answered: Answered, places: NDArray[np.float64], drawn: Weighted) -> Sums:
    """Return the two sums for δ² = (x − x′)², the positions being ``places`` (kinds, replicates or 1)."""
    centre = (drawn.margin * places).sum(axis=0) / np.where(drawn.total > 0, drawn.total, 1.0)
    away = places - centre  # (kinds, replicates): about the mean, so that little cancels
    spread = (drawn.margin * away**2).sum(axis=0)
    moved = drawn.use * away[answered.use_kind]  # (uses, replicates) w x
    met = _over_items(drawn, answered.by_use(moved))
    met -= np.einsum("ud,ud,ud->d", drawn.use_factor, moved, moved)
    return 2 * (spread - met), 2 * (drawn.total * spread - (drawn.margin * away).sum(axis=0) ** 2)


def _between_middles(answered: Answered, drawn: Weighted) -> Sums:
    middle = np.cumsum(drawn.margin, axis=0) - drawn.margin / 2
    return _between(answered, middle / np.where(drawn.total > 0, drawn.total, 1.0), drawn)


def _unlike(by_value: list[Product], drawn: Weighted) -> Sums:
    alike = -drawn.copies
    for own in by_value:
        alike += _over_items(drawn, own(drawn.rater))
    return drawn.total - alike, drawn.total**2 - (drawn.margin**2).sum(axis=0)


def _along(along: list[tuple[float, Product]], distances: NDArray[np.float64], drawn: Weighted) -> Sums:
    observed = np.zeros(len(drawn.total))
    for size, placed in along:
        observed += size * _over_items(drawn, placed(drawn.rater))
    return observed, np.einsum("kd,kd->d", drawn.margin, distances @ drawn.margin)


def _given(answered: Answered) -> list[Product]:
    """Return for each value the matrix (items, raters) of who gave it."""
    shape = (answered.items, answered.rater_count)
    here = [answered.kind == k for k in range(answered.kinds)]
    return [_product(answered.item[those], answered.rater[those], shape) for those in here]


def _counts(rows: NDArray[np.integer], columns: NDArray[np.integer], shape: tuple[int, int]) -> Product:
    """Return the product with how often each row occurs with each column."""
    if len(rows) < _DENSE * shape[0] * shape[1]:
        return _product(rows, columns, shape)  # which adds up what occurs several times
    pairs, times = np.unique(rows.astype(np.int64) * shape[1] + columns, return_counts=True)
    return _product(*np.divmod(pairs, shape[1]), shape, times.astype(np.float64))


def _product(
    rows: NDArray[np.integer],
    columns: NDArray[np.integer],
    shape: tuple[int, int],
    entries: NDArray[np.float64] | None = None,
) -> Product:
    values = np.ones(len(rows)) if entries is None else entries
    if len(rows) < _DENSE * shape[0] * shape[1]:
        return Product(sparse.csr_array((values, (rows, columns)), shape=shape))
    full = np.zeros(shape)
    full[rows, columns] = values
    return Product(full)
