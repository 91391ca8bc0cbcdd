"""What the answers of every kind mean, worked by hand, and laws over all kinds."""

from collections.abc import Callable, Sequence
from typing import get_args

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beholder.judgements import coding as module
from beholder.judgements.coding import CLASSES, COLUMNS, PAIRED, SCALES, judgements_of
from beholder.judgements.rankings import rankings_of
from beholder.judgements.votes import in_order_of_ids, votes_of
from beholder.study.kinds.catalogue import KINDS, AnyQuestion
from beholder.study.kinds.choice import ChoiceQuestion
from beholder.study.kinds.coding import RankCoding, ValueKind
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.ranking import RankingQuestion
from beholder.study.kinds.rating import RatingQuestion
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.kinds.rich_feedback import RichFeedbackQuestion
from beholder.study.kinds.side_by_side import SideBySideQuestion
from beholder.study.kinds.sweep import SweepQuestion
from beholder.study.kinds.timed_realism import TimedRealismQuestion
from beholder.study.kinds.write_prompt import WritePromptQuestion
from beholder.study.question import Aspect
from beholder.tables.catalogue import TABLES
from beholder.tables.schemas.consolidate import VALUE_KINDS

Answered = Callable[..., pl.DataFrame]
NO_MARKS = TABLES["marks"].empty()

QUESTIONS: tuple[AnyQuestion, ...] = (
    RealismQuestion(name="q"),
    TimedRealismQuestion(name="q"),
    PairQuestion(name="q"),
    RankingQuestion(name="q", images=4),
    SideBySideQuestion(name="q"),
    RatingQuestion(name="q", aspects=(Aspect(name="quality", text="?"), Aspect(name="alignment", text="?"))),
    RichFeedbackQuestion(name="q"),
    SweepQuestion(name="q", images=6),
    ChoiceQuestion(name="q"),
    WritePromptQuestion(name="q", target="aurora"),
)


def coded(
    question: AnyQuestion, answers: pl.DataFrame, marks: pl.DataFrame = NO_MARKS
) -> list[tuple[object, ...]]:
    judgements = judgements_of(question, answers, marks)
    assert judgements.columns == list(COLUMNS)
    return judgements.select("image", "other", "value", "value_kind").rows()


