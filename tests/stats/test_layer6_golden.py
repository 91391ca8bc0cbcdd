"""Published numbers: the Layer 6 realism release and the HYPE paper."""

import csv
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from beholder.stats.agreement.krippendorff import alpha_of_counts
from beholder.stats.correlation.coefficients import correlation
from beholder.stats.intervals.bootstrap import clustered_ratio, rater_weights, ratio_of_sums
from beholder.stats.intervals.clustered_t import ratio_influence
from beholder.stats.intervals.interval_width import width_by_raters
from beholder.stats.psychophysics.detection import detection
from beholder.stats.significance.group_pairs import games_howell, tukey_hsd
from beholder.stats.significance.group_tests import kruskal_wallis, levene, one_way_anova
from beholder.stats.significance.grouped import grouped
from beholder.stats.significance.separation import separate
from beholder.stats.significance.t_tests import paired_t

DATA = Path(os.environ.get("BEHOLDER_SHARED", Path(__file__).parents[3] / "shared")) / "data"
LAYER6 = DATA / "layer6-realism"
SETS = ("cifar10", "imagenet256")

pytestmark = pytest.mark.skipif(not LAYER6.exists(), reason=f"the Layer 6 release is not at {LAYER6}")


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def expected(dataset: str) -> list[dict[str, str]]:
    return [row for row in rows(LAYER6 / "expected_human_error_by_model.csv") if row["dataset"] == dataset]


def by_model(dataset: str, column: str) -> tuple[list[str], NDArray[np.int64], NDArray[np.float64]]:
    """Return the models, and each rater's model and value."""
    participants = rows(LAYER6 / "data" / f"{dataset}.csv")
    models = sorted({row["model"] for row in participants})
    which = np.array([models.index(row["model"]) for row in participants])
    return models, which, np.array([float(row[column]) for row in participants])


