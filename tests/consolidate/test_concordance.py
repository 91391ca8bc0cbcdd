"""Kendall's W of rankings, worked by hand."""

import polars as pl
import pytest

from beholder.consolidate.concordance import concordance_rows
from beholder.study.kinds.ranking import RankingQuestion

QUESTION = RankingQuestion(name="order", images=3)


def rankings(*rows: tuple[str, str, list[int]]) -> pl.DataFrame:
    """Who, the images as they stood, and their ranks."""
    return pl.DataFrame(
        [
            {"trial": f"t{n}", "session": who, "attempt": 1, "rater": who, "image": image, "value": float(rank)}
            | {"place": place, "aspect": "preference"}
            for n, (who, images, ranks) in enumerate(rows)
            for place, (image, rank) in enumerate(zip(images, ranks, strict=True))
        ]
    )


def test_the_order_on_the_screen_does_not_matter() -> None:
    # a < b < c by all three but for one exchange: orders 1 2 3 | 1 2 3 | 2 1 3 have W = 7/9
    judgements = rankings(("p", "abc", [1, 2, 3]), ("q", "cba", [3, 2, 1]), ("r", "bac", [1, 2, 3]))
    everyone, used = concordance_rows(QUESTION, judgements, {"p", "q"}, 0.95)
    assert (everyone["statistic"], everyone["people"], used["people"]) == ("kendall-w", "all", "used")
    assert everyone["value"] == pytest.approx(7 / 9)
    assert (everyone["items"], everyone["raters"], everyone["answers"]) == (1, 3, 9)
    assert used["value"] == pytest.approx(1)  # p and q agree
    assert "low" not in used  # two raters have no confidence interval


def test_mean_over_sets_and_the_first_ranking_counts() -> None:
    judgements = rankings(
        *((who, "abc", ranks) for who, ranks in (("p", [1, 2, 3]), ("q", [1, 2, 3]), ("r", [2, 1, 3]))),
        *((who, "def", [3, 1, 2]) for who in "pqr"),
        ("p", "abc", [3, 2, 1]),  # again, and too late
        ("p", "ghi", [1, 2, 3]),  # nobody else ranked these
    )
    everyone, _ = concordance_rows(QUESTION, judgements, set("pqr"), 0.95)
    assert everyone["value"] == pytest.approx((7 / 9 + 1) / 2)
    assert (everyone["items"], everyone["raters"], everyone["answers"]) == (2, 3, 18)
    assert everyone["low"] <= everyone["value"] <= everyone["high"]  # type: ignore[operator]


def test_empty_where_not_defined() -> None:
    alone, nobody = concordance_rows(QUESTION, rankings(("p", "abc", [1, 2, 3])), set(), 0.95)
    assert "value" not in alone
    assert (alone["items"], alone["raters"]) == (0, 1)
    assert (nobody["answers"], nobody["raters"]) == (0, 0)
    ties = rankings(("p", "abc", [1, 1, 1]), ("q", "abc", [1, 1, 1]))
    assert "value" not in concordance_rows(QUESTION, ties, set("pq"), 0.95)[0]
