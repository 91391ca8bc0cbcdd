import numpy as np
import pandas as pd
import pingouin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from beholder.errors import StatisticsError
from beholder.stats.agreement.intraclass import Intraclass, intraclass
from beholder.stats.estimate import Estimate


def long(matrix: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Columns of ``matrix`` (items, raters)."""
    what, who = (index.ravel() for index in np.indices(matrix.shape))
    return who, what, matrix.ravel()


def six(icc: Intraclass) -> list[Estimate]:
    names = ("one_way", "random", "fixed", "one_way_mean", "random_mean", "fixed_mean")
    return [getattr(icc, name) for name in names]


def test_by_hand() -> None:
    # items 1 2 | 3 4 | 5 9, grand mean 4, items 1.5 3.5 7, raters 3 5: B = 2 (6.25 + .25 + 9)/2 = 15.5;
    # J = 3 (1 + 1)/1 = 6; W = (.5 + .5 + 8)/3 = 3; E = (9 − 6)/2 = 1.5
    icc = intraclass(*long(np.array([[1, 2], [3, 4], [5, 9.0]])))
    assert icc.one_way.value == pytest.approx(12.5 / 18.5)
    assert icc.random.value == pytest.approx(14 / (15.5 + 1.5 + 2 * 4.5 / 3))
    assert icc.fixed.value == pytest.approx(14 / 17)
    assert icc.one_way_mean.value == pytest.approx(12.5 / 15.5)
    assert icc.random_mean.value == pytest.approx(14 / (15.5 + 4.5 / 3))
    assert icc.fixed_mean.value == pytest.approx(14 / 15.5)
    assert icc.f == pytest.approx(15.5 / 1.5)
    assert (icc.fixed.raters, icc.fixed.items, icc.fixed.answers) == (2, 3, 6)


def test_published_table() -> None:
    # Shrout and Fleiss (1979), six targets by four judges: .17 .29 .71, of the mean .44 .62 .91
    scores = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    correlations = six(intraclass(*long(np.array(scores, float))))
    assert [round(each.value, 2) for each in correlations] == [0.17, 0.29, 0.71, 0.44, 0.62, 0.91]
    # and their intervals as printed by R's psych package
    assert (round(correlations[0].low, 2), round(correlations[0].high, 2)) == (-0.13, 0.72)
    assert (round(correlations[1].low, 2), round(correlations[1].high, 2)) == (0.02, 0.76)
    assert (round(correlations[2].low, 2), round(correlations[2].high, 2)) == (0.34, 0.95)


@pytest.mark.filterwarnings("ignore::pandas.errors.Pandas4Warning")  # in pingouin
def test_against_pingouin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(pingouin.options, "round.column.CI95", None)
    for seed in range(4):
        rng = np.random.default_rng(seed)
        matrix = rng.normal(size=(11, 1)) + rng.normal(size=(1, 5)) + rng.normal(size=(11, 5))
        who, what, values = long(matrix)
        table = pd.DataFrame({"who": who, "what": what, "value": values})
        theirs = pingouin.intraclass_corr(table, targets="what", raters="who", ratings="value")
        icc = intraclass(who, what, values)
        np.testing.assert_allclose([each.value for each in six(icc)], theirs["ICC"], atol=1e-9)
        intervals = np.stack(theirs["CI95"].to_list())
        np.testing.assert_allclose([[each.low, each.high] for each in six(icc)], intervals, atol=1e-9)
        assert icc.f == pytest.approx(theirs["F"].iloc[2], abs=1e-9)
        assert icc.p_value == pytest.approx(theirs["pval"].iloc[2], abs=1e-9)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None)
def test_laws(seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(8, 1)) + rng.normal(size=(8, 4))
    icc = intraclass(*long(matrix))
    for each in six(icc):
        assert each.low <= each.value <= each.high <= 1
    moved = six(intraclass(*long(5 - 3 * matrix[rng.permutation(8)][:, rng.permutation(4)])))
    np.testing.assert_allclose([e.value for e in moved], [e.value for e in six(icc)])
    shifted = intraclass(*long(matrix + rng.normal(size=(1, 4))))  # a rater's bias does not touch consistency
    assert shifted.fixed.value == pytest.approx(icc.fixed.value)
    wider, narrower = (intraclass(*long(matrix), level=level) for level in (0.99, 0.8))
    assert wider.random.low < narrower.random.low < narrower.random.high < wider.random.high


def test_where_everyone_agrees() -> None:
    icc = intraclass(*long(np.repeat([[1.1], [2.3], [5.7]], 3, axis=1)))
    assert [(e.value, e.low, e.high) for e in six(icc)] == [(1, 1, 1)] * 6
    assert (icc.f, icc.p_value) == (np.inf, 0)
    # all consistent, but one rater always one higher: fixed is 1, agreement is not
    biased = intraclass(*long(np.array([[1, 2], [3, 4], [6, 7.0]])))
    assert biased.fixed.value == biased.fixed.low == 1
    assert biased.random.low < biased.random.value < biased.random.high < 1


def test_what_is_not_defined() -> None:
    with pytest.raises(StatisticsError, match="one value only"):
        intraclass([0, 0, 1, 1], [0, 1, 0, 1], [0.1] * 4)
    with pytest.raises(StatisticsError, match="two items and two raters; found 2, 1"):
        intraclass([0, 0], [0, 1], [1, 2])
    with pytest.raises(StatisticsError, match="two items and two raters; found 1, 2"):
        intraclass([0, 1], [0, 0], [1, 2])
    with pytest.raises(StatisticsError, match="1 of 4 missing"):
        intraclass([0, 0, 1], [0, 1, 0], [1, 2, 3])
    with pytest.raises(StatisticsError, match="finite"):
        intraclass([0, 1], [0, 0], [1, np.nan])
    with pytest.raises(StatisticsError, match="level"):
        intraclass([0, 0, 1, 1], [0, 1, 0, 1], [1, 2, 3, 5], level=1)
    alike = intraclass([0, 0, 1, 1], [0, 1, 0, 1], [1, 2, 2, 1])  # the items' means are equal
    assert alike.fixed.value == -1
    assert np.isnan(alike.fixed_mean.value)
