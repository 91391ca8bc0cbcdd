from typing import Any

import numpy as np
import pandas as pd
import pytest
from crowdkit.aggregation import MACE
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from beholder.errors import StatisticsError
from beholder.stats.truth.mace import Method, mace


def simulate(
    rng: np.random.Generator, raters: int = 10, items: int = 60, classes: int = 3
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return long labels, the truth, and how often each rater knows; the last one always gives label 0."""
    truth, knows = rng.integers(0, classes, items), rng.uniform(0.4, 0.95, raters)
    knows[-1] = 0
    guess = rng.integers(0, classes, (raters, items))
    guess[-1] = 0
    labels = np.where(rng.random((raters, items)) < knows[:, None], truth, guess)
    present = rng.random((raters, items)) < 0.7
    present[0], present[:, 0] = True, True
    what, who = np.nonzero(present.T)
    return who, what, labels[who, what], truth, knows


def test_one_turn_by_hand() -> None:
    # one item, two raters who say 0 and 1; both know with ½, habits even. Class 0: ½ · (½ + ¼) · ¼ = 3/32, class 1
    # alike: posterior (½, ½), likelihood 3/16. An answer was known with ½ · ½/(½ + ¼) = 1/3.
    # EM: k = (1/3 + s)/(1 + 2s), s = .005
    start = ([[0.5, 0.5]] * 2, [[0.5, 0.5]] * 2)
    fit = mace([0, 1], [0, 0], [0, 1], start=start, method="em", iterations=1)
    knew = (1 / 3 + 0.005) / 1.01
    assert fit.competence == pytest.approx([knew, knew])
    habit = (2 / 3 + 0.005) / (2 / 3 + 0.01)
    np.testing.assert_allclose(fit.habit, [[habit, 1 - habit], [1 - habit, habit]])
    right, other = knew + (1 - knew) * habit, (1 - knew) * habit
    assert fit.log_likelihood == pytest.approx(np.log(right * other))
    assert fit.posterior == pytest.approx(np.array([[0.5, 0.5]]))


@pytest.mark.filterwarnings("ignore::pandas.errors.Pandas4Warning")  # in panel-kit
@pytest.mark.parametrize(("method", "theirs"), [("variational", "vb"), ("em", "em")])
def test_against_crowd_kit(method: Method, theirs: str) -> None:
    for seed in range(2):
        who, what, labels, *_ = simulate(np.random.default_rng(seed))
        # their code expects that raters and labels first occur in ascending order
        begin = [int(np.flatnonzero((who == 0) & (labels == k))[0]) for k in range(3)]
        order = [*begin, *np.setdiff1d(np.lexsort((who, what)), begin, assume_unique=True)]
        who, what, labels = who[order], what[order], labels[order]
        table = pd.DataFrame({"task": what, "worker": who, "label": labels})
        model: Any = MACE(n_restarts=1, n_iter=6, method=theirs)
        model.smoothing_ = 0.01 / 3
        model._initialize(10, 3)
        start = (model.spamming_.copy(), model.thetas_.copy())
        model.fit(table)
        fit = mace(who, what, labels, start=start, method=method, iterations=6, tolerance=0)
        np.testing.assert_allclose(fit.posterior, model.probas_.sort_index()[[0, 1, 2]], atol=1e-9)
        spamming = model.spamming_ / model.spamming_.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(fit.competence, spamming[:, 1], atol=1e-9)
        np.testing.assert_allclose(fit.habit, model.thetas_ / model.thetas_.sum(axis=1, keepdims=True), atol=1e-9)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=15, deadline=None)
def test_laws(seed: int) -> None:
    rng = np.random.default_rng(seed)
    who, what, labels, truth, knows = simulate(rng, raters=15, items=250)
    fit = mace(who, what, labels, classes=3)
    assert (fit.labels == truth).mean() > 0.9
    assert np.argmin(fit.competence) == 14  # the one who never looks …
    assert fit.competence[14] < 0.15
    assert fit.habit[14, 0] > 0.7  # … and always gives 0
    assert np.abs(fit.competence - knows).mean() < 0.1
    names = rng.permutation(3)
    renamed = mace(who, what, names[labels], classes=3)
    np.testing.assert_allclose(renamed.posterior[:, names], fit.posterior, atol=1e-6)
    np.testing.assert_allclose(renamed.competence, fit.competence, atol=1e-6)


def test_degenerate_answers() -> None:
    alone = mace([0, 0, 0], [0, 1, 2], [0, 1, 1])
    assert alone.labels.tolist() == [0, 1, 1]
    gap = mace([0, 2, 0, 2], [0, 0, 2, 2], [0, 0, 1, 1])
    assert gap.labels.tolist() == [0, -1, 1]
    assert np.isnan(gap.competence[1])
    assert np.isnan(gap.habit[1]).all()
    many = mace(np.arange(3000), np.zeros(3000, int), np.arange(3000) % 3 == 0)  # no underflow
    assert many.labels.tolist() == [0]
    assert np.isfinite(many.log_likelihood)


def test_nonsense_is_refused() -> None:
    with pytest.raises(StatisticsError, match=r"\(2, 2\) and \(2, 2\) chances"):
        mace([0, 1], [0, 0], [0, 1], start=([[0.5, 0.5]], [[0.5, 0.5]]))
    with pytest.raises(StatisticsError, match="above 0"):
        mace([0, 1], [0, 0], [0, 1], start=([[0, 1]] * 2, [[0.5, 0.5]] * 2))
    with pytest.raises(StatisticsError, match="integers from 0"):
        mace([0, 1], [0, 0], [0.5, 1])
    with pytest.raises(StatisticsError, match="one iteration"):
        mace([0, 1], [0, 0], [0, 1], iterations=0)
