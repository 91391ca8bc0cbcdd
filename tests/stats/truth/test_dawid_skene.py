from typing import Any

import numpy as np
import pandas as pd
import pytest
from crowdkit.aggregation import DawidSkene as Oracle
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from beholder.errors import StatisticsError
from beholder.stats.truth.dawid_skene import dawid_skene

Columns = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]


def simulate(
    rng: np.random.Generator, raters: int = 12, items: int = 60, classes: int = 3
) -> tuple[Columns, NDArray[np.int64], NDArray[np.float64]]:
    """Return long labels with gaps, the truth, and how often each rater knows it."""
    truth = rng.integers(0, classes, items)
    right = rng.uniform(0.4, 0.95, raters)
    guess = rng.integers(0, classes, (raters, items))
    labels = np.where(rng.random((raters, items)) < right[:, None], truth, guess)
    present = rng.random((raters, items)) < 0.6
    present[0], present[:, 0] = True, True  # every item and rater occurs
    who, what = np.nonzero(present)
    return (who, what, labels[who, what]), truth, right


def test_one_turn_by_hand() -> None:
    # two items, three raters: a gets 0 0 1, b gets 1 1 1. Proportions of votes: a (2/3, 1/3), b (0, 1).
    # prior (1/3, 2/3). Raters 0 and 1 alike: answer 0 on a, 1 on b. True 0: 2/3 of answers are 0 → π(0, 0) = 1.
    # True 1: a counts 1/3 with answer 0, b 1 with answer 1 → π(1, 0) = ¼, π(1, 1) = ¾.
    # Rater 2 always answers 1. Item a: class 0: 1/3 · 1 · 1 · π₂(0, 1) = 1/3; class 1: 2/3 · ¼ · ¼ · 1 = 1/24
    fit = dawid_skene([0, 1, 2] * 2, [0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1], iterations=1)
    assert fit.posterior[0] == pytest.approx([8 / 9, 1 / 9], abs=1e-9)
    assert fit.posterior[1] == pytest.approx([0, 1], abs=1e-9)
    # log-likelihood: log(1/3 + 1/24) for a; b: 2/3 · (¾)² · 1 = 3/8
    assert fit.log_likelihood == pytest.approx(np.log(3 / 8) + np.log(3 / 8), abs=1e-8)
    # what follows: true 1 has weight 1/9 on a, where raters 0 and 1 said 0, and 1 on b, where they said 1
    assert fit.prior == pytest.approx([4 / 9, 5 / 9], abs=1e-9)
    assert fit.confusion[0] == pytest.approx(np.array([[1, 0], [0.1, 0.9]]), abs=1e-9)
    assert fit.accuracy[0] == pytest.approx(4 / 9 + 5 / 9 * 0.9, abs=1e-9)
    assert (fit.iterations, fit.converged) == (1, False)
    assert fit.labels.tolist() == [0, 1]


@pytest.mark.filterwarnings("ignore::pandas.errors.Pandas4Warning")  # in panel-kit
@pytest.mark.parametrize("turns", [1, 8])
def test_against_crowd_kit(turns: int) -> None:
    for seed in range(2):
        (who, what, labels), *_ = simulate(np.random.default_rng(seed))
        table = pd.DataFrame({"task": what, "worker": who, "label": labels})
        theirs: Any = Oracle(n_iter=turns, tol=-np.inf).fit(table)
        fit = dawid_skene(who, what, labels, iterations=turns, tolerance=0)
        # their last step raises posteriors to at least 1e-10
        np.testing.assert_allclose(fit.posterior, theirs.probas_.sort_index()[[0, 1, 2]], atol=1e-9)
        np.testing.assert_allclose(fit.prior, theirs.priors_.sort_index(), atol=1e-9)
        for (rater, label), row in theirs.errors_.iterrows():
            np.testing.assert_allclose(fit.confusion[rater, :, label], row[[0, 1, 2]], atol=1e-9)


