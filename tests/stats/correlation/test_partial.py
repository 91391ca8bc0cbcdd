import numpy as np
import pandas as pd
import pingouin
import pytest

from beholder.errors import StatisticsError
from beholder.stats.correlation.coefficients import correlation
from beholder.stats.correlation.partial import partial_correlation


def test_by_hand() -> None:
    # group 0: (1, 2) (3, 0); group 1: (10, 12) (12, 10): falling within groups (r = −1), rising over all
    x, y = np.array([1, 3, 10, 12]), np.array([2, 0, 12, 10])
    partial = partial_correlation(x, y, [0, 0, 1, 1])
    assert partial.value == pytest.approx(-1)
    assert correlation(x, y).value > 0.8


@pytest.mark.parametrize("kind", ["pearson", "spearman"])
def test_against_pingouin(kind: str) -> None:
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 4, 50)
    x = groups + rng.normal(size=50)
    y = -groups + 0.5 * x + rng.normal(size=50)
    partial = partial_correlation(x, y, groups, kind=kind)
    if kind == "spearman":  # theirs ranks the group columns too; given ranks, its Pearson is ours
        x, y = (np.asarray(pd.Series(column).rank(), dtype=np.float64) for column in (x, y))
    table = pd.DataFrame({"x": x, "y": y} | {f"g{i}": (groups == i).astype(float) for i in range(3)})
    theirs = pingouin.partial_corr(table, "x", "y", covar=["g0", "g1", "g2"]).iloc[0]
    assert (partial.value, partial.p_value) == pytest.approx((theirs["r"], theirs["p_val"]), rel=1e-9)
    if kind == "pearson":
        # Fisher's interval on 50 − 3 points
        half = 1.959964 / np.sqrt(47 - 3)
        assert partial.low == pytest.approx(np.tanh(np.arctanh(partial.value) - half), abs=1e-6)


def test_laws() -> None:
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(6), 7)
    x, y = rng.normal(size=(2, 42))
    shift = rng.normal(0, 50, 6)[groups]  # whatever differs between groups does not matter
    partial = partial_correlation(x, y, groups)
    assert partial_correlation(x + shift, y - 2 * shift, groups).value == pytest.approx(partial.value)
    one_group = partial_correlation(x, y, np.zeros(42, np.int64))
    plain = correlation(x, y)
    assert (one_group.value, one_group.low, one_group.p_value) == pytest.approx(
        (plain.value, plain.low, plain.p_value)
    )


def test_degenerate() -> None:
    alone = partial_correlation([1, 2, 3], [1, 3, 2], [0, 1, 2])
    assert np.isnan([alone.value, alone.low, alone.p_value]).all()
    constant = partial_correlation([1, 1, 2, 2, 2], [1, 2, 3, 4, 5], [0, 0, 1, 1, 1])
    assert np.isnan(constant.value)
    with pytest.raises(StatisticsError, match="pearson or spearman"):
        partial_correlation([1, 2, 3], [1, 3, 2], [0, 0, 1], kind="kendall")
    with pytest.raises(StatisticsError, match="integer index"):
        partial_correlation([1, 2, 3], [1, 3, 2], [0, 0])
