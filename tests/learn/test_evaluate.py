"""Figures of a model: worked by hand, by laws, and against scipy."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats

from beholder.learn.evaluate import evaluate, tune_tie_threshold
from beholder.learn.examples import LabelledImages, read_labelled_images
from beholder.learn.figures.figure import EvaluationSettings, Figure
from beholder.learn.recipe import Data
from beholder.learn.splits import Item
from beholder.tables.store import TRUTH_ROOM, Store

PAIRS, RATINGS = Data(labels="pairs"), Data(labels="ratings")
SCHEMA = {"rater": pl.String(), "image": pl.String(), "other": pl.String(), "lead": pl.Int64()}
NO_VOTES = pl.DataFrame(schema=SCHEMA)


def by_statistic(figures: list[Figure], aspect: str | None = None) -> dict[str, Figure]:
    return {figure.statistic: figure for figure in figures if aspect in (None, figure.aspect)}


def truth_of(folder: Path) -> dict[str, float]:
    scores = Store(folder, TRUTH_ROOM).read("scores").filter(pl.col("aspect") == "overall")
    return dict(scores.select("image", "score").iter_rows())


def by_hand(pairs: list[tuple[str, str, float]]) -> LabelledImages:
    """Images a, b, c of prompt 0 and d, e of prompt 1; c and e are of the second generator."""
    labels = pl.DataFrame(
        [(first, second, "preference", proportion, 3, 3, None, None) for first, second, proportion in pairs],
        schema={
            **{"image": pl.String, "other": pl.String, "aspect": pl.String, "value": pl.Float64},
            **{"raters": pl.Int64, "answers": pl.Int64, "low": pl.Float64, "high": pl.Float64},
        },
        orient="row",
    )
    items = tuple(
        Item(name, "p0" if name in "abc" else "p1", "g1" if name in "abd" else "g2", name) for name in "abcde"
    )
    return LabelledImages(labels, items, {}, ("preference",), 3)


class TestPairs:
    LABELLED = by_hand([("a", "b", 1.0), ("a", "c", 2 / 3), ("b", "c", 0.5), ("d", "e", 1 / 3)])
    SCORES = {"preference": {"a": 3.0, "b": 1.0, "c": 4.0, "d": 2.0, "e": 2.0}}  # noqa: RUF012

    def test_by_hand(self) -> None:
        # a > b right, a > c wrong, b = c (raters even), d < e but scores even
        figures = by_statistic(
            evaluate(self.LABELLED, PAIRS, self.SCORES, NO_VOTES, EvaluationSettings(replicates=200))
        )
        assert figures["pair-accuracy-micro"].value == pytest.approx(1.5 / 3)
        assert figures["pair-accuracy-macro"].value == pytest.approx((1 / 2 + 1 / 2) / 2)
        assert figures["pair-accuracy-hpd-v2"].value == pytest.approx((2 / 3 + 1) / 2)
        assert figures["pair-accuracy-imagereward"].value == pytest.approx(1 / 3)
        # 1, 0, ½ (raters alone even), ½ (scores alone even)
        assert figures["pair-accuracy-pickscore"].value == pytest.approx(2 / 4)
        assert figures["pair-accuracy-micro"].items == 3
        # 3:0 all agree (3 of 3); 2:1 one of three; an even proportion of 3 votes is of no integer number of votes
        assert figures["pair-accuracy-micro"].ceiling == pytest.approx((3 + 1 + 1) / 9)
        assert "pair-accuracy-within-generators" not in figures  # a and b alone

    def test_only_pairs_with_both_scores_count(self) -> None:
        some = {"preference": {name: self.SCORES["preference"][name] for name in "abc"}}
        figures = by_statistic(evaluate(self.LABELLED, PAIRS, some, NO_VOTES, EvaluationSettings(replicates=200)))
        assert figures["pair-accuracy-micro"].items == 2

    def test_votes_by_hand(self) -> None:
        rows = [
            ("r1", "a", "b", 1),
            ("r2", "b", "a", 1),
            ("r1", "d", "e", -1),
            ("r2", "a", "c", 0),
            ("r2", "c", "a", 1),
        ]
        votes = pl.DataFrame(rows, schema=SCHEMA, orient="row")
        accuracy = by_statistic(
            evaluate(self.LABELLED, PAIRS, self.SCORES, votes, EvaluationSettings(replicates=200))
        )["answer-accuracy"]
        # right, wrong, scores even: ½, a tie: dropped, right
        assert accuracy.value == pytest.approx(2.5 / 4)
        assert (accuracy.items, accuracy.prompts) == (4, 2)

    def test_the_threshold_is_tuned_on_what_was_predicted(self) -> None:
        # a and c, wrong by 1, are better called a tie; to gain b = c, which differs by 3, a > b would be lost
        assert tune_tie_threshold(self.LABELLED, self.SCORES) == pytest.approx(1)


class TestLaws:
    def test_the_ground_truth_beats_the_baseline_and_its_negative_has_the_complement(
        self, paired_study: Path
    ) -> None:
        labelled = read_labelled_images(Store(paired_study), PAIRS)
        truth = {"preference": truth_of(paired_study)}
        turned = {"preference": {image: -value for image, value in truth["preference"].items()}}
        up, down = (
            by_statistic(evaluate(labelled, PAIRS, scores, NO_VOTES, EvaluationSettings(replicates=200)))
            for scores in (truth, turned)
        )
        for name in ("pair-accuracy-micro", "pair-accuracy-macro"):
            assert up[name].low < up[name].value < up[name].high
            assert up[name].value > up[name].floor > 0.5
            assert down[name].value == pytest.approx(1 - up[name].value)

    def test_a_score_of_the_generator_is_about_the_baseline(self, paired_study: Path) -> None:
        labelled = read_labelled_images(Store(paired_study), PAIRS)
        order = {name: -float(rank) for rank, name in enumerate(("aurora", "borealis", "cirrus", "dune", "ember"))}
        scores = {"preference": {item.image: order[item.generator] for item in labelled.items}}
        accuracy = by_statistic(evaluate(labelled, PAIRS, scores, NO_VOTES, EvaluationSettings(replicates=200)))[
            "pair-accuracy-micro"
        ]
        assert accuracy.value == pytest.approx(accuracy.floor, abs=0.03)

    def test_ratings_against_scipy(self, rated_study: Path) -> None:
        labelled = read_labelled_images(Store(rated_study), RATINGS)
        rng = np.random.default_rng(1)
        truth = truth_of(rated_study)
        noisy = {item.image: 1 + 4 * truth[item.image] + rng.normal(0, 0.5) for item in labelled.items}
        predictions = {"quality": noisy, "alignment": noisy}
        figures = by_statistic(
            evaluate(labelled, RATINGS, predictions, NO_VOTES, EvaluationSettings(replicates=200)), "quality"
        )
        ratings = dict(labelled.labels.filter(pl.col("aspect") == "quality").select("image", "value").iter_rows())
        x, y = (np.array([values[image] for image in ratings]) for values in (noisy, ratings))
        assert figures["pearson"].value == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-9)
        assert figures["spearman"].value == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-9)
        assert figures["kendall"].value == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-9)
        assert figures["rmse"].value == pytest.approx(np.sqrt(np.mean((x - y) ** 2)), abs=1e-9)
        assert figures["rmse"].low < figures["rmse"].value < figures["rmse"].high
        for name in ("pearson", "spearman", "kendall"):
            figure = figures[name]
            assert figure.low < figure.value < figure.high
            assert figure.people_low < figure.value < figure.people_high
            assert figure.ceiling > figure.value > figure.floor
        assert figures["spearman-within-generators"].value < figures["spearman"].value
        assert figures["pair-accuracy-micro"].value > 0.7

    def test_correlations_do_not_care_about_the_scale_but_the_error_does(self, rated_study: Path) -> None:
        labelled = read_labelled_images(Store(rated_study), Data(labels="ratings", aspects=("quality",)))
        truth = truth_of(rated_study)
        plain, rescaled = (
            by_statistic(
                evaluate(labelled, RATINGS, {"quality": scores}, NO_VOTES, EvaluationSettings(replicates=200))
            )
            for scores in (truth, {image: 10 * value - 3 for image, value in truth.items()})
        )
        for name in ("pearson", "spearman", "kendall", "pair-accuracy-macro"):
            assert plain[name].value == pytest.approx(rescaled[name].value)
        assert plain["rmse"].value != pytest.approx(rescaled["rmse"].value)
