import pytest
from scipy import stats

from beholder.errors import StatisticsError
from beholder.stats.significance.replication import Effect, compare_replication, predict


def test_a_prediction_by_hand() -> None:
    # √(.1² + .2²) = .22361; ν = .05² / (.1⁴/20 + .2⁴/40) = .0025 / .000045 = 55.556; t = 2.00356
    low, high = predict(Effect(0.5, 0.1, 20), 0.2, 40)
    reach = stats.t.ppf(0.975, 55.5556) * 0.223607
    assert (low, high) == pytest.approx((0.5 - reach, 0.5 + reach), abs=1e-5)


def test_the_small_effect_has_a_power_of_a_third() -> None:
    comparison = compare_replication(Effect(0.5, 0.2, 38), Effect(0.1, 0.1, 98))
    critical = stats.t.ppf(0.975, 38)
    away = comparison.d33 / 0.2
    assert stats.nct.sf(critical, 38, away) + stats.nct.cdf(-critical, 38, away) == pytest.approx(1 / 3)
    assert comparison.p_small == pytest.approx(stats.t.cdf((0.1 - comparison.d33) / 0.1, 98))


@pytest.mark.parametrize(
    ("original", "again", "verdict"),
    [
        ((0.5, 0.1), (0.45, 0.1), "replicated"),
        ((0.9, 0.1), (0.3, 0.1), "smaller"),
        ((0.5, 0.2), (-0.5, 0.1), "contradicted"),
        ((0.5, 0.2), (0.02, 0.05), "not replicated"),
        ((0.5, 0.2), (0.4, 0.3), "inconclusive"),
    ],
)
def test_verdicts(original: tuple[float, float], again: tuple[float, float], verdict: str) -> None:
    assert compare_replication(Effect(*original, 60), Effect(*again, 60)).verdict == verdict


def test_a_mirror_image_has_the_same_verdict() -> None:
    plain = compare_replication(Effect(0.5, 0.2, 60), Effect(0.02, 0.05, 60))
    mirrored = compare_replication(Effect(-0.5, 0.2, 60), Effect(-0.02, 0.05, 60))
    assert mirrored.verdict == plain.verdict
    assert mirrored.p_small == pytest.approx(plain.p_small)
    assert (mirrored.low, mirrored.high) == pytest.approx((-plain.high, -plain.low))


def test_both_together_weigh_by_precision() -> None:
    # weights 100 and 25: (100 × .5 + 25 × .1) / 125 = .42, 1/√125
    combined = compare_replication(Effect(0.5, 0.1, 50), Effect(0.1, 0.2, 50)).combined
    assert (combined.estimate, combined.standard_error) == pytest.approx((0.42, 125**-0.5))


def test_what_cannot_be_predicted_is_refused() -> None:
    with pytest.raises(StatisticsError, match="at least 0"):
        predict(Effect(0.5, -0.1, 20), 0.2, 40)
