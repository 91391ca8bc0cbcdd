"""Ranks as whole rankings, and as votes on pairs."""

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from beholder.judgements.rankings import rankings_of, votes_of_rankings


def ranks(*rows: tuple[str, str, list[int]]) -> pl.DataFrame:
    """Judgements of who ranked which images, as they stood, how."""
    return pl.DataFrame(
        [
            {"trial": f"t{n}", "session": who, "attempt": 1, "rater": who, "image": image, "value": float(rank)}
            | {"place": place, "aspect": "preference"}
            for n, (who, images, given_ranks) in enumerate(rows)
            for place, (image, rank) in enumerate(zip(images, given_ranks, strict=True))
        ]
    )


def test_a_ranking_is_whole_again_in_the_order_shown() -> None:
    judgements = ranks(("ann", "bac", [2, 1, 2]), ("bob", "xy", [1, 2]))
    rankings = rankings_of(judgements)
    assert rankings.select("rater", "images", "ranking").rows() == [
        ("ann", ["b", "a", "c"], [2.0, 1.0, 2.0]),
        ("bob", ["x", "y"], [1.0, 2.0]),
    ]
    shuffled = rankings_of(judgements.sort("image")).sort("rater")
    assert shuffled.select("images", "ranking").equals(rankings.select("images", "ranking"))


def test_votes_hand_worked_in_the_order_shown() -> None:
    votes = votes_of_rankings(rankings_of(ranks(("ann", "bac", [2, 1, 2]))))
    assert votes.select("rater", "image", "other", "value").rows() == [
        ("ann", "b", "a", -1.0),
        ("ann", "b", "c", 0.0),
        ("ann", "a", "c", 1.0),
    ]


@given(st.lists(st.permutations(range(1, 6)), min_size=1, max_size=6))
def test_as_many_votes_as_there_are_pairs_and_each_image_wins_by_its_rank(orders: list[list[int]]) -> None:
    names = "abcde"
    votes = votes_of_rankings(rankings_of(ranks(*((f"p{n}", names, order) for n, order in enumerate(orders)))))
    assert votes.height == 10 * len(orders)
    winner = pl.when(pl.col("value") > 0).then("image").otherwise("other")
    wins = votes.with_columns(won=winner).group_by("rater", "won").len()
    for number, order in enumerate(orders):
        own = dict(wins.filter(pl.col("rater") == f"p{number}").select("won", "len").iter_rows())
        assert own == {name: 5 - rank for name, rank in zip(names, order, strict=True) if rank < 5}