def test_known_raters_are_recovered() -> None:
    (who, what, labels), truth, right = simulate(np.random.default_rng(4), raters=30, items=400)
    fit = dawid_skene(who, what, labels)
    assert fit.converged
    assert (fit.labels == truth).mean() > 0.97
    np.testing.assert_allclose(fit.accuracy, right + (1 - right) / 3, atol=0.08)  # or right by a guess


def test_someone_who_turns_the_scale_round_still_tells() -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 200)
    right = rng.random((5, 200)) < np.array([[0.8], [0.8], [0.8], [0.05], [0.05]])
    who, what = (index.ravel() for index in np.indices((5, 200)))
    fit = dawid_skene(who, what, np.where(right, truth, 1 - truth).ravel())
    assert (fit.labels == truth).mean() > 0.98  # the majority vote has about .75
    assert np.all(fit.accuracy[3:] < 0.1)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=15, deadline=None)
def test_laws(seed: int) -> None:
    rng = np.random.default_rng(seed)
    (who, what, labels), *_ = simulate(rng, raters=6, items=20)
    fit = dawid_skene(who, what, labels, iterations=10, classes=3)
    np.testing.assert_allclose(fit.posterior.sum(axis=1), 1)
    np.testing.assert_allclose(fit.confusion.sum(axis=2), 1)
    assert fit.prior.sum() == pytest.approx(1)
    likelihoods = [dawid_skene(who, what, labels, iterations=n, tolerance=0).log_likelihood for n in range(1, 8)]
    assert np.all(np.diff(likelihoods) > -1e-6)  # EM never goes down
    rows, raters, items, names = (
        rng.permutation(len(who)),
        rng.permutation(6),
        rng.permutation(20),
        rng.permutation(3),
    )
    moved = dawid_skene(raters[who][rows], items[what][rows], names[labels][rows], iterations=10, classes=3)
    np.testing.assert_allclose(moved.posterior[items][:, names], fit.posterior, atol=1e-6)


def test_degenerate_answers() -> None:
    alone = dawid_skene([0, 0, 0], [0, 1, 2], [0, 1, 1])  # one rater: taken at their word
    assert alone.labels.tolist() == [0, 1, 1]
    assert alone.converged
    same = dawid_skene([0, 1, 2], [0, 0, 0], [1, 1, 1])  # one item, everyone agrees
    np.testing.assert_allclose(same.posterior, [[0, 1]], atol=1e-9)
    gap = dawid_skene([0, 2, 0, 2], [0, 0, 2, 2], [0, 0, 1, 1])  # nobody judged item 1, rater 1 judged nothing
    assert np.isnan(gap.posterior[1]).all()
    assert np.isnan(gap.confusion[1]).all()
    assert gap.labels.tolist() == [0, -1, 1]
    assert gap.prior == pytest.approx([0.5, 0.5])
    apart = dawid_skene([0, 1], [0, 1], [0, 1])  # nothing overlaps
    assert apart.posterior == pytest.approx(np.full((2, 2), 0.5))  # and so nothing can be told
    many = dawid_skene(np.arange(4000), np.zeros(4000, int), np.arange(4000) % 3 == 0)  # no underflow
    assert many.labels.tolist() == [0]


def test_nonsense_is_refused() -> None:
    with pytest.raises(StatisticsError, match="integers from 0"):
        dawid_skene([0, 1], [0, 0], [0.5, 1])
    with pytest.raises(StatisticsError, match="finite"):
        dawid_skene([0, 1], [0, 0], [np.nan, 1])
    with pytest.raises(StatisticsError, match="below 2 classes"):
        dawid_skene([0, 1], [0, 0], [0, 2], classes=2)
    with pytest.raises(StatisticsError, match="one iteration"):
        dawid_skene([0, 1], [0, 0], [0, 1], iterations=0)
    with pytest.raises(StatisticsError, match="tolerance"):
        dawid_skene([0, 1], [0, 0], [0, 1], tolerance=np.nan)
    with pytest.raises(StatisticsError, match="once"):
        dawid_skene([0, 0], [0, 0], [0, 1])
