import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from beholder.stats.truth.bt500 import bt500


def panel(rng: np.random.Generator, raters: int = 20, items: int = 40) -> NDArray[np.float64]:
    """Scores (raters, items) by careful raters."""
    return rng.uniform(20, 80, items) + rng.normal(0, 5, (raters, items))


def long(matrix: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    who, what = np.nonzero(~np.isnan(matrix))
    return who, what, matrix[who, what]


def test_by_hand() -> None:
    # one item, nine raters: 0 0 0 0 0 0 0 9 −9: μ = 0, σ² = 162/9 = 18, m₄ = 2·6561/9 = 1458,
    # β₂ = 1458/324 = 4.5, outside 2–4, so the band is √20 · √18 = 18.97: nobody strays
    nine = np.array([0, 0, 0, 0, 0, 0, 0, 9, -9], float)
    assert bt500(range(9), [0] * 9, nine).above.sum() == 0
    # seven raters, five zeros: σ² = 162/7, m₄ = 13122/7, β₂ = 13122 · 7/162² = 3.5: band 2 · 4.811 = 9.62 > 9
    # eight raters, six zeros: σ² = 20.25, β₂ = 13122 · 8/162² = 4 exactly: band 2 · 4.5 = 9, on the edge
    seven, eight = nine[2:], nine[1:]
    assert bt500(range(7), [0] * 7, seven).above.tolist() == [0] * 7
    screening = bt500(range(8), [0] * 8, eight)
    assert screening.above.tolist() == [0] * 6 + [1, 0]
    assert screening.below.tolist() == [0] * 7 + [1]
    assert not screening.rejected.any()  # each strays to one side only: |P − Q|/(P + Q) = 1


def test_one_who_strays_to_both_sides_is_rejected() -> None:
    rng = np.random.default_rng(0)
    scores = panel(rng, raters=80)
    scores[3] += rng.choice([-60, 60], 40)  # careless
    scores[7] += 60  # generous, but consistent
    screening = bt500(*long(scores))
    assert screening.rejected[3]
    assert screening.rejected.sum() == 1
    assert screening.above[7] > 2
    assert screening.judged.tolist() == [40] * 80


def test_the_balance_by_hand() -> None:
    # 80 raters at ±1; one score of ±10 on an item has σ² ≈ 1 + 100/80, band √20 σ ≈ 6.7 < 10, and is out
    scores = np.tile(np.where(np.arange(80) % 2, 1.0, -1.0)[:, None], 40)
    scores[0, :3] = [10, 10, -10]  # |2 − 1|/3 = .33: one-sided, kept
    scores[1, 3:10] = [10, 10, 10, 10, -10, -10, -10]  # |4 − 3|/7 = .14: rejected
    scores[2, 10:12] = [10, -10]  # 2 of 40 is .05, not above it: kept
    screening = bt500(*long(scores))
    assert (screening.above[:3].tolist(), screening.below[:3].tolist()) == ([2, 4, 1], [1, 3, 1])
    assert np.flatnonzero(screening.rejected).tolist() == [1]


def test_against_a_plain_loop_with_scipy() -> None:
    rng = np.random.default_rng(1)
    scores = panel(rng) + rng.standard_t(2, (20, 40)) * 5
    scores[rng.random(scores.shape) < 0.2] = np.nan
    above, below = np.zeros((2, 20))
    for item in range(40):
        column = scores[:, item]
        kurtosis = stats.kurtosis(column, fisher=False, nan_policy="omit")
        band = np.nanstd(column) * (2 if 2 <= kurtosis <= 4 else np.sqrt(20))
        above += column >= np.nanmean(column) + band
        below += column <= np.nanmean(column) - band
    judged = (~np.isnan(scores)).sum(axis=1)
    stray = above + below
    with np.errstate(invalid="ignore"):
        expected = (stray / judged > 0.05) & (np.abs(above - below) / stray < 0.3)
    screening = bt500(*long(scores))
    assert screening.above.tolist() == above.tolist()
    assert screening.below.tolist() == below.tolist()
    assert screening.rejected.tolist() == expected.tolist()


@given(st.integers(0, 2**32 - 1), st.floats(0.1, 10), st.floats(-50, 50))
@settings(max_examples=25, deadline=None)
def test_laws(seed: int, factor: float, shift: float) -> None:
    rng = np.random.default_rng(seed)
    scores = panel(rng, raters=8, items=15) + 5 * rng.standard_t(2, (8, 15))
    screening = bt500(*long(scores))
    raters = rng.permutation(8)
    assert bt500(*long(scores[raters])).rejected.tolist() == screening.rejected[raters].tolist()
    moved = bt500(*long(factor * scores + shift))
    assert moved.above.tolist() == screening.above.tolist()
    turned = bt500(*long(-scores))
    assert turned.above.tolist() == screening.below.tolist()
    assert not screening.rejected.all()


def test_if_all_would_go_all_stay() -> None:
    # the edge case by hand, 9 and −9 by two neighbours, turned round a table of eight: P = Q = 1 of 8 each
    round_table = np.zeros((8, 8))
    for item in range(8):
        round_table[item, item], round_table[(item + 1) % 8, item] = 9, -9
    screening = bt500(*long(round_table))
    assert screening.above.tolist() == screening.below.tolist() == [1] * 8
    assert screening.spared
    assert not screening.rejected.any()


def test_unanimous_items_hold_no_outliers() -> None:
    screening = bt500([0, 1, 2], [0, 0, 0], [0.1, 0.1, 0.1])
    assert screening.above.sum() == screening.below.sum() == 0
    assert not screening.spared
    assert screening.judged == pytest.approx([1, 1, 1])
