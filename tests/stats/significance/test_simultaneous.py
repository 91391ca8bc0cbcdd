import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from beholder.errors import StatisticsError
from beholder.stats.significance.simultaneous import adjusted_p, critical_t


def test_by_hand() -> None:
    # 3 cells, 3 pairs, 7 degrees: λ = 1.4 ln 3 / 7 = .21972; p = .01: z = 2.57583, √2 z = 3.64277,
    # P(range of 3 > 3.64277) = .02702 (scipy's studentised range), 3 p = .03:
    # .78028 · .02702 + .21972 · .03 = .02768
    assert adjusted_p([0.01], 3, 7)[0] == pytest.approx(0.02768, abs=1e-5)
    # few degrees: λ = 1, Bonferroni
    assert adjusted_p([0.01], 3, 1.0)[0] == pytest.approx(0.03)


def test_two_cells_need_no_adjustment() -> None:
    np.testing.assert_array_equal(adjusted_p([0.2, np.nan, 0.0], 2, 5), [0.2, np.nan, 0.0])
    np.testing.assert_allclose(critical_t(0.95, 2, [4, 9.5]), stats.t.ppf(0.975, [4, 9.5]))


@pytest.mark.parametrize("cells", [3, 5, 12])
def test_with_many_degrees_it_is_scipys_studentised_range(cells: int) -> None:
    reach = critical_t(0.95, cells, [1e9])
    assert reach[0] == pytest.approx(stats.studentized_range.ppf(0.95, cells, 1e5) / np.sqrt(2), rel=1e-4)
    p = 2 * stats.norm.sf(2.5)
    theirs = stats.studentized_range.sf(2.5 * np.sqrt(2), cells, 1e5)
    assert adjusted_p([p], cells, 1e9)[0] == pytest.approx(theirs, rel=1e-3)


@pytest.mark.parametrize(("cells", "raters"), [(3, 5), (5, 5), (5, 8), (5, 10), (10, 10), (5, 30)])
def test_normal_scores_of_the_same_raters_keep_the_level(cells: int, raters: int) -> None:
    rng = np.random.default_rng([11, cells, raters])  # other draws than those that λ was fitted to
    first, second = np.triu_indices(cells, k=1)
    scores = rng.normal(size=(20_000, raters, cells))
    gaps = scores[..., first] - scores[..., second]
    t = gaps.mean(axis=1) / gaps.std(axis=1, ddof=1) * np.sqrt(raters)
    false = np.mean((np.abs(t) > critical_t(0.95, cells, [raters - 1.0])).any(axis=1))
    assert 0.044 < false < 0.054  # the standard error of 20,000 studies is .0015


@given(st.integers(2, 30), st.floats(1, 200), st.floats(0.5, 0.999))
@settings(max_examples=60, deadline=None)
def test_laws(cells: int, degrees: float, level: float) -> None:
    reach = critical_t(level, cells, [degrees])[0]
    single = 2 * stats.t.sf(reach, degrees)
    pairs = cells * (cells - 1) / 2
    assert adjusted_p([single], cells, degrees)[0] == pytest.approx(1 - level, rel=1e-5)
    assert (1 - level) / pairs * (1 - 1e-6) <= single <= (1 - level) * (1 + 1e-9)  # Bonferroni … one pair alone
    p = np.sort(np.random.default_rng(0).random(20))
    adjusted = adjusted_p(p, cells, degrees)
    assert np.all(np.diff(adjusted) >= -1e-12)
    assert np.all((adjusted >= p) & (adjusted <= np.minimum(1, pairs * p) + 1e-12))


def test_nonsense_is_refused() -> None:
    with pytest.raises(StatisticsError, match="p-values in"):
        adjusted_p([1.5], 3, 5)
    with pytest.raises(StatisticsError, match="at least two cells"):
        adjusted_p([0.5], 1, 5)
    with pytest.raises(StatisticsError, match="level between 0 and 1"):
        critical_t(1.0, 3, [5])
