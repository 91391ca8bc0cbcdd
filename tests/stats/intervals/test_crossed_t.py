import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from beholder.errors import StatisticsError
from beholder.stats.comparisons.bradley_terry import bradley_terry
from beholder.stats.comparisons.vote_table import tally_votes
from beholder.stats.intervals.crossed_precision import VarianceComponents, precision, variance_components
from beholder.stats.intervals.crossed_t import (
    CrossedInfluence,
    contrast_errors,
    crossed_means,
    crossed_t,
    difference_contrasts,
)

SHARED = Path(os.environ.get("BEHOLDER_SHARED", Path(__file__).parents[4] / "shared"))
TIFA = SHARED / "data" / "prompts" / "dsg-1k" / "tifa160-likert-anns.csv"


def crossed(scores: np.ndarray) -> CrossedInfluence:
    """Means of the cells of (raters, prompts, cells), everybody having judged everything."""
    rater, prompt, cell = np.indices(scores.shape)
    return crossed_means(rater.ravel(), prompt.ravel(), cell.ravel(), scores.ravel())


def test_sums_of_squares_by_hand() -> None:
    # raters × prompts [[1, 3], [2, 6]], mean 3: l = (−2, 0, −1, 3)/4. Over raters: sums −½ and ½, R = 2(¼ + ¼) =
    # 1; over prompts: −¾ and ¾, P = 2(9/16 + 9/16) = 2.25; pairs: E = 4/3 (4 + 0 + 1 + 9)/16 = 7/6
    errors = contrast_errors(crossed(np.array([[1.0, 3.0], [2.0, 6.0]])[..., None]), [[1.0]])
    assert errors.over_raters[0] == pytest.approx(1.0)
    assert errors.over_prompts[0] == pytest.approx(1.5)
    assert errors.independent[0] == pytest.approx(np.sqrt(7 / 6))
    assert errors.uncorrected[0] == pytest.approx(np.sqrt(1 + 2.25 - 7 / 6))


def test_components_are_those_of_the_two_way_analysis_of_variance() -> None:
    scores = np.random.default_rng(0).normal(size=(6, 9)) + np.arange(6)[:, None] * 2 + np.arange(9) * 3
    mean_rater, mean_prompt = scores.mean(axis=1), scores.mean(axis=0)
    rest = scores - mean_rater[:, None] - mean_prompt + scores.mean()
    residual = (rest**2).sum() / (5 * 8)
    errors = contrast_errors(crossed(scores[..., None]), [[1.0]])
    assert errors.pair_variance[0] == pytest.approx(residual)
    assert errors.rater_variance[0] == pytest.approx(mean_rater.var(ddof=1) - residual / 9)
    assert errors.prompt_variance[0] == pytest.approx(mean_prompt.var(ddof=1) - residual / 6)
    expected = mean_rater.var(ddof=1) / 6 + mean_prompt.var(ddof=1) / 9 - residual / 54
    assert errors.standard_error[0] == pytest.approx(np.sqrt(expected))


def test_scores_of_a_program_have_the_t_interval_over_prompts() -> None:
    scores = np.random.default_rng(1).normal(size=40)
    estimate = crossed_t(crossed_means(None, np.arange(40), np.zeros(40, int), scores))[0]
    low, high = stats.t.interval(0.95, 39, scores.mean(), stats.sem(scores))
    assert [estimate.low, estimate.high] == pytest.approx([low, high])
    assert (estimate.raters, estimate.items, estimate.method) == (0, 40, "t over prompts")


def test_entries_on_the_same_prompts_are_compared_with_pairing() -> None:
    rng = np.random.default_rng(2)
    difficulty = rng.normal(size=(1, 50, 1)) * 5
    scores = difficulty + rng.normal(size=(8, 50, 2)) * 0.1 + np.array([0.0, 0.2])
    cells = crossed(scores)
    first, second, contrasts = difference_contrasts(2)
    errors = contrast_errors(cells, contrasts)
    assert (first.tolist(), second.tolist()) == ([0], [1])
    assert errors.standard_error[0] < 0.02 < contrast_errors(cells, np.eye(2)).standard_error[0]


