"""Agreement, aggregation, mean opinions and label errors of frames, against other packages and by hand."""

import krippendorff
import numpy as np
import pandas as pd
import pingouin
import polars as pl
import pytest
from crowdkit.aggregation import DawidSkene, MajorityVote
from scipy import stats
from statsmodels.stats.inter_rater import aggregate_raters
from statsmodels.stats.inter_rater import fleiss_kappa as fleiss_oracle

from beholder.errors import FrameError, StatisticsError
from beholder.stats.agreement import Scale
from beholder.stats.frames import aggregate, agreement, example_ratings, label_errors, mean_opinion_scores
from beholder.stats.truth import p910

RATINGS = example_ratings()
MATRIX = RATINGS.pivot(on="image", index="rater", values="score").drop("rater").to_numpy()  # (raters, images)


@pytest.mark.parametrize("scale", ["nominal", "ordinal", "interval", "ratio"])
def test_alpha_against_krippendorff(scale: Scale) -> None:
    table = agreement(RATINGS, item="image", answer="score", scale=scale, replicates=20)
    theirs = krippendorff.alpha(MATRIX, level_of_measurement=scale)
    assert table["estimate"][0] == pytest.approx(theirs)
    assert (table.raters, table.items, table.answers) == (12, 40, 480)


@pytest.mark.filterwarnings("ignore::pandas.errors.Pandas4Warning")  # pingouin's own use of pandas
def test_kappa_against_statsmodels_and_icc_against_pingouin() -> None:
    names = ["fleiss-kappa", "icc", "kendall-w"]
    table = agreement(
        RATINGS,
        item="image",
        answer="score",
        coefficient=names,  # type: ignore[arg-type]
        scale="ordinal",
        replicates=20,
    )
    estimates = dict(table.to_frame().select("coefficient", "estimate").iter_rows())
    counts, _ = aggregate_raters(MATRIX.T)
    assert estimates["Fleiss' κ"] == pytest.approx(fleiss_oracle(counts))
    theirs = pingouin.intraclass_corr(RATINGS.to_pandas(), targets="image", raters="rater", ratings="score")
    kinds = ["ICC(1,1)", "ICC(2,1)", "ICC(3,1)", "ICC(1,k)", "ICC(2,k)", "ICC(3,k)"]
    assert [estimates[kind] for kind in kinds] == pytest.approx(theirs["ICC"].to_numpy(), abs=1e-9)
    friedman = stats.friedmanchisquare(*MATRIX.T)
    assert estimates["Kendall's W"] == pytest.approx(friedman.statistic / (12 * 39))


def test_the_seed_reproduces_the_interval() -> None:
    first, again, other = (
        agreement(RATINGS, item="image", answer="flawed", replicates=100, seed=seed) for seed in (1, 1, 2)
    )
    assert first.to_frame().equals(again.to_frame())
    assert not first.to_frame().equals(other.to_frame())
    assert (first.seed, first.replicates) == (1, 100)


def test_categories_that_nobody_chose_count_for_ac1() -> None:
    # Two raters agree on 3 of 4 items: pₐ = ¾; yes has ⅝. Of two categories, pₑ = 2 · ⅝ · ⅜ = .46875 and
    # AC1 = .28125/.53125 = .5294; of three, pₑ = (⅝·⅜ + ⅜·⅝)/2 = .234375 and AC1 = .515625/.765625 = .6735.
    answers = {
        "rater": list("aaaabbbb"),
        "item": [1, 2, 3, 4] * 2,
        "answer": ["yes", "yes", "no", "yes", "yes", "yes", "no", "no"],
    }
    both = agreement(answers, coefficient="gwet-ac1", replicates=5)
    assert both["estimate"][0] == pytest.approx(0.529412, abs=1e-6)
    three = agreement(answers, coefficient="gwet-ac1", categories=["yes", "no", "unsure"], replicates=5)
    assert three["estimate"][0] == pytest.approx(0.673469, abs=1e-6)
    with pytest.raises(StatisticsError, match="among the categories; found 'no'"):
        agreement(answers, coefficient="gwet-ac1", categories=["yes", "unsure"])


def test_faults_of_answers_are_named() -> None:
    with pytest.raises(StatisticsError, match="found 1 further answer, the first by 'ann' about 7"):
        agreement({"rater": ["ann", "ann"], "item": [7, 7], "answer": [1, 2]})
    with pytest.raises(StatisticsError, match=r"coefficient 'kappa' is not known; known: krippendorff-alpha"):
        agreement(RATINGS, coefficient="kappa")  # type: ignore[arg-type]
    with pytest.raises(StatisticsError, match="at least two different values"):
        agreement({"rater": ["a", "b"], "item": [1, 1], "answer": ["x", "x"]})
    with pytest.raises(FrameError, match="holds text such as"):
        agreement(RATINGS, item="image", answer="flawed", scale="ordinal")


def crowd(ratings: pl.DataFrame) -> pd.DataFrame:
    return ratings.select(task="image", worker="rater", label="flawed").to_pandas()


@pytest.mark.filterwarnings("ignore::pandas.errors.Pandas4Warning")  # crowd-kit's own use of pandas
def test_majority_against_crowd_kit() -> None:
    ours = aggregate(RATINGS, item="image", label="flawed", method="majority").to_frame()
    decided = ours.filter(pl.col("label").is_not_null())
    theirs = MajorityVote().fit_predict(crowd(RATINGS))
    assert decided["label"].to_list() == theirs[decided["image"].to_list()].tolist()
    assert 0 < len(decided) < len(ours)  # some votes are tied
    assert ours.filter(pl.col("label").is_null())["probability"].unique().to_list() == [0.5]


