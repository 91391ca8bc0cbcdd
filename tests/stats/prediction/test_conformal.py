import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beholder.errors import StatisticsError
from beholder.stats.prediction.conformal import conformal_width


def test_by_hand() -> None:
    errors = [0.1 * place * (-1) ** place for place in range(1, 20)]  # sizes .1 … 1.9
    assert conformal_width(errors) == pytest.approx(1.9)  # ⌈.95 · 20⌉ = 19
    assert conformal_width(errors, level=0.5) == pytest.approx(1.0)  # ⌈.5 · 20⌉ = 10
    assert conformal_width(errors[:-1]) == math.inf  # ⌈.95 · 19⌉ = 19 of 18
    assert conformal_width([0.3], level=0.5) == pytest.approx(0.3)


@given(st.integers(1, 60), st.floats(0.05, 0.95))
def test_the_chance_is_kept_for_any_number_of_cases(cases: int, level: float) -> None:
    """Of n + 1 exchangeable cases each is the new one alike often: count how often the others' width covers it."""
    sizes = np.random.default_rng(cases).random(cases + 1)
    covered = [size <= conformal_width(np.delete(sizes, place), level=level) for place, size in enumerate(sizes)]
    assert np.mean(covered) >= level - 1e-9
    assert np.mean(covered) < level + 1 / (cases + 1) + 1e-9


@pytest.mark.parametrize("errors", [[], [np.nan], [[0.1]], [np.inf]])
def test_refused(errors: list[float]) -> None:
    with pytest.raises(StatisticsError, match="finite errors"):
        conformal_width(errors)


def test_no_such_level() -> None:
    with pytest.raises(StatisticsError, match="between 0 and 1"):
        conformal_width([1.0], level=1.0)
