"""Conduct from counts, worked by hand; the same from rows and from columns; and nothing heavy to load."""

import subprocess
import sys
from collections.abc import Callable

import numpy as np
import polars as pl

from beholder.judgements.conduct import (
    CheckedAnswer,
    Conduct,
    Hits,
    SkippedTrial,
    Tally,
    conduct_of,
    lowest_proportion,
    median,
    same_share,
    tally,
)
from beholder.judgements.rules import judge
from beholder.judgements.tallies import tallies
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.ranking import RankingQuestion
from beholder.study.question import Screening

Answered = Callable[..., pl.DataFrame]


def test_median_hand_worked() -> None:
    assert median([]) is None
    assert median([3.0, 1.0, 2.0]) == 2.0
    assert median([4.0, 1.0, 3.0, 2.0]) == 2.5


def test_median_to_the_last_digit_as_polars_has_it() -> None:
    rng = np.random.default_rng(0)
    for size in range(1, 200):
        values = rng.lognormal(0.5, 0.4, size)
        assert median(values.tolist()) == pl.Series(values).median()


def test_same_share_goes_by_the_aspect_where_it_is_least() -> None:
    assert same_share([[3, 1], [2, 2]]) == 0.5
    assert same_share([[4], [1]]) == 1.0  # one answer alone tells nothing
    assert same_share([[1]]) is None
    assert same_share([]) is None


def test_qualification_goes_by_the_worse_class() -> None:
    assert lowest_proportion([Hits(9, 10), Hits(13, 20)]) == 0.65
    assert lowest_proportion([]) is None


def test_nothing_counted_tells_nothing() -> None:
    assert conduct_of(Tally()) == Conduct(0, None, None, None, None, None, None, None)


def test_from_rows_hand_worked() -> None:
    rows = [
        CheckedAnswer("test", "t1", "realism", "real", "generated", 1.0),
        CheckedAnswer("test", "t2", "realism", "real", "real", 2.0),
        CheckedAnswer("test", "t3", "realism", "generated", "real", 6.0),
        CheckedAnswer("gold", "g1", "realism", "real", "real", 90.0),
        CheckedAnswer("gold", "g2", "realism", "real", "generated", 90.0),
        CheckedAnswer("attention", "a1", "quality", "3", "3", 1.0),
        CheckedAnswer("attention", "a1", "alignment", "4", "3", 1.0),  # one aspect missed: the trial is
        CheckedAnswer("attention", "a2", "quality", "2", "2", 1.0),
        CheckedAnswer("qualification", "q1", "realism", "real", "real", 1.0),
        CheckedAnswer("qualification", "q2", "realism", "real", "generated", 1.0),
        CheckedAnswer("training", "x", "realism", "real", "generated", 1.0),
    ]
    skipped = [
        SkippedTrial("test", None),  # 1 of the 4 test trials
        SkippedTrial("attention", "3"),  # failed, as is a1
        SkippedTrial("qualification", "real"),  # not right: 1 of 2 real ones, 0 of 1 generated ones
        SkippedTrial("gold", "real"),  # tells nothing
    ]
    assert conduct_of(tally(rows, skipped, repeats=Hits(3, 4))) == Conduct(
        answers=3,
        median_seconds=2.0,
        same_share=2 / 3,
        gold_share=0.5,
        skipped=0.25,
        attention_failures=2,
        qualification_share=0.0,
        repeat_share=0.75,
    )


def test_columns_count_as_rows_do(answered: Answered) -> None:
    rng = np.random.default_rng(4)
    parts = []
    for number in range(400):
        role = str(rng.choice(["test", "gold", "attention", "qualification", "training"]))
        answer = (f"p{rng.integers(5)}", ["x", "y"], str(rng.choice(["left", "tie", "right"])))
        expected = None if role == "test" else str(rng.choice(["left", "right"]))
        parts.append(
            answered(
                answer,
                role=role,
                aspect=str(rng.choice(["one", "other"])),
                expected=expected,
                seconds=float(rng.lognormal()),
                trials=[f"t{number // 2}"],
            )
        )
    frame = pl.concat(parts)
    skipped = skips(
        *[
            (f"p{rng.integers(6)}", str(rng.choice(["test", "attention", "qualification", "gold"])), "left")
            for _ in range(60)
        ]
    )
    counted = tallies(PairQuestion(name="q"), frame, skipped)
    assert list(counted) == [f"p{n}" for n in range(6)]  # the last one skipped everything
    columns = ("role", "trial", "aspect", "answer_text", "expected", "seconds")
    for rater, counts in counted.items():
        rows = frame.filter(pl.col("rater") == rater).select(columns).iter_rows()
        theirs = skipped.filter(pl.col("rater") == rater).select("role", "expected").iter_rows()
        by_row = tally((CheckedAnswer(*row) for row in rows), [SkippedTrial(*row) for row in theirs])
        assert conduct_of(counts) == conduct_of(by_row)


def skips(*rows: tuple[str, str, str | None]) -> pl.DataFrame:
    """Skipped trials: who, the role, and what would have been right."""
    return pl.DataFrame(rows, schema=dict.fromkeys(("rater", "role", "expected"), pl.String), orient="row")


class TestRepeats:
    def test_a_pair_is_alike_where_the_same_image_wins_whichever_side(self, answered: Answered) -> None:
        parts = [
            answered(("ann", ["x", "y"], "left"), ("ann", ["x", "z"], "left"), trials=["t", "u"]),
            answered(("ann", ["y", "x"], "right"), role="repeat", repeats="t"),  # sides exchanged: x again
            answered(("ann", ["x", "z"], "left"), role="repeat", repeats="u"),  # as it stood: x again
        ]
        assert tallies(PairQuestion(name="q"), pl.concat(parts), skips())["ann"].repeats == Hits(2, 2)

    def test_a_ranking_counts_by_its_pairs(self, answered: Answered) -> None:
        parts = [
            answered(("ann", ["x", "y", "z"], [1, 2, 3]), trials=["t"]),
            answered(("ann", ["z", "y", "x"], [2, 3, 1]), role="repeat", repeats="t"),  # y and z change places
        ]
        counted = tallies(RankingQuestion(name="q", images=3), pl.concat(parts), skips())
        assert counted["ann"].repeats == Hits(2, 3)


def test_rules_speak_of_what_they_can_see_and_say_what_they_lack() -> None:
    screening = Screening(min_seconds=1.0, max_same_share=0.9, min_gold=0.5, max_attention_failures=1)
    verdict = judge({"median_seconds": 0.5, "same_share": 0.9, "attention_failures": 2}, screening)
    assert [reason.split(":")[0] for reason in verdict.reasons] == ["fast", "attention checks"]
    assert verdict.notes == ["min_gold: not applicable: no gold trial was answered"]


def test_the_server_can_use_it_without_anything_heavy() -> None:
    code = (
        "import sys, beholder.judgements.conduct, beholder.judgements.rules, beholder.study.kinds.catalogue;"
        "print([name for name in ('polars', 'numpy', 'scipy', 'torch') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