def spread(
    values: NDArray[np.float64], which: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return numerators and denominators (raters, models)."""
    belongs = np.eye(which.max() + 1)[which]
    return values[:, None] * belongs, belongs


@pytest.mark.parametrize("dataset", SETS)
@pytest.mark.parametrize("column", ["err_rt", "f_err_rt", "r_err_rt", "r_ans_rt"])
def test_means_and_standard_errors(dataset: str, column: str) -> None:
    models, which, values = by_model(dataset, column)
    weights = rater_weights(which, 4000, np.random.default_rng(0))
    above, below = spread(values, which)
    ratio = clustered_ratio(above, below, weights)
    errors = ratio_of_sums(above, below, weights).std(axis=0) * np.sqrt(ratio.raters / (ratio.raters - 1))
    for row in expected(dataset):
        cell = models.index(row["model"])
        assert ratio.raters[cell] == int(row["n_participants"])
        assert ratio.value[cell] == pytest.approx(float(row[f"{column}_mean"]), abs=1e-6)
        # the standard deviation of 4,000 replicates is known to 1/√8,000 = 1.1 %; 4.5 of these over all cells
        assert errors[cell] == pytest.approx(float(row[f"{column}_sem"]), rel=0.05)
    assert len(expected(dataset)) == len(models)


@pytest.mark.parametrize("dataset", SETS)
def test_intervals(dataset: str) -> None:
    models, which, values = by_model(dataset, "err_rt")
    weights = rater_weights(which, 10_000, np.random.default_rng(1))
    plain = clustered_ratio(*spread(values, which), weights, rule="percentile", expand=False)
    expanded = clustered_ratio(*spread(values, which), weights, rule="percentile")
    ours = clustered_ratio(*spread(values, which), weights)
    for row in expected(dataset):
        cell = models.index(row["model"])
        low, high = float(row["err_ci95_lo"]), float(row["err_ci95_hi"])
        assert plain.low[cell] == pytest.approx(low, abs=0.05 * (high - low))
        assert plain.high[cell] == pytest.approx(high, abs=0.05 * (high - low))
        # for 25 raters the expanded tails reach t.975,24 · √(25/24)/1.96 = 1.0747 times as far
        assert (expanded.high[cell] - expanded.low[cell]) / (high - low) == pytest.approx(1.075, abs=0.05)
        # BCa by 25/24 instead, and further where one rater strays
        assert 1.0 < (ours.high[cell] - ours.low[cell]) / (high - low) < 1.3


@pytest.mark.parametrize("dataset", SETS)
def test_detection(dataset: str) -> None:
    models, which, fake_error = by_model(dataset, "f_err_rt")
    _, _, real_error = by_model(dataset, "r_err_rt")
    detected = detection(np.rint(100 - 100 * fake_error), 100, np.rint(100 * real_error), 100)
    rater_counts = np.bincount(which)
    d_prime, criterion = (np.bincount(which, x) / rater_counts for x in (detected.d_prime, detected.criterion))
    for row in expected(dataset):
        cell = models.index(row["model"])
        assert d_prime[cell] == pytest.approx(float(row["dprime_mean_loglinear"]), abs=1e-5)
        assert criterion[cell] == pytest.approx(float(row["criterion_mean_loglinear"]), abs=1e-5)


CHECKED = {
    "test_group_tests": "n k df anova_F anova_p eta2 kruskal_H kruskal_p levene_W levene_p",
    "test_tukey": "tukey_pairs tukey_sep_p05",
    "test_fake_against_real_and_time": "paired_t_fake_vs_real_err corr_time_err_pearson corr_time_err_spearman",
    "test_careless_raters": "below_55pct_acc at_or_below_chance extreme_bias_r_ans<.25_or>.75 "
    "fast_resp_lt_0.5s_per_trial",
    "test_krippendorff_from_counts": "krippendorff_alpha_nominal_all krippendorff_alpha_fake "
    "krippendorff_alpha_real images_ge2",
    "test_width_by_number_of_raters": "mean_boot_ci95_width_by_n",
    "test_answers_of_one_rater_are_not_independent": "mean_between_participant_sd "
    "mean_ratio_clusterSE_to_binomialSE",
}
"""A test -> the entries of ``expected_statistics.json`` that it checks."""


def published(dataset: str) -> dict[str, Any]:
    expected: dict[str, Any] = json.loads((LAYER6 / "expected_statistics.json").read_text())[dataset]
    return expected


@pytest.mark.parametrize("dataset", SETS)
def test_every_entry_is_checked_by_a_test(dataset: str) -> None:
    assert set(published(dataset)) == {name for names in CHECKED.values() for name in names.split()}
    assert all(test in globals() for test in CHECKED)


@pytest.mark.parametrize("dataset", SETS)
def test_group_tests(dataset: str) -> None:
    _, which, values = by_model(dataset, "err_rt")
    book = published(dataset)
    anova = one_way_anova(values, which)
    assert (anova.raters, anova.groups) == (book["n"], book["k"])
    assert [anova.between, anova.within] == book["df"]
    computed = (anova.statistic, anova.p_value, anova.eta_squared)
    assert computed == pytest.approx((book["anova_F"], book["anova_p"], book["eta2"]), rel=1e-9)
    ranks = kruskal_wallis(values, which)
    assert (ranks.statistic, ranks.p_value) == pytest.approx((book["kruskal_H"], book["kruskal_p"]), rel=1e-9)
    spread = levene(values, which)
    assert (spread.statistic, spread.p_value) == pytest.approx((book["levene_W"], book["levene_p"]), rel=1e-9)


@pytest.mark.parametrize("dataset", SETS)
def test_tukey(dataset: str) -> None:
    _, which, values = by_model(dataset, "err_rt")
    pairs, book = tukey_hsd(values, which), published(dataset)
    assert len(pairs.first) == book["tukey_pairs"]
    assert int(pairs.separated.sum()) == book["tukey_sep_p05"]
    # spreads are alike here (Levene), so allowing each model its own changes little
    assert abs(int(games_howell(values, which).separated.sum()) - book["tukey_sep_p05"]) <= 4


@pytest.mark.parametrize("dataset", SETS)
def test_fake_against_real_and_time(dataset: str) -> None:
    book = published(dataset)
    errors = {column: by_model(dataset, column)[2] for column in ("err_rt", "f_err_rt", "r_err_rt", "resp_time")}
    t_test = paired_t(errors["f_err_rt"], errors["r_err_rt"])
    expected = book["paired_t_fake_vs_real_err"]
    assert (t_test.statistic, t_test.p_value, t_test.difference) == pytest.approx(tuple(expected), rel=1e-9)
    linear = correlation(errors["resp_time"], errors["err_rt"])
    assert linear.value == pytest.approx(book["corr_time_err_pearson"], rel=1e-9)
    ranked = correlation(errors["resp_time"], errors["err_rt"], kind="spearman")
    assert ranked.value == pytest.approx(book["corr_time_err_spearman"], rel=1e-9)
    assert linear.low < linear.value < linear.high


@pytest.mark.parametrize("dataset", SETS)
def test_careless_raters(dataset: str) -> None:
    book = published(dataset)
    error, said_real, seconds = (by_model(dataset, column)[2] for column in ("err_rt", "r_ans_rt", "resp_time"))
    assert int((1 - error < 0.55).sum()) == book["below_55pct_acc"]
    assert int((1 - error <= 0.5).sum()) == book["at_or_below_chance"]
    assert int(((said_real < 0.25) | (said_real > 0.75)).sum()) == book["extreme_bias_r_ans<.25_or>.75"]
    assert int((seconds / 200 < 0.5).sum()) == book["fast_resp_lt_0.5s_per_trial"]


@pytest.mark.parametrize("dataset", SETS)
def test_width_by_number_of_raters(dataset: str) -> None:
    _, which, values = by_model(dataset, "err_rt")
    book = published(dataset)["mean_boot_ci95_width_by_n"]
    sizes = [int(size) for size in book]
    rng = np.random.default_rng(4)
    widths = [
        width_by_raters(values[which == model], sizes, 2000, rng, expand=False) for model in range(which.max() + 1)
    ]
    # a 95 % width of 2,000 replicates is known to some 2.5 %, and the mean over 11 or 13 models to under 1 %,
    # theirs as well
    np.testing.assert_allclose(np.mean(widths, axis=0), list(book.values()), rtol=0.03)


@pytest.mark.parametrize(("dataset", "tukey"), [("cifar10", 47), ("imagenet256", 24)])
def test_separation_is_close_to_tukeys(dataset: str, tukey: int) -> None:
    models, which, values = by_model(dataset, "err_rt")
    above, below = spread(values, which)
    separation = separate(ratio_influence(above, below))
    assert len(separation.first) == len(models) * (len(models) - 1) // 2
    # another test (each pair's own spread) on the same data: a few pairs at the edge may differ
    assert abs(int(separation.separated.sum()) - tukey) <= 4


@pytest.mark.parametrize(("dataset", "name"), [("cifar10", "cifar10"), ("imagenet256", "imagenet")])
def test_krippendorff_from_counts(dataset: str, name: str) -> None:
    images = rows(LAYER6 / "per-image-data" / f"{name}_labeled_data.csv")
    said_generated = np.array([int(float(row["number_guesses_generated"])) for row in images])
    guesses = np.array([int(float(row["number_guesses"])) for row in images])
    generated = np.array([int(row["generated"]) for row in images]) == 1
    counts = np.stack([guesses - said_generated, said_generated], axis=1)
    book = published(dataset)
    assert int((guesses >= 2).sum()) == book["images_ge2"]
    for part, key in (
        (np.ones_like(generated), "krippendorff_alpha_nominal_all"),
        (generated, "krippendorff_alpha_fake"),
        (~generated, "krippendorff_alpha_real"),
    ):
        assert alpha_of_counts(counts[part], scale="nominal") == pytest.approx(book[key], abs=1e-9)


@pytest.mark.parametrize("dataset", SETS)
def test_answers_of_one_rater_are_not_independent(dataset: str) -> None:
    models, which, values = by_model(dataset, "err_rt")
    above, below = spread(values, which)
    replicates = ratio_of_sums(above, below, rater_weights(which, 2000, np.random.default_rng(3)))
    rater_counts = np.bincount(which)
    clustered = replicates.std(axis=0) * np.sqrt(rater_counts / (rater_counts - 1))
    mean = above.sum(axis=0) / rater_counts
    naive = np.sqrt(mean * (1 - mean) / (200 * rater_counts))
    book = published(dataset)
    ratio = book["mean_ratio_clusterSE_to_binomialSE"]
    assert (clustered / naive).mean() == pytest.approx(ratio, rel=0.03)
    between = np.sqrt(grouped(values, which).variances)
    assert between.mean() == pytest.approx(book["mean_between_participant_sd"], rel=1e-9)
    assert (between / np.sqrt(rater_counts) / naive).mean() == pytest.approx(ratio, rel=1e-9)
    assert len(models) == book["k"]


def test_hype_score_is_the_mean_of_fake_and_real_error() -> None:
    table = [row for row in rows(DATA / "hype_published_scores.csv") if row["variant"] == "HYPE_inf_pct"]
    assert len(table) == 25
    wrong = np.array([[float(row["fakes_error"]), float(row["reals_error"])] for row in table])  # of 100 each
    weights = np.ones((1, 1), np.int32)
    for (fakes, reals), row in zip(wrong, table, strict=True):
        score = 100 * ratio_of_sums([[fakes + reals]], [[200]], weights)[0, 0]
        assert score == pytest.approx(float(row["score"]), abs=0.1001)  # printed to one decimal
