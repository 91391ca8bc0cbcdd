"""Effective times and top-ups: worked by hand, laws, and simulated panels with known truth."""

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beholder.care.effective_time import SLOWEST, effective_seconds, paid_multiple, suspicious_reports
from beholder.care.top_ups import PaidWork, cents_of, top_ups, wage_cents
from beholder.errors import StatisticsError
from beholder.simulate.panels.paid_sessions import PaidPanel, simulate_pay


class TestEffectiveTime:
    def test_by_hand(self) -> None:
        # item a: 60, 80, 900 -> 80; item b: 100 -> 100; item c: 30, 50 -> 40; median of 40, 80, 100 is 80
        items, raters = list("aaabcc"), [1, 2, 3, 1, 1, 2]
        seconds = effective_seconds(items, raters, [60, 80, 900, 100, 30, 50])
        assert (seconds.value, seconds.items, seconds.raters, seconds.answers) == (80, 3, 3, 6)

    def test_frozen_reports_leave_the_medians(self) -> None:
        frozen = [False, False, True]
        assert effective_seconds(list("aaa"), [1, 2, 3], [10, 20, 1000], frozen).value == 15

    def test_without_reports(self) -> None:
        with pytest.raises(StatisticsError, match="at least one report"):
            effective_seconds(["a"], [1], [10], [True])

    @given(st.lists(st.floats(1, 1000), min_size=5, max_size=30), st.floats(1, 1e6))
    def test_one_liar_moves_it_no_further_than_the_neighbour(self, honest: list[float], lie: float) -> None:
        raters = list(range(len(honest) + 1))
        with_lie = effective_seconds(["a"] * len(raters), raters, [*honest, lie]).value
        ordered, middle = np.sort(honest), len(honest) // 2
        assert (
            ordered[max(middle - 1, 0)] <= with_lie <= ordered[min(middle + 1, len(honest) - 1)] or len(honest) < 3
        )

    def test_suspicion(self) -> None:
        active = np.array([60.0, 66, 61, 70, 60 * (SLOWEST + 1)])
        reported = active * np.array([1, 1, 3, 1, 1])
        kinds = suspicious_reports(["a"] * 5, list("vwxyz"), reported, active)
        assert kinds.exceeds_active.tolist() == [False, False, True, False, False]
        assert kinds.outlying.tolist() == [False, False, False, False, True]


class TestTopUps:
    def test_by_hand(self) -> None:
        # 12.00 an hour are a third of a cent per second: 300 s -> 100 cents, 301 s -> 100.33, so 101
        assert wage_cents(300, Decimal(12)) == 100
        assert wage_cents(301, Decimal(12)) == 101
        work = [PaidWork("slow", "1", 360, 68), PaidWork("fast", "2", 100, 68), PaidWork("rich", "3", 100, 90)]
        ups = {up.rater: up for up in top_ups(work, effective_seconds=240, hourly=Decimal(12))}
        assert {rater: up.cents for rater, up in ups.items()} == {"slow": 120 - 68, "fast": 80 - 68}
        assert ups["slow"].reason == "360 s (measured active time) at 12 an hour are 1.20; paid 0.68"

    def test_a_frozen_report_is_paid_by_the_medians_alone(self) -> None:
        (up,) = top_ups([PaidWork("r", "1", 3600, 68, "why")], effective_seconds=240, hourly=Decimal(12))
        assert (up.owed_cents, up.reason.endswith("report frozen: why")) == (80, True)

    def test_a_page_kept_busy_is_paid_up_to_a_limit(self) -> None:
        (up,) = top_ups([PaidWork("r", "1", 1e6, 0)], effective_seconds=300, hourly=Decimal(12))
        assert up.cents == 100 * SLOWEST

    @given(st.floats(0, 1e5), st.decimals("0", "100", places=2))
    def test_rounding_never_takes_and_never_gives_a_cent(self, seconds: float, hourly: Decimal) -> None:
        cents = wage_cents(seconds, hourly)
        exact = Decimal(round(seconds * 1000)) / 1000 * hourly * 100 / 3600
        assert exact - Decimal("1e-9") <= cents < exact + 1

    def test_money_is_no_float(self) -> None:
        assert cents_of("12.30") == 1230
        for wrong in (1.1, "0.005", "nan"):
            with pytest.raises(StatisticsError):
                cents_of(wrong)  # type: ignore[arg-type]


class TestPaidMultiple:
    def test_by_hand(self) -> None:
        """Log times of ±.5 around the median: MAD .5, spread 1.4826 × .5 = .7413, exp(4.3 × .7413) = 24.2: 12."""
        wide = np.exp([-0.5, 0.0, 0.5] * 10)
        assert paid_multiple(wide * 300) == 12.0
        narrow = np.exp([-0.3, 0.0, 0.3] * 10)  # exp(4.3 × 1.4826 × .3) = exp(1.91256)
        assert paid_multiple(narrow * 300) == pytest.approx(np.exp(1.912554), rel=1e-6)

    def test_few_or_equal_times_leave_the_limit_as_it_is(self) -> None:
        assert paid_multiple(np.exp([-1.0, 0.0, 1.0] * 6)) == SLOWEST
        assert paid_multiple([300.0] * 40) == SLOWEST

    def test_a_few_busy_pages_do_not_move_it(self) -> None:
        honest = np.exp(np.random.default_rng(0).normal(0, 0.3, 300))
        busy = np.concatenate([honest[:270], honest[270:] * 5])
        assert paid_multiple(busy) < 1.3 * paid_multiple(honest)


def test_raters_who_differ_twice_as_much_reach_the_wage() -> None:
    runs = [simulate_pay(PaidPanel(liars=0.0, spread=0.5), np.random.default_rng(seed)) for seed in range(4)]
    assert min(run.honest.min() for run in runs) > 0.98


def test_simulated_raters_reach_the_wage_and_lies_earn_nothing() -> None:
    runs = [simulate_pay(PaidPanel(raters=40, items=4), np.random.default_rng(seed)) for seed in range(6)]
    assert min(run.honest.min() for run in runs) > 0.98
    assert (
        min(run.honest_by_medians.min() for run in runs) < 0.8
    )  # what is ours: medians alone leave slow raters short
    assert max(run.liars.max() for run in runs) < 1.02  # a cent per session, from rounding up
    assert np.mean([run.gain.mean() for run in runs]) < 1
