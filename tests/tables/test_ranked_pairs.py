"""Rankings as votes on pairs."""

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from beholder.tables.ranked_pairs import pairs_of_rankings


def test_hand_worked_in_the_order_shown() -> None:
    rankings = pl.DataFrame({"rater": ["ann"], "images": [["b", "a", "c"]], "ranking": [[2, 1, 2]]})
    found = pairs_of_rankings(rankings).select("rater", "images", "choice").rows()
    assert found == [("ann", ["b", "a"], "right"), ("ann", ["b", "c"], "tie"), ("ann", ["a", "c"], "left")]


@given(st.lists(st.permutations(range(1, 6)), min_size=1, max_size=6))
def test_as_many_pairs_as_there_are_and_each_image_wins_by_its_rank(orders: list[list[int]]) -> None:
    names = ["a", "b", "c", "d", "e"]
    rankings = pl.DataFrame(
        {"rater": [f"p{n}" for n in range(len(orders))], "images": [names] * len(orders), "ranking": orders}
    )
    found = pairs_of_rankings(rankings)
    assert found.height == 10 * len(orders)
    winner = pl.when(pl.col("choice") == "left").then(pl.col("images").list.get(0))
    wins = found.with_columns(won=winner.otherwise(pl.col("images").list.get(1))).group_by("rater", "won").len()
    for number, order in enumerate(orders):
        mine = dict(wins.filter(pl.col("rater") == f"p{number}").select("won", "len").iter_rows())
        assert mine == {name: 5 - rank for name, rank in zip(names, order, strict=True) if rank < 5}
