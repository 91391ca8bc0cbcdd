"""Calibration: by hand, against scikit-learn and statsmodels, and by law."""

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy import special
from sklearn.calibration import calibration_curve
from sklearn.linear_model import LogisticRegression

from beholder.errors import StatisticsError
from beholder.stats.prediction.calibration import (
    calibrate,
    chance_over,
    fit_scale,
    percentile,
    preference_chance,
    reliability,
)


def world(seed: int, pairs: int, scale: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    d = rng.normal(size=pairs)
    return d, (rng.random(pairs) < special.expit(scale * d)).astype(np.float64)


class TestMeaning:
    def test_percentiles_by_hand(self) -> None:
        # below 2: one of four; equal to 2: two of four, which count half: (1 + 3)/2 of 4
        assert percentile([2, 0, 9, 2.5], [1, 2, 2, 4]) == pytest.approx([50, 0, 100, 75])

    def test_chances_by_hand(self) -> None:
        # σ(2 · 1) = .8808 over 1, σ(0) = ½ over 2: .6904 on average
        assert chance_over([2.0], [1.0], 2.0) == pytest.approx([0.880797])
        assert chance_over([2.0], [1.0, 2.0], 2.0) == pytest.approx([0.690399], abs=1e-6)

    @given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=20), st.floats(0, 50))
    def test_an_image_against_itself_is_even_and_the_order_is_kept(
        self, scores: list[float], scale: float
    ) -> None:
        assert chance_over(scores[:1], scores[:1], scale) == pytest.approx([0.5])
        ordered = np.sort(scores)
        assert np.all(np.diff(chance_over(ordered, scores, scale)) >= -1e-12)
        assert np.all(np.diff(percentile(ordered, scores)) >= 0)
        assert np.mean(percentile(scores, scores)) == pytest.approx(50)
        forth, back = (
            preference_chance(np.subtract.outer(scores, scores), scale),
            preference_chance(np.subtract.outer(scores, scores).T, scale),
        )
        assert forth + back == pytest.approx(1)

    def test_without_a_reference(self) -> None:
        with pytest.raises(StatisticsError, match="at least one"):
            percentile([1.0], [])
        with pytest.raises(StatisticsError, match="at least one"):
            chance_over([1.0], [], 1.0)


