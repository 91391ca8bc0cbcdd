"""Ratings of votes and rankings in frames: by hand, against other packages, and what is refused."""

import choix
import evalica
import numpy as np
import polars as pl
import pytest

from beholder.errors import FrameError, StatisticsError
from beholder.stats.frames import active_pairs, bradley_terry, example_votes, plackett_luce, thurstone

VOTES = example_votes()
DECIDED = VOTES.filter(~pl.col("tie"))
NAMES = sorted(set(VOTES["first"]))


def by_name(frame: pl.DataFrame) -> dict[str, float]:
    return dict(frame.select("item", "estimate").iter_rows())


def test_two_items_by_hand() -> None:
    # Six of eight raters prefer a: log odds ln(6/2) = 1.0986, half of it above 0 and half below.
    votes = {"rater": list("stuvwxyz"), "winner": list("aaaaaabb"), "loser": list("bbbbbbaa")}
    ratings = bradley_terry(votes)
    assert ratings.to_frame()["item"].to_list() == ["a", "b"]
    assert ratings["estimate"] == pytest.approx([np.log(3) / 2, -np.log(3) / 2])
    # Each vote moves the difference by (1 − p)/Σp(1 − p) or −p/Σp(1 − p), p = ¾, Σ = 8 · 3/16 = 1.5: six by ⅙ and
    # two by −½. Squares: 6/36 + 2/4 = 2/3; over 1 − 1/8 this is .7619, SE .8729 of the difference.
    pair = ratings.pairs()
    assert pair["difference"] == pytest.approx([np.log(3)])
    assert pair["se"] == pytest.approx([np.sqrt(2 / 3 / (7 / 8))])
    # Two items: no adjustment, t with 7 degrees of freedom, 2.3646. The interval ends where the score of the
    # likelihood ratio is 2.3646 · .8729/SE of independent votes = 2.3646 · .8729/√(1/1.5) = 2.5279.
    for limit in (pair["low"][0], pair["high"][0]):
        p = 1 / (1 + np.exp(-limit))
        loss = 2 * (6 * np.log(0.75 / p) + 2 * np.log(0.25 / (1 - p)))
        assert np.sqrt(loss) == pytest.approx(2.364624 * 0.872872 * np.sqrt(1.5), rel=1e-5)
    assert not pair["separated"][0]


def test_against_choix_and_evalica() -> None:
    ratings = by_name(bradley_terry(DECIDED).to_frame())
    code = {name: number for number, name in enumerate(NAMES)}
    votes = [(code[best], code[rest]) for best, rest in DECIDED.select("winner", "loser").iter_rows()]
    theirs = choix.ilsr_pairwise(len(NAMES), votes, max_iter=1000, tol=1e-12)
    assert [ratings[name] for name in NAMES] == pytest.approx(theirs, abs=1e-8)
    fit = evalica.bradley_terry(
        DECIDED["winner"].to_list(), DECIDED["loser"].to_list(), [evalica.Winner.X] * len(DECIDED), tolerance=1e-12
    )
    scores = np.log([fit.scores[name] for name in NAMES])
    assert [ratings[name] for name in NAMES] == pytest.approx(scores - scores.mean(), abs=1e-6)


def test_both_forms_of_votes_say_the_same() -> None:
    sides = bradley_terry(VOTES, first="first", second="second", outcome="outcome", side_effect=False)
    assert sides.to_frame().equals(bradley_terry(VOTES, tie="tie").to_frame())


OUTCOMES = {
    "names of winners": pl.when("tie").then(pl.lit("tie")).otherwise("winner"),
    "left and right": pl.col("outcome").replace({"first": "Left", "second": "RIGHT", "tie": "Tie"}),
    "signs": pl.col("outcome").replace_strict({"first": 2.0, "second": -1.0, "tie": 0.0}),
    "halves": pl.col("outcome").replace_strict({"first": 1.0, "second": 0.0, "tie": 0.5}),
}


@pytest.mark.parametrize("form", OUTCOMES)
def test_outcomes_may_be_written_in_several_ways(form: str) -> None:
    votes = VOTES.with_columns(said=OUTCOMES[form])
    ratings = bradley_terry(votes, first="first", second="second", outcome="said")
    assert ratings.to_frame().equals(
        bradley_terry(VOTES, first="first", second="second", outcome="outcome").to_frame()
    )


def test_outcomes_may_be_true_and_false() -> None:
    votes = DECIDED.with_columns(said=pl.col("outcome") == "first")
    ratings = bradley_terry(votes, first="first", second="second", outcome="said")
    assert ratings.to_frame().equals(
        bradley_terry(DECIDED, first="first", second="second", outcome="outcome").to_frame()
    )


def test_the_side_effect_is_reported() -> None:
    ratings = bradley_terry(VOTES, first="first", second="second", outcome="outcome")
    assert any(note.startswith("Side effect: being shown first adds +0.0") for note in ratings.notes)


def test_without_raters_votes_are_independent_and_the_result_says_so() -> None:
    ratings = bradley_terry(VOTES, tie="tie", rater=None)
    assert ratings.raters is None
    assert "raters" not in ratings.to_frame().columns
    assert "taken as independent" in repr(ratings)
    assert "more_answers" in ratings.pairs().to_frame().columns
    assert ratings["se"].mean() < bradley_terry(VOTES, tie="tie")["se"].mean()