@pytest.mark.skipif(not TIFA.is_file(), reason=f"no {TIFA}")
def test_tifa_160_has_the_means_and_standard_errors_computed_elsewhere() -> None:
    answers = pl.read_csv(TIFA).with_columns(
        rater=pl.col("worker_id").rank("dense").cast(pl.Int64) - 1,
        prompt=pl.col("item_id").rank("dense").cast(pl.Int64) - 1,
    )
    generators = ["sd2dot1", "sd1dot5", "mini-dalle", "sd1dot1", "vq-diffusion"]
    cell = answers["t2i_model"].replace_strict(generators, range(5), return_dtype=pl.Int64)
    columns = (answers["rater"].to_numpy(), answers["prompt"].to_numpy(), cell.to_numpy())
    means = crossed_means(*columns, answers["answer"].to_numpy())
    np.testing.assert_allclose(means.values, [4.1489, 3.9900, 3.8388, 3.7381, 3.6108], atol=1e-4)
    best = contrast_errors(means, np.eye(5)[:1])
    parts = (best.over_prompts, best.over_raters, best.uncorrected, best.independent)
    np.testing.assert_allclose(np.concatenate(parts), [0.0647, 0.0386, 0.0677, 0.0331], atol=1e-4)

    wide = answers.pivot(on="t2i_model", index=["rater", "prompt"], values="answer")
    published = {
        0: (0.159, 0.0589, 0.0087, 0.0332, 0.0494),
        1: (0.150, 0.0687, 0.0474, 0.0381, 0.0742),
        2: (0.098, 0.0633, 0.0374, 0.0380, 0.0629),
        3: (0.128, 0.0708, 0.0475, 0.0408, 0.0748),
    }
    for place, (difference, *expected) in published.items():
        pair = wide.select("rater", "prompt", *generators[place : place + 2]).drop_nulls()
        lead = (pair[generators[place]] - pair[generators[place + 1]]).to_numpy()
        leads = crossed_means(pair["rater"].to_numpy(), pair["prompt"].to_numpy(), np.zeros(len(lead), int), lead)
        errors = contrast_errors(leads, [[1.0]])
        assert leads.values[0] == pytest.approx(difference, abs=6e-4)  # published to three digits
        found = (errors.over_prompts, errors.over_raters, errors.independent, errors.uncorrected)
        np.testing.assert_allclose(np.concatenate(found), expected, atol=1e-4)


def test_votes_are_weighed_by_rater_and_prompt() -> None:
    rng = np.random.default_rng(3)
    rater, prompt = (column.ravel() for column in np.indices((10, 30)))
    first, second = np.array([0, 0, 1])[prompt % 3], np.array([1, 2, 2])[prompt % 3]
    outcome = (rng.random(300) > 0.6).astype(np.int64)
    pairs, counts = tally_votes(rater * 30 + prompt, first, second, outcome)
    fit = bradley_terry(pairs, counts, items=3)
    cells = CrossedInfluence(fit.ratings, fit.influence, fit.answers_by_rater, prompt, rater)
    by_rater = bradley_terry(*tally_votes(rater, first, second, outcome), items=3)
    np.testing.assert_allclose(contrast_errors(cells, np.eye(3)).over_raters, by_rater.standard_errors, rtol=1e-9)


@given(st.integers(0, 2**32 - 1))
def test_neither_shift_nor_scale_changes_what_is_significant(seed: int) -> None:
    scores = np.random.default_rng(seed).normal(size=(5, 7, 3))
    plain, moved = crossed(scores), crossed(3 * scores - 2)
    contrasts = difference_contrasts(3)[2]
    errors, moved_errors = contrast_errors(plain, contrasts), contrast_errors(moved, contrasts)
    np.testing.assert_allclose(moved_errors.standard_error, 3 * errors.standard_error, rtol=1e-7)
    np.testing.assert_allclose(moved_errors.degrees, errors.degrees, rtol=1e-6)
    assert np.all(errors.standard_error >= errors.over_prompts - 1e-12)
    assert np.all(errors.standard_error >= errors.over_raters - 1e-12)


def test_a_proportion_stays_between_0_and_1_and_few_raters_give_no_interval() -> None:
    rater, prompt = (column.ravel() for column in np.indices((6, 20)))
    answers = crossed_means(rater, prompt, np.zeros(120, int), (prompt == 0).astype(float), proportions=True)
    estimate = crossed_t(answers)[0]
    assert 0 <= estimate.low < estimate.value < estimate.high <= 1
    few = crossed_means(rater[:80], prompt[:80], np.zeros(80, int), (prompt[:80] == 0).astype(float))
    assert np.isnan(crossed_t(few)[0].low)