class TestScale:
    def test_by_hand(self) -> None:
        # d = 1 in all of 8 pairs, the first preferred in 6: σ(k) = ¾, k = log 3
        scale = fit_scale(np.ones(8), [1] * 6 + [0] * 2)
        assert scale.value == pytest.approx(np.log(3))
        # residuals ¼ of 6 pairs and ¾ of 2: √(8/7 · (6/16 + 2 · 9/16)) / (8 · 3/16)
        reach = 1.959964 * np.sqrt(8 / 7 * 1.5) / 1.5
        assert (scale.low, scale.high) == pytest.approx((scale.value - reach, scale.value + reach))

    @pytest.mark.parametrize("scale", [0.3, 2.0, 100.0])
    def test_against_scikit_learn(self, scale: float) -> None:
        d, y = world(1, 400, scale)
        oracle = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-12, max_iter=10_000).fit(d[:, None], y)
        assert fit_scale(d, y).value == pytest.approx(float(oracle.coef_[0, 0]), rel=1e-6)

    def test_where_everyone_agrees_with_the_scores(self) -> None:
        # of 4 choices none contradicts: drawn in to ½ + ½ · 4/6 = 5/6, so k = log 5 where all differences are 1
        assert fit_scale(np.ones(4), np.ones(4)).value == pytest.approx(np.log(5))
        assert fit_scale(np.ones(4), np.zeros(4)).value == pytest.approx(-np.log(5))
        assert fit_scale(np.ones(4), np.full(4, 0.75)).value == pytest.approx(np.log(3))  # not everyone does

    def test_errors_against_statsmodels(self) -> None:
        d, y = world(2, 3000, 1.5)
        groups = np.arange(3000) // 10
        fitted = sm.GLM(y, d[:, None], family=sm.families.Binomial()).fit(
            cov_type="cluster", cov_kwds={"groups": groups, "use_correction": False}, tol=1e-12
        )
        scale = fit_scale(d, y, groups=groups)
        error = (scale.high - scale.low) / 2 / 1.959964
        assert scale.value == pytest.approx(float(fitted.params[0]), abs=1e-9)
        assert error == pytest.approx(float(fitted.bse[0]) * np.sqrt(300 / 299), rel=1e-6)

    def test_a_known_scale_is_found(self) -> None:
        d, y = world(3, 20_000, 2.5)
        scale = fit_scale(d, y)
        assert scale.low < 2.5 < scale.high
        assert scale.value == pytest.approx(2.5, abs=0.1)

    @given(st.integers(0, 999))
    def test_laws(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        d, y = world(seed, 60, 1.0)
        k = fit_scale(d, y).value
        assert fit_scale(-d, 1 - y).value == pytest.approx(k)  # pairs turned round
        assert fit_scale(10 * d, y).value == pytest.approx(k / 10)  # another unit of scores
        assert fit_scale(-d, y).value == pytest.approx(-k)  # a scorer turned round
        assert np.isfinite(fit_scale(np.abs(d), np.ones(60)).value)  # everyone agrees with it
        shuffled = rng.permutation(60)
        assert fit_scale(d[shuffled], y[shuffled]).value == pytest.approx(k)

    def test_answers_are_as_many_pairs(self) -> None:
        d, y = np.array([1.0, -0.5, 2.0]), np.array([0.75, 0.5, 1.0])
        together = fit_scale(d, y, answers=[4, 2, 3], groups=[0, 1, 2])
        apart = fit_scale(
            np.repeat(d, [4, 2, 3]), [1, 1, 1, 0, 1, 0, 1, 1, 1], groups=np.repeat([0, 1, 2], [4, 2, 3])
        )
        assert (together.value, together.high) == pytest.approx((apart.value, apart.high))
        assert together.answers == 9


class TestReliability:
    def test_by_hand(self) -> None:
        # turned to the preferred: chances .62, .64 (one bin of .6–.7) and .9; raters agree with 1, 0 and 1
        # bins of .1: |.62 + .64 − 1| = .26 and |.9 − 1| = .1, over 3
        diagram = reliability([1, -1, 2], [1, 1, 1], [0.62, 0.36, 0.9], bins=5, rng=np.random.default_rng(0))
        assert diagram.pairs.tolist() == [0, 2, 0, 0, 1]
        assert diagram.chance[[1, 4]] == pytest.approx([0.63, 0.9])
        assert diagram.observed[[1, 4]] == pytest.approx([0.5, 1])
        assert np.isnan(diagram.chance[[0, 2, 3]]).all()
        assert diagram.ece == pytest.approx(0.36 / 3)

    def test_against_scikit_learn(self) -> None:
        d, y = world(5, 500, 1.0)
        chances = preference_chance(d, 1.7)
        turned = chances < 0.5
        agree, sure = np.where(turned, 1 - y, y), np.where(turned, 1 - chances, chances)
        observed, mean = calibration_curve(agree, 2 * sure - 1, n_bins=10)
        diagram = reliability(d, y, chances, rng=np.random.default_rng(0))
        full = diagram.pairs > 0
        assert diagram.observed[full] == pytest.approx(observed)
        assert 2 * diagram.chance[full] - 1 == pytest.approx(mean)

    def test_true_chances_are_off_by_chance_alone(self) -> None:
        rng = np.random.default_rng(6)
        diagrams = [
            reliability(d, y, preference_chance(d, 2.0), rng=rng)
            for d, y in (world(s, 400, 2.0) for s in range(30))
        ]
        assert np.mean([diagram.ece for diagram in diagrams]) == pytest.approx(diagrams[0].ece_by_chance, rel=0.15)
        d, y = world(7, 4000, 2.0)
        wrong = reliability(d, y, preference_chance(d, 8.0), rng=rng)
        assert wrong.ece > 4 * wrong.ece_by_chance

    def test_chances_must_be_chances(self) -> None:
        with pytest.raises(StatisticsError, match="a chance from 0 to 1"):
            reliability([1.0], [1.0], [1.2], rng=np.random.default_rng(0))


class TestCalibrate:
    def test_the_scale_is_found_and_the_error_is_small(self) -> None:
        d, y = world(8, 4000, 40.0)
        calibration = calibrate(d / 40, y, groups=np.arange(4000) // 8, rng=np.random.default_rng(0))
        assert calibration.scale.value == pytest.approx(1600, rel=0.1)
        assert calibration.reliability.ece < 0.03
        assert (calibration.folds, calibration.pairs, calibration.choices) == (5, 4000, 4000)

    def test_held_out_groups_do_not_teach(self) -> None:
        # in one group scores say the opposite of raters: held out, its chances stay those of the other groups
        d = np.array([1.0] * 9 + [1.0])
        y = np.array([1.0] * 9 + [0.0])
        calibration = calibrate(d, y, folds=2, groups=[0] * 9 + [1], rng=np.random.default_rng(0))
        assert calibration.reliability.ece > 0.5

    def test_a_seed_repeats_it(self) -> None:
        d, y = world(9, 100, 1.0)
        first, second = (calibrate(d, y, rng=np.random.default_rng(4)) for _ in range(2))
        assert first.reliability.ece == second.reliability.ece

    @pytest.mark.parametrize(
        ("d", "p", "more", "message"),
        [
            ([1.0], [1.0, 0.0], {}, "columns of one length"),
            ([], [], {}, "not empty"),
            ([1.0] * 6, [2.0] * 6, {}, "proportions from 0 to 1"),
            ([np.nan] * 6, [1.0] * 6, {}, "finite differences"),
            ([1.0] * 6, [1.0] * 6, {"answers": [0] * 6}, "answers above 0"),
            ([1.0] * 6, [1.0] * 6, {"groups": [0.5] * 6}, "integer index"),
            ([1.0] * 6, [1.0] * 6, {"groups": [0, 1, 2, 3, 3, 3]}, "as many groups"),
            ([0.0] * 6, [1.0] * 6, {}, "scores differ"),
        ],
    )
    def test_faults(self, d: list[float], p: list[float], more: dict[str, list[float]], message: str) -> None:
        with pytest.raises(StatisticsError, match=message):
            calibrate(d, p, rng=np.random.default_rng(0), **more)  # type: ignore[arg-type]