def test_few_raters_have_no_interval_and_a_note() -> None:
    few = VOTES.filter(pl.col("rater").is_in(["r00", "r01", "r02", "r03"]))
    ratings = bradley_terry(few, tie="tie")
    assert ratings.to_frame()["low"].null_count() == 4
    assert any("Fewer than 5 raters" in note for note in ratings.notes)


def test_a_clean_sweep_needs_pseudo_votes_and_the_result_says_so() -> None:
    votes = {"rater": list("stuvwxyz"), "winner": ["a"] * 8, "loser": ["b"] * 8}
    ratings = bradley_terry(votes)
    assert np.isfinite(ratings["estimate"]).all()
    assert any("pseudo-vote" in note for note in ratings.notes)


def test_errors_name_what_is_wrong() -> None:
    with pytest.raises(FrameError, match=r"no column 'rater' \(rater=\); or rater=None, if no rater voted twice"):
        bradley_terry({"winner": ["a"], "loser": ["b"]})
    with pytest.raises(StatisticsError, match="1 vote on one, the first in row 1 \\('b'\\)"):
        bradley_terry({"rater": [1, 2], "winner": ["a", "b"], "loser": ["b", "b"]})
    with pytest.raises(StatisticsError, match=r"never compared.* 2 separate groups \(a, b; c, d\)"):
        bradley_terry({"rater": [1, 2], "winner": ["a", "c"], "loser": ["b", "d"]})
    with pytest.raises(StatisticsError, match="need all three columns"):
        bradley_terry(VOTES, first="first", second="second")
    with pytest.raises(StatisticsError, match="tie= is for winner and loser"):
        bradley_terry(VOTES, first="first", second="second", outcome="outcome", tie="tie")
    sides = {"rater": [1, 2], "first": ["a", "a"], "second": ["b", "b"]}
    with pytest.raises(StatisticsError, match="found 'maybe'"):
        bradley_terry(sides | {"said": ["first", "maybe"]}, first="first", second="second", outcome="said")
    with pytest.raises(StatisticsError, match="found 0, 1, which could be either"):
        bradley_terry(sides | {"said": [0, 1]}, first="first", second="second", outcome="said")
    with pytest.raises(StatisticsError, match="name the column of raters"):
        bradley_terry({"winner": range(1, 8001), "loser": range(8000)}, rater=None)


def test_thurstone_by_hand() -> None:
    # Six of eight prefer a: Φ(θa − θb) = .75, a difference of .6745.
    votes = {"rater": list("stuvwxyz"), "winner": list("aaaaaabb"), "loser": list("bbbbbbaa")}
    assert thurstone(votes)["estimate"] == pytest.approx([0.337245, -0.337245], abs=1e-6)


def test_rankings_against_choix() -> None:
    rng = np.random.default_rng(0)
    orders = [tuple(int(item) for item in np.argsort(-np.arange(4) / 2 - rng.gumbel(size=4))) for _ in range(60)]
    rows = [(n, f"r{n % 12}", item, place) for n, order in enumerate(orders) for place, item in enumerate(order)]
    frame = pl.DataFrame(rows, schema=["ranking", "rater", "item", "rank"], orient="row")
    ratings = dict(plackett_luce(frame).to_frame().select("item", "estimate").iter_rows())
    theirs = choix.ilsr_rankings(4, orders, max_iter=1000, tol=1e-12)
    assert [ratings[item] for item in range(4)] == pytest.approx(theirs, abs=1e-8)


def test_rankings_of_two_are_votes() -> None:
    rows = DECIDED.with_row_index("ranking")
    ranked = pl.concat(
        [
            rows.select("ranking", "rater", item="winner", rank=pl.lit(1)),
            rows.select("ranking", "rater", item="loser", rank=pl.lit(2)),
        ]
    )
    one, two = plackett_luce(ranked).to_frame(), bradley_terry(DECIDED).to_frame()
    assert one["item"].equals(two["item"])
    for column in ("estimate", "low", "high", "se"):
        assert one[column].to_numpy() == pytest.approx(two[column].to_numpy(), abs=1e-8)


def test_rankings_with_ties_or_repeats_are_refused() -> None:
    ranking = {"rater": ["a"] * 3, "ranking": ["one"] * 3, "item": ["x", "y", "z"], "rank": [1, 1, 2]}
    with pytest.raises(StatisticsError, match=r"1 ranking has ties, .* the first is 'one', at 'y'"):
        plackett_luce(ranking)
    with pytest.raises(StatisticsError, match="the same item twice"):
        plackett_luce(ranking | {"item": ["x", "y", "x"], "rank": [1, 2, 3]})
    with pytest.raises(StatisticsError, match="a ranking is by one rater; found 1 by several"):
        plackett_luce(ranking | {"rater": ["a", "b", "a"], "rank": [1, 2, 3]})


def test_items_without_votes_are_asked_about_most() -> None:
    plan = active_pairs(VOTES, tie="tie", items=["new"], size=6)
    chosen = [row for row in plan if row["times"]]
    assert all("new" in (row["item"], row["other"]) for row in chosen)
    assert plan["propensity"].sum() == pytest.approx(1)
    assert plan["propensity"].min() == pytest.approx(0.2 / 10)
    assert plan["votes"].sum() == len(VOTES)


def test_before_the_first_vote_all_pairs_are_alike() -> None:
    plan = active_pairs(items=["a", "b", "c"], size=3)
    assert plan["times"].tolist() == [1, 1, 1]
    with pytest.raises(StatisticsError, match="at least two items; found 0"):
        active_pairs()