class TestHandWorked:
    @pytest.mark.parametrize("question", QUESTIONS[:2], ids=lambda question: question.kind)
    def test_real_or_generated(self, answered: Answered, question: AnyQuestion) -> None:
        answers = answered(("ann", ["i"], "generated"), ("bob", ["i"], "real"), expected="real")
        assert coded(question, answers) == [("i", None, 1.0, "detection"), ("i", None, 0.0, "detection")]
        assert judgements_of(question, answers, NO_MARKS)["expected"].to_list() == [0.0, 0.0]

    def test_the_exposure_is_what_the_staircase_asked_for(self, answered: Answered) -> None:
        answers = answered(*[("ann", ["i"], "real")] * 3).with_columns(
            intended_ms=pl.Series([100.0, None, None]), exposure_ms=pl.Series([116.7, 83.3, None])
        )
        judgements = judgements_of(TimedRealismQuestion(name="q"), answers, NO_MARKS)
        assert judgements["exposure_ms"].to_list() == [100.0, 83.3, None]

    def test_a_pair(self, answered: Answered) -> None:
        answers = answered(
            *[("ann", ["y", "x"], choice) for choice in ("left", "tie", "right")], aspect="preference"
        )
        assert coded(PairQuestion(name="q"), answers) == [
            ("y", "x", 1.0, "vote"),
            ("y", "x", 0.0, "vote"),
            ("y", "x", -1.0, "vote"),
        ]

    def test_five_answers(self, answered: Answered) -> None:
        choices = ("left-much", "left", "same", "right", "right-much")
        answers = answered(*[("ann", ["y", "x"], choice) for choice in choices], aspect="preference")
        judgements = coded(SideBySideQuestion(name="q"), answers)
        assert judgements == [("y", "x", value, "graded-vote") for value in (2.0, 1.0, 0.0, -1.0, -2.0)]

    def test_a_ranking_has_one_row_per_image(self, answered: Answered) -> None:
        answers = answered(("ann", ["y", "x", "z"], [2, 1, 2]), aspect="preference")
        question = RankingQuestion(name="q", images=3)
        assert coded(question, answers) == [
            ("y", None, 2.0, "rank"),
            ("x", None, 1.0, "rank"),
            ("z", None, 2.0, "rank"),
        ]
        assert judgements_of(question, answers, NO_MARKS)["place"].to_list() == [0, 1, 2]

    @pytest.mark.parametrize("question", [QUESTIONS[5], QUESTIONS[6]], ids=lambda question: question.kind)
    def test_ratings_aspect_by_aspect(self, answered: Answered, question: AnyQuestion) -> None:
        answers = pl.concat(
            [answered(("ann", ["i"], 4.0), aspect="quality"), answered(("ann", ["i"], 2.0), aspect="alignment")]
        )
        assert coded(question, answers) == [("i", None, 4.0, "rating"), ("i", None, 2.0, "rating")]
        judgements = judgements_of(question, answers, NO_MARKS)
        assert judgements["aspect"].to_list() == ["quality", "alignment"]

    def test_a_sweep_has_one_row_per_image(self, answered: Answered) -> None:
        # 1000 ms each, a press 400 ms after the third image: the others are ten standard deviations off
        question = SweepQuestion(name="q", images=5, each_ms=1000, latency_ms=400, latency_sd_ms=100)
        answers = answered(("ann", ["a", "b", "c", "b", "e"], 1.0), trials=["t"])
        press = {"trial": "t", "session": "session-ann", "aspect": "hit", "number": 0, "kind": "press"}
        marks = TABLES["marks"].frame([press | {"at_ms": 2400.0}])
        judgements = judgements_of(question, answers, marks)
        assert judgements["image"].to_list() == ["a", "b", "c", "b", "e"]  # an image may come again
        assert judgements["place"].to_list() == [0, 1, 2, 3, 4]
        assert judgements["value"].to_list() == pytest.approx([0, 0, 1, 0, 0], abs=1e-12)
        assert set(judgements["value_kind"]) == {"credit"}

    def test_choices_among_several_images_are_ranks(
        self, answered: Answered, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        class BestOfThree:
            def coding(self, question: AnyQuestion) -> RankCoding:  # noqa: ARG002
                return RankCoding({"first": (1, 2, 2), "second": (2, 1, 2), "third": (2, 2, 1)})

        monkeypatch.setattr(module, "KINDS", {"pair": BestOfThree()})
        answers = answered(("ann", ["x", "y", "z"], "second"), ("bob", ["x", "y", "z"], "third"))
        judgements = judgements_of(PairQuestion(name="q"), answers, NO_MARKS)
        assert judgements["value"].to_list() == [2.0, 1.0, 2.0, 2.0, 2.0, 1.0]
        best = votes_of(judgements).filter(pl.col("value") != 0).select("rater", "image", "other", "value").rows()
        assert best == [
            ("ann", "x", "y", -1.0),
            ("ann", "y", "z", 1.0),
            ("bob", "x", "z", -1.0),
            ("bob", "y", "z", -1.0),
        ]


def some_answers(answered: Answered, question: AnyQuestion, rng: np.random.Generator, raters: int) -> pl.DataFrame:
    """Answers of raters who do not look, to images named by letters."""
    kind = KINDS[question.kind]
    parts = [answered()]
    for rater in range(raters):
        images = [str(name) for name in rng.permutation(list("abcdefghij"))[: kind.shows(question)]]
        for answer in kind.guess(question, rng).answers:
            content = answer.choice or (answer.value if answer.ranking is None else list(answer.ranking))
            parts.append(answered((f"p{rater}", images, content), aspect=answer.aspect, trials=[f"t{rater}"]))
    return pl.concat(parts)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.kind)
