"""Figures of a model: worked by hand, by laws, and against scipy."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats

from beholder.learn.evaluate import Figure, Settings, evaluate, tuned_threshold
from beholder.learn.examples import Judged, judged
from beholder.learn.recipe import Data
from beholder.learn.splits import Item
from beholder.tables.store import TRUTH_ROOM, Store

PAIRS, RATINGS = Data(labels="pairs"), Data(labels="ratings")
SCHEMA = {"rater": pl.String(), "image": pl.String(), "other": pl.String(), "lead": pl.Int64()}
NO_VOTES = pl.DataFrame(schema=SCHEMA)


def figures(found: list[Figure], aspect: str | None = None) -> dict[str, Figure]:
    return {one.statistic: one for one in found if aspect in (None, one.aspect)}


def truth_of(folder: Path) -> dict[str, float]:
    scores = Store(folder, TRUTH_ROOM).read("scores").filter(pl.col("aspect") == "overall")
    return dict(scores.select("image", "score").iter_rows())


def by_hand(shares: list[tuple[str, str, float]]) -> Judged:
    """Images a, b, c of prompt 0 and d, e of prompt 1; c and e are of the second generator."""
    labels = pl.DataFrame(
        [(one, two, "preference", share, 3, 3, None, None) for one, two, share in shares],
        schema={
            **{"image": pl.String, "other": pl.String, "aspect": pl.String, "value": pl.Float64},
            **{"raters": pl.Int64, "answers": pl.Int64, "low": pl.Float64, "high": pl.Float64},
        },
        orient="row",
    )
    items = tuple(
        Item(name, "p0" if name in "abc" else "p1", "g1" if name in "abd" else "g2", name) for name in "abcde"
    )
    return Judged(labels, items, {}, ("preference",), 3)


class TestPairs:
    SAID = by_hand([("a", "b", 1.0), ("a", "c", 2 / 3), ("b", "c", 0.5), ("d", "e", 1 / 3)])
    SCORES = {"preference": {"a": 3.0, "b": 1.0, "c": 4.0, "d": 2.0, "e": 2.0}}  # noqa: RUF012

    def test_by_hand(self) -> None:
        # a > b right, a > c wrong, b = c (people even), d < e but scores even
        found = figures(evaluate(self.SAID, PAIRS, self.SCORES, NO_VOTES, Settings(draws=200)))
        assert found["pair-accuracy-micro"].value == pytest.approx(1.5 / 3)
        assert found["pair-accuracy-macro"].value == pytest.approx((1 / 2 + 1 / 2) / 2)
        assert found["pair-accuracy-hpd-v2"].value == pytest.approx((2 / 3 + 1) / 2)
        assert found["pair-accuracy-imagereward"].value == pytest.approx(1 / 3)
        # 1, 0, ½ (people alone even), ½ (scores alone even)
        assert found["pair-accuracy-pickscore"].value == pytest.approx(2 / 4)
        assert found["pair-accuracy-micro"].items == 3
        # 3:0 all agree (3 of 3); 2:1 one of three; an even share of 3 votes is of no whole votes
        assert found["pair-accuracy-micro"].ceiling == pytest.approx((3 + 1 + 1) / 9)
        assert "pair-accuracy-within-generators" not in found  # a and b alone

    def test_only_pairs_with_both_scores_count(self) -> None:
        some = {"preference": {name: self.SCORES["preference"][name] for name in "abc"}}
        found = figures(evaluate(self.SAID, PAIRS, some, NO_VOTES, Settings(draws=200)))
        assert found["pair-accuracy-micro"].items == 2

    def test_votes_by_hand(self) -> None:
        rows = [
            ("r1", "a", "b", 1),
            ("r2", "b", "a", 1),
            ("r1", "d", "e", -1),
            ("r2", "a", "c", 0),
            ("r2", "c", "a", 1),
        ]
        votes = pl.DataFrame(rows, schema=SCHEMA, orient="row")
        found = figures(evaluate(self.SAID, PAIRS, self.SCORES, votes, Settings(draws=200)))["answer-accuracy"]
        # right, wrong, scores even: ½, a tie: dropped, right
        assert found.value == pytest.approx(2.5 / 4)
        assert (found.items, found.prompts) == (4, 2)

    def test_the_threshold_is_tuned_on_what_was_predicted(self) -> None:
        # a and c, wrong by 1, are better called a tie; to gain b = c, which differs by 3, a > b would be lost
        assert tuned_threshold(self.SAID, self.SCORES) == pytest.approx(1)


class TestLaws:
    def test_the_planted_truth_beats_the_floor_and_its_opposite_is_what_is_left(self, paired_study: Path) -> None:
        there = judged(Store(paired_study), PAIRS)
        truth = {"preference": truth_of(paired_study)}
        turned = {"preference": {image: -value for image, value in truth["preference"].items()}}
        up, down = (
            figures(evaluate(there, PAIRS, scores, NO_VOTES, Settings(draws=200))) for scores in (truth, turned)
        )
        for name in ("pair-accuracy-micro", "pair-accuracy-macro"):
            assert up[name].low < up[name].value < up[name].high
            assert up[name].value > up[name].floor > 0.5
            assert down[name].value == pytest.approx(1 - up[name].value)

    def test_a_score_of_the_generator_is_about_the_floor(self, paired_study: Path) -> None:
        there = judged(Store(paired_study), PAIRS)
        order = {
            name: -float(place) for place, name in enumerate(("aurora", "borealis", "cirrus", "dune", "ember"))
        }
        scores = {"preference": {item.image: order[item.generator] for item in there.items}}
        found = figures(evaluate(there, PAIRS, scores, NO_VOTES, Settings(draws=200)))["pair-accuracy-micro"]
        assert found.value == pytest.approx(found.floor, abs=0.03)

    def test_ratings_against_scipy(self, rated_study: Path) -> None:
        there = judged(Store(rated_study), RATINGS)
        rng = np.random.default_rng(1)
        truth = truth_of(rated_study)
        noisy = {item.image: 1 + 4 * truth[item.image] + rng.normal(0, 0.5) for item in there.items}
        predictions = {"quality": noisy, "alignment": noisy}
        found = figures(evaluate(there, RATINGS, predictions, NO_VOTES, Settings(draws=200)), "quality")
        said = dict(there.labels.filter(pl.col("aspect") == "quality").select("image", "value").iter_rows())
        x, y = (np.array([values[image] for image in said]) for values in (noisy, said))
        assert found["pearson"].value == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-9)
        assert found["spearman"].value == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-9)
        assert found["kendall"].value == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-9)
        assert found["rmse"].value == pytest.approx(np.sqrt(np.mean((x - y) ** 2)), abs=1e-9)
        assert found["rmse"].low < found["rmse"].value < found["rmse"].high
        for name in ("pearson", "spearman", "kendall"):
            one = found[name]
            assert one.low < one.value < one.high
            assert one.people_low < one.value < one.people_high
            assert one.ceiling > one.value > one.floor
        assert found["spearman-within-generators"].value < found["spearman"].value
        assert found["pair-accuracy-micro"].value > 0.7

    def test_correlations_do_not_care_about_the_scale_but_the_error_does(self, rated_study: Path) -> None:
        there = judged(Store(rated_study), Data(labels="ratings", aspects=("quality",)))
        truth = truth_of(rated_study)
        one, two = (
            figures(evaluate(there, RATINGS, {"quality": scores}, NO_VOTES, Settings(draws=200)))
            for scores in (truth, {image: 10 * value - 3 for image, value in truth.items()})
        )
        for name in ("pearson", "spearman", "kendall", "pair-accuracy-macro"):
            assert one[name].value == pytest.approx(two[name].value)
        assert one["rmse"].value != pytest.approx(two["rmse"].value)