@pytest.mark.filterwarnings("ignore::pandas.errors.Pandas4Warning")
def test_dawid_skene_against_crowd_kit() -> None:
    some = RATINGS.filter(pl.col("generator") == "cirrus")
    consensus = aggregate(some, item="image", label="flawed")
    oracle = DawidSkene(n_iter=100, tol=1e-9).fit(crowd(some))
    assert oracle.probas_ is not None
    assert oracle.labels_ is not None
    theirs = oracle.probas_.loc[consensus.to_frame()["image"].to_list(), ["no", "yes"]].to_numpy()
    ours = consensus.probabilities().to_frame().select("no", "yes").to_numpy()
    assert ours == pytest.approx(theirs, abs=1e-3)
    assert (
        consensus.to_frame()["label"].to_list() == oracle.labels_[consensus.to_frame()["image"].to_list()].tolist()
    )


@pytest.mark.parametrize("method", ["majority", "dawid-skene", "one-coin", "mace"])
def test_a_rater_who_answers_at_random_comes_last(method: str) -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 200)
    rows = [
        (rater, image, "ab"[label if rng.random() < accuracy else 1 - label])
        for rater, accuracy in (("good", 0.9), ("fair", 0.8), ("decent", 0.8), ("random", 0.5))
        for image, label in enumerate(truth)
    ]
    frame = pl.DataFrame(rows, schema=["rater", "item", "label"], orient="row")
    consensus = aggregate(frame, method=method)  # type: ignore[arg-type]
    assert consensus.of_raters().to_frame()["rater"].to_list()[-1] == "random"
    decided = consensus.to_frame().drop_nulls("label")
    right = [label == "ab"[truth[item]] for item, label in decided.select("item", "label").iter_rows()]
    assert np.mean(right) > 0.88


def test_labels_that_do_not_differ_are_refused() -> None:
    with pytest.raises(StatisticsError, match="found only 'x'"):
        aggregate({"rater": ["a", "b"], "item": [1, 1], "label": ["x", "x"]})
    with pytest.raises(StatisticsError, match=r"method 'majorty' is not known.*Did you mean 'majority'"):
        aggregate(RATINGS, method="majorty")  # type: ignore[arg-type]


def test_mean_opinions_have_the_t_interval_of_an_image() -> None:
    table = mean_opinion_scores(RATINGS).to_frame()
    image, mean, low, high, raters = table.row(5)
    own = RATINGS.filter(pl.col("image") == image)["score"].to_numpy()
    theirs = stats.ttest_1samp(own, 0).confidence_interval(0.95)
    assert (mean, low, high) == (pytest.approx(own.mean()), pytest.approx(theirs.low), pytest.approx(theirs.high))
    assert raters == 12
    alone = mean_opinion_scores({"rater": ["a"], "image": ["x"], "score": [4]}).to_frame()
    assert alone.row(0) == ("x", 4.0, None, None, 1)


def test_z_means_remove_how_raters_use_the_scale() -> None:
    other = RATINGS.with_columns(
        score=pl.when(pl.col("rater") == "r03").then(100 + 10 * pl.col("score")).otherwise("score")
    )
    ours, theirs = (mean_opinion_scores(frame, method="z-mean") for frame in (RATINGS, other))
    assert ours["estimate"] == pytest.approx(theirs["estimate"])


def test_p910_is_the_array_function() -> None:
    wide = example_ratings(raters=30)
    table = mean_opinion_scores(wide, method="p910").to_frame()
    who, what = (wide[name].rank("dense").to_numpy().astype(int) - 1 for name in ("rater", "image"))
    fit = p910(who, what, wide["score"].to_numpy())
    assert table["estimate"].to_list() == pytest.approx(fit.opinion.tolist())
    assert table["low"].to_list() == pytest.approx(fit.low.tolist())


def test_screening_rejects_and_names() -> None:
    noise = RATINGS.filter(pl.col("rater") == "r00").with_columns(
        rater=pl.lit("noise"), score=pl.Series(np.random.default_rng(0).integers(1, 6, 40))
    )
    both = pl.concat([RATINGS, noise])
    table = mean_opinion_scores(both, screening="p913")
    assert table.raters is not None
    assert "noise" in table.notes[0]
    assert table.raters < 13
    untouched = mean_opinion_scores(RATINGS, screening="bt500")
    assert untouched.notes == ("Rejected by bt500: nobody.",)
    with pytest.raises(StatisticsError, match="bt500 or p913; found 'p911'"):
        mean_opinion_scores(RATINGS, screening="p911")  # type: ignore[arg-type]
    with pytest.raises(StatisticsError, match="found 'median'"):
        mean_opinion_scores(RATINGS, method="median")  # type: ignore[arg-type]


LABELS = {
    "item": ["a", "b", "c", "d"],
    "label": ["cat", "cat", "dog", "dog"],
    "p_cat": [0.9, 0.2, 0.1, 0.45],
    "p_dog": [0.1, 0.8, 0.9, 0.55],
}


def test_label_errors_by_hand() -> None:
    # Thresholds: cat (.9 + .2)/2 = .55, dog (.9 + .55)/2 = .725. Only b reaches another class: dog .8 ≥ .725.
    # Its margin is (.2 − .8 + 1)/2 = .2.
    columns = {"cat": "p_cat", "dog": "p_dog"}
    row = label_errors(LABELS, probabilities=columns).to_frame().row(0)
    assert row == ("b", "cat", "dog", 0.2, pytest.approx(0.2))
    assert len(label_errors(LABELS, probabilities=columns, method="most-probable")) == 1
    with pytest.raises(StatisticsError, match="found none for cat, dog"):
        label_errors(LABELS, probabilities=["p_cat", "p_dog"])
    with pytest.raises(StatisticsError, match="found 'guess'"):
        label_errors(LABELS, probabilities=columns, method="guess")  # type: ignore[arg-type]
