"""Ratings by raters and scores as boards: order, words and columns."""

from typing import Any

import polars as pl
import pytest

from beholder.report.tables.powered import (
    build_powered_boards,
    format_powered_board,
    group_by_question,
    write_powered_findings,
)
from beholder.tables.catalogue import TABLES


def table(*ratios: tuple[str, float | None]) -> pl.DataFrame:
    rows: list[dict[str, Any]] = [
        {"question": "q", "aspect": "quality", "method": "mean-opinion", "metric": metric, "generator": generator}
        | {"rating": rating, "low": 1.0, "high": 2.0, "se": 0.1, "people_rating": 1.5, "people_low": 1.0}
        | {"people_high": 2.0, "width_ratio": ratio, "tuning": 0.5, "level": 0.95, "answers": 20, "raters": 6}
        | {"judged": 10, "unjudged": 30}
        for metric, ratio in ratios
        for generator, rating in (("a", 1.2), ("b", 1.7))
    ]
    return TABLES["powered_ratings"].frame(rows)


@pytest.mark.parametrize(
    ("ratio", "words"),
    [
        (
            0.5,
            "With m the confidence intervals are 50 % narrower than from raters alone, as with 4.0 times",
        ),
        (0.97, "m is of little use here: the confidence intervals are 3 % narrower"),
        (1.0, "m is of no use here: the confidence intervals are as wide as from raters alone."),
        (1.08, "m is of no use here: the confidence intervals are 8 % wider than from raters alone."),
        (None, "Too few raters for confidence intervals"),
    ],
)
def test_what_a_score_is_worth_in_words(ratio: float | None, words: str) -> None:
    (board,) = build_powered_boards(table(("m", ratio)))
    assert board.sentence.startswith(words)
    assert board.sentence in format_powered_board(board)


def test_the_narrowest_intervals_come_first_and_the_best_generator() -> None:
    boards = build_powered_boards(table(("bad", 1.05), ("good", 0.7), ("fair", 0.9)))
    assert [board.metric for board in boards] == ["good", "fair", "bad"]
    assert [row.generator for row in boards[0].rows] == ["b", "a"]
    assert [board.metric for board in build_powered_boards(table(("bad", 1.05), ("good", 0.7)), "bad")] == ["bad"]


def test_findings_name_the_scores_that_help_and_count_the_others() -> None:
    ((name, boards),) = group_by_question(
        build_powered_boards(table(("bad", 1.05), ("good", 0.7), ("worse", 1.1)))
    )
    assert name == "q: quality"
    assert [sentence.split(" the ")[0] for sentence in write_powered_findings(boards)[:1]] == ["With good"]
    assert write_powered_findings(boards)[1:] == ("The other 2 are of little or no use.",)
    fair, bad = build_powered_boards(table(("bad", 1.05), ("fair", 0.97)))
    none = write_powered_findings((fair, bad))
    assert none == (f"None of 2 scores is of much use here. The best: {fair.sentence}",)
