"""The fractions of a press, by hand and by laws."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from beholder.judgements.credits import credits_of_sweeps
from beholder.study.kinds.coding import CreditCoding
from beholder.tables.catalogue import TABLES

TIMING = CreditCoding(each_ms=100.0, latency_ms=378.0, latency_sd_ms=92.0)


def credit(presses: list[float], images: int = 20) -> list[float]:
    sweeps = pl.DataFrame(
        {"rater": ["r"], "trial": ["t"], "session": ["s"], "images": [[f"i{n:02d}" for n in range(images)]]}
    )
    rows: list[dict[str, object]] = [
        {"trial": "t", "session": "s", "aspect": "hit", "number": n, "kind": "press", "at_ms": at}
        for n, at in enumerate(presses)
    ]
    credited = credits_of_sweeps(sweeps, TABLES["marks"].frame(rows), TIMING)
    assert credited["image"].to_list() == [f"i{n:02d}" for n in range(images)]
    assert credited["place"].to_list() == list(range(images))
    return credited["value"].to_list()


def test_hand_worked() -> None:
    # A press at 1000 ms: latencies 300, 400, 500, 200 of the images 7, 6, 5, 8 are the nearest to 378.
    density = {place: norm.pdf(1000 - 100 * place, 378, 92) for place in (5, 6, 7, 8)}
    expected = np.zeros(20)
    for place, value in density.items():
        expected[place] = value / sum(density.values())
    assert credit([1000.0]) == pytest.approx(expected.tolist())


def test_no_press_no_credit() -> None:
    assert credit([]) == [0.0] * 20


def test_an_image_has_at_most_one() -> None:
    assert max(credit([1000.0] * 9)) == 1.0


@given(st.floats(600, 1900))
def test_a_press_within_the_series_is_shared_whole(at: float) -> None:
    assert sum(credit([at])) == pytest.approx(1.0)


def test_a_press_before_any_image_could_cause_it_counts_for_nothing_later() -> None:
    assert sum(credit([10.0])[1:]) == 0.0