class TestLaws:
    def test_every_answer_gives_its_judgements(self, answered: Answered, question: AnyQuestion) -> None:
        answers = some_answers(answered, question, np.random.default_rng(0), 12)
        judgements = judgements_of(question, answers, NO_MARKS)
        each = (
            1
            if judgements["value_kind"][0] in (*PAIRED, "detection", "rating")
            else KINDS[question.kind].shows(question)
        )
        assert judgements.height == each * answers.height
        assert judgements["value"].null_count() == judgements["image"].null_count() == 0
        keys = answers.select("rater", "session", "trial", "attempt", "aspect")
        assert judgements.select(keys.columns).unique(maintain_order=True).equals(keys)
        key = list(TABLES["judgements"].key)
        assert judgements.select(key).is_unique().all()

    def test_no_answers_no_judgements(self, answered: Answered, question: AnyQuestion) -> None:
        judgements = judgements_of(question, answered(), NO_MARKS)
        kinds = {column.name: column.dtype for column in TABLES["judgements"].columns}
        assert judgements.is_empty()
        assert dict(judgements.schema) == {name: kinds[name] for name in COLUMNS}


@given(st.integers(0, 2**32 - 1), st.sampled_from(["pair", "side-by-side-5", "ranking"]))
def test_swapping_the_sides_mirrors_the_votes(seed: int, kind: str) -> None:
    (question,) = (question for question in QUESTIONS if question.kind == kind)
    rng = np.random.default_rng(seed)
    as_shown, mirrored = [], []
    for number in range(6):
        response = KINDS[kind].guess(question, rng)
        opposite = response if kind == "ranking" else KINDS[kind].oppose(question, response)
        images = [str(name) for name in rng.permutation(list("abcdef"))[: KINDS[kind].shows(question)]]
        ranks = list(response.answers[0].ranking or ())
        as_shown.append(_row(number, images, response.answers[0].choice, ranks))
        mirrored.append(_row(number, images[::-1], opposite.answers[0].choice, ranks[::-1]))
    direct, other = (
        in_order_of_ids(votes_of(judgements_of(question, pl.DataFrame(rows, schema=ROW), NO_MARKS)))
        .select("rater", "image", "other", "value")
        .sort("rater", "image", "other")
        for rows in (as_shown, mirrored)
    )
    assert direct.equals(other)
    assert (direct["image"] < direct["other"]).all()


ROW: dict[str, pl.DataType] = {
    **{name: pl.String() for name in ("rater", "session", "trial", "aspect", "choice", "expected")},
    "attempt": pl.Int64(),
    "images": pl.List(pl.String),
    "ranking": pl.List(pl.Int64),
    **{name: pl.Float64() for name in ("value", "exposure_ms", "intended_ms")},
}


def _row(number: int, images: Sequence[str], choice: str | None, ranks: list[int]) -> dict[str, object]:
    name = f"p{number}"
    common = {"rater": name, "session": name, "trial": name, "aspect": "preference", "attempt": 1}
    return common | {"images": list(images), "choice": choice, "ranking": ranks or None}


def test_one_list_of_kinds_of_values() -> None:
    assert get_args(ValueKind) == VALUE_KINDS == tuple(SCALES)
    assert {KINDS[question.kind].coding(question).value_kind for question in QUESTIONS} == set(VALUE_KINDS)
    assert {question.kind for question in QUESTIONS} == set(KINDS)
    assert {*CLASSES, "category"} == {kind for kind, scale in SCALES.items() if scale == "nominal"}


def test_votes_and_rankings_of_one_frame_keep_their_own(answered: Answered) -> None:
    votes = judgements_of(PairQuestion(name="q"), answered(("ann", ["x", "y"], "left")), NO_MARKS)
    ranks = judgements_of(
        RankingQuestion(name="r", images=3), answered(("bob", ["x", "y", "z"], [3, 1, 2])), NO_MARKS
    )
    both = votes_of(pl.concat([votes, ranks]))
    assert both.select("rater", "image", "other", "value").rows() == [
        ("ann", "x", "y", 1.0),
        ("bob", "x", "y", -1.0),
        ("bob", "x", "z", -1.0),
        ("bob", "y", "z", 1.0),
    ]
    assert rankings_of(ranks)["ranking"].to_list() == [[3.0, 1.0, 2.0]]
