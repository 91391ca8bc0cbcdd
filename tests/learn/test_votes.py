"""Single votes for figures that resample people."""

from pathlib import Path

import polars as pl

from beholder.learn.votes import used_votes
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.ranking import RankingQuestion
from beholder.study.kinds.side_by_side import SideBySideQuestion
from beholder.study.study import Study
from beholder.tables.catalogue import TABLES
from beholder.tables.store import Store

STUDY = Study(
    name="s",
    title="S",
    questions=(
        RankingQuestion(name="order", images=3),
        PairQuestion(name="pair"),
        SideBySideQuestion(name="five"),
    ),
)


def judgement(
    question: str, kind: str, image: str, other: str | None, value: float, **rest: object
) -> dict[str, object]:
    common: dict[str, object] = {"question": question, "aspect": "preference", "rater": "ann", "session": "s"}
    common |= {"trial": question, "attempt": 1, "place": 0, "used": True}
    return common | {"image": image, "other": other, "value": value, "value_kind": kind} | rest


class Table(Store):
    """A folder with judgements alone."""

    def read_or_empty(self, name: str) -> pl.DataFrame:
        rows = [
            judgement("pair", "vote", "x", "y", 1.0),
            judgement("pair", "vote", "y", "x", 0.0, trial="again"),
            judgement("pair", "vote", "x", "y", -1.0, trial="third", used=False, reason="fast"),
            judgement("five", "graded-vote", "x", "y", 2.0),
            *(judgement("order", "rank", image, None, rank, place=n) for n, (image, rank) in enumerate(RANKS)),
        ]
        return TABLES[name].frame(rows)


RANKS = (("x", 2.0), ("y", 1.0), ("z", 2.0))


def test_used_votes_and_those_of_rankings_question_by_question(tmp_path: Path) -> None:
    found = used_votes(Table(tmp_path), STUDY, None)
    assert found.select("image", "other", "lead").rows() == [
        ("x", "y", -1),
        ("x", "z", 0),
        ("y", "z", 1),
        ("x", "y", 1),
        ("y", "x", 0),
    ]
    assert found.schema["lead"] == pl.Int64()
    assert used_votes(Table(tmp_path), STUDY, "pair").height == 2


def test_a_study_without_answers_has_none(tmp_path: Path) -> None:
    assert used_votes(Store(tmp_path), STUDY, None).is_empty()
