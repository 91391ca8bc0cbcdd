from typing import Any

import numpy as np
import pandas as pd
import pytest
from crowdkit.aggregation import OneCoinDawidSkene
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from beholder.errors import StatisticsError
from beholder.stats.truth.one_coin import one_coin


def simulate(
    rng: np.random.Generator, raters: int = 10, items: int = 50, classes: int = 3
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return long labels with gaps, the truth, and the chances to be right."""
    truth, right = rng.integers(0, classes, items), rng.uniform(0.4, 0.95, raters)
    wrong = (truth + rng.integers(1, classes, (raters, items))) % classes
    labels = np.where(rng.random((raters, items)) < right[:, None], truth, wrong)
    present = rng.random((raters, items)) < 0.7
    present[0], present[:, 0] = True, True
    who, what = np.nonzero(present)
    return who, what, labels[who, what], truth, right


def test_one_turn_by_hand() -> None:
    # items a 0 0 1, b 1 1 1. Shares a (2/3, 1/3), b (0, 1); prior (1/3, 2/3); accuracy of raters 0 and 1:
    # (2/3 + 1)/2 = 5/6, of rater 2: (1/3 + 1)/2 = 2/3.
    # Item a: 0: 1/3 · (5/6)² · 1/3 = 25/324; 1: 2/3 · (1/6)² · 2/3 = 4/324
    fit = one_coin([0, 1, 2] * 2, [0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1], iterations=1)
    assert fit.posterior[0] == pytest.approx([25 / 29, 4 / 29])
    # item b: 0: 1/3 · 1/36 · 1/3 = 1/324; 1: 2/3 · 25/36 · 2/3 = 100/324
    assert fit.posterior[1] == pytest.approx([1 / 101, 100 / 101])
    assert fit.log_likelihood == pytest.approx(np.log(29 / 324) + np.log(101 / 324))
    assert fit.accuracy == pytest.approx(
        [(25 / 29 + 100 / 101) / 2, (25 / 29 + 100 / 101) / 2, (4 / 29 + 100 / 101) / 2]
    )
    assert fit.labels.tolist() == [0, 1]


@pytest.mark.filterwarnings("ignore::pandas.errors.Pandas4Warning")  # in panel-kit
@pytest.mark.parametrize("turns", [1, 6])
def test_against_crowd_kit(turns: int) -> None:
    for seed in range(2):
        who, what, labels, *_ = simulate(np.random.default_rng(seed))
        table = pd.DataFrame({"task": what, "worker": who, "label": labels})
        theirs: Any = OneCoinDawidSkene(n_iter=turns, tol=-np.inf).fit(table)
        fit = one_coin(who, what, labels, iterations=turns, tolerance=0)
        np.testing.assert_allclose(fit.posterior, theirs.probas_.sort_index()[[0, 1, 2]], atol=1e-9)
        np.testing.assert_allclose(fit.accuracy, theirs.skills_.sort_index(), atol=1e-9)
        np.testing.assert_allclose(fit.prior, theirs.priors_.sort_index(), atol=1e-9)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=15, deadline=None)
def test_laws(seed: int) -> None:
    rng = np.random.default_rng(seed)
    who, what, labels, truth, right = simulate(rng, raters=15, items=300)
    fit = one_coin(who, what, labels, classes=3)
    assert fit.converged
    assert (fit.labels == truth).mean() > 0.85
    np.testing.assert_allclose(fit.posterior.sum(axis=1), 1)
    assert np.abs(fit.accuracy - right).mean() < 0.08
    names = rng.permutation(3)
    renamed = one_coin(who, what, names[labels], classes=3)
    np.testing.assert_allclose(renamed.posterior[:, names], fit.posterior, atol=1e-6)


def test_degenerate_answers() -> None:
    alone = one_coin([0, 0, 0], [0, 1, 2], [0, 1, 1])
    assert alone.labels.tolist() == [0, 1, 1]
    assert alone.accuracy == pytest.approx([1])
    gap = one_coin([0, 2, 0, 2], [0, 0, 2, 2], [0, 0, 1, 1])
    assert gap.labels.tolist() == [0, -1, 1]
    assert np.isnan(gap.accuracy[1])
    same = one_coin([0, 1, 2], [0, 0, 0], [1, 1, 1])
    np.testing.assert_allclose(same.posterior, [[0, 1]], atol=1e-9)
    with pytest.raises(StatisticsError, match="integers from 0"):
        one_coin([0, 1], [0, 0], [-1, 1])
    with pytest.raises(StatisticsError, match="one iteration"):
        one_coin([0, 1], [0, 0], [0, 1], iterations=0)
