"""Dawid–Skene, one-coin and MACE, compared with crowd-kit: the same answers and number of iterations."""

import warnings
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
from crowdkit.aggregation import MACE, DawidSkene, OneCoinDawidSkene
from harness import Comparison
from numpy.typing import NDArray

from beholder.stats.truth.dawid_skene import dawid_skene
from beholder.stats.truth.mace import mace
from beholder.stats.truth.one_coin import one_coin

CLASSES = 3
SIZES = ((30, 400, 8), (200, 2000, 10))  # raters, items, answers per item


def comparisons() -> Iterator[Comparison]:
    """Rows for two sizes of studies."""
    for raters, items, each in SIZES:
        who, what, labels = _answers(raters, items, each)
        table = pd.DataFrame({"task": what, "worker": who, "label": labels})
        size = f"{raters} raters, {items:,} items × {each} answers"

        def row(
            name: str, ours: Callable[[], object], theirs: Callable[[], object], size: str = size
        ) -> Comparison:
            return Comparison(f"{name}; {size}", ours, _quiet(theirs), "crowd-kit", turns=5)

        yield row("Dawid–Skene, 20 turns", *_dawid_skene(who, what, labels, table))
        if items < 1000:
            yield row("one-coin, 20 turns", *_one_coin(who, what, labels, table))
        yield row("MACE, 20 turns from one start", *_mace(who, what, labels, table))


def _answers(raters: int, items: int, each: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    rng = np.random.default_rng(3)
    truth, right = rng.integers(0, CLASSES, items), rng.uniform(0.4, 0.95, raters)
    what = np.repeat(np.arange(items), each)
    who = np.concatenate([rng.permutation(raters)[:each] for _ in range(items)])
    guess = rng.integers(0, CLASSES, len(what))
    return who, what, np.where(rng.random(len(what)) < right[who], truth[what], guess)


Pair = tuple[Callable[[], object], Callable[[], object]]


def _dawid_skene(
    who: NDArray[np.int64], what: NDArray[np.int64], labels: NDArray[np.int64], table: pd.DataFrame
) -> Pair:
    return (
        lambda: dawid_skene(who, what, labels, iterations=20, tolerance=0),
        lambda: DawidSkene(n_iter=20, tol=-np.inf).fit(table),
    )


def _one_coin(
    who: NDArray[np.int64], what: NDArray[np.int64], labels: NDArray[np.int64], table: pd.DataFrame
) -> Pair:
    return (
        lambda: one_coin(who, what, labels, iterations=20, tolerance=0),
        lambda: OneCoinDawidSkene(n_iter=20, tol=-np.inf).fit(table),
    )


def _mace(who: NDArray[np.int64], what: NDArray[np.int64], labels: NDArray[np.int64], table: pd.DataFrame) -> Pair:
    return (
        lambda: mace(who, what, labels, iterations=20, tolerance=0),
        lambda: MACE(n_restarts=1, n_iter=20).fit(table),
    )


def _quiet(work: Callable[[], object]) -> Callable[[], object]:
    """Without the peer's warnings about pandas, which would fill the screen."""

    def run() -> object:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return work()

    return run