def test_faults_are_named() -> None:
    with pytest.raises(StatisticsError, match="of one length"):
        crossed_means([0, 1], [0], [0], [1.0])
    with pytest.raises(StatisticsError, match=r"contrasts must be \(contrasts, 1 cells\)"):
        contrast_errors(crossed(np.ones((2, 2, 1))), [[1.0, 0.0]])


def test_precision_by_hand() -> None:
    # σ²/m + σ²/n + σ²/(mn) = .5/10 + 2/50 + 3/500 = .096; R = .056, P = .046, E = .006, and
    # ν = .096²/(.056²/9 + .046²/49 + .006²/441) = 23.5275; t of it at .975 is 2.0661
    parts = VarianceComponents(rater=0.5, prompt=2.0, rest=3.0, raters=5, prompts=20, crossing=1.0, degrees=12.0)
    predicted = precision(parts, [50], [10])
    assert predicted.half_width[0] == pytest.approx(2.0661 * np.sqrt(0.096), abs=1e-4)
    low, high = (12 / stats.chi2.ppf(q, 12) for q in (0.975, 0.025))
    assert predicted.low[0] == pytest.approx(predicted.half_width[0] * np.sqrt(low))
    assert predicted.high[0] == pytest.approx(predicted.half_width[0] * np.sqrt(high))


def test_a_quarter_of_the_prompts_predicts_the_half_width_of_all() -> None:
    rng = np.random.default_rng(4)
    ratios = []
    for _ in range(40):
        rater, prompt = rng.normal(size=(10, 1, 1)) * 0.3, rng.normal(size=(1, 400, 1)) * 0.5
        scores = rater + prompt + rng.normal(size=(10, 400, 1)) * 0.8
        everything, quarter = crossed(scores), crossed(scores[:, :100])
        estimate = crossed_t(everything)[0]
        predicted = precision(variance_components(quarter, [1.0]), [400], [10]).half_width[0]
        ratios.append(predicted / ((estimate.high - estimate.low) / 2))
    assert np.median(np.abs(np.array(ratios) - 1)) < 0.10


def test_single_intervals_do_not_count_raters_that_do_not_vary() -> None:
    """R over what noise gives lies below the 65 % quantile of F with 4 and 116 degrees: prompts alone count."""
    rng = np.random.default_rng(4)
    scores = rng.normal(size=(5, 30))
    scores -= scores.mean(axis=1, keepdims=True)  # every rater has the same mean: R = 0
    errors = contrast_errors(crossed(scores[..., None]), [[1.0]])
    assert errors.still[0] == 1
    assert errors.reach(0.95)[0] == pytest.approx(stats.t.ppf(0.975, 29) * errors.over_prompts[0])
    assert errors.reach(0.98)[0] == pytest.approx(stats.t.ppf(0.99, errors.degrees[0]) * errors.standard_error[0])
    varied = contrast_errors(crossed((scores + np.arange(5)[:, None])[..., None]), [[1.0]])
    assert varied.still[0] == 0
    assert varied.reach(0.95)[0] == pytest.approx(stats.t.ppf(0.975, varied.degrees[0]) * varied.standard_error[0])


def test_how_far_raters_count_by_hand() -> None:
    """Halfway between the 65 % and the 80 % quantile of F, variance and 1/ν lie halfway between both intervals."""
    rng = np.random.default_rng(5)
    scores = rng.normal(size=(5, 30))
    rest = scores - scores.mean(axis=1, keepdims=True) - scores.mean(axis=0) + scores.mean()
    residual = (rest**2).sum() / (4 * 29)
    middle = np.mean(stats.f.ppf([0.65, 0.8], 4, 116))
    habits = np.array([-2.0, -1.0, 0.0, 1.0, 2.0]) / np.sqrt(2.5)  # variance 1
    prompt = 3 * rng.normal(size=30)  # prompts vary for certain
    scores = rest + prompt + np.sqrt(middle * residual / 30) * habits[:, None]
    errors = contrast_errors(crossed(scores[..., None]), [[1.0]])
    assert errors.still[0] == pytest.approx(0.5)
    error, degrees = errors.single(0.95)
    assert error[0] ** 2 == pytest.approx((errors.standard_error[0] ** 2 + errors.over_prompts[0] ** 2) / 2)
    assert 1 / degrees[0] == pytest.approx((1 / errors.degrees[0] + 1 / 29) / 2)
