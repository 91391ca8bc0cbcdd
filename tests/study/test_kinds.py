"""Laws over all kinds of questions, and answers worked by hand for each."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from beholder.study.kinds.allowed import faults_of_response
from beholder.study.kinds.catalogue import KINDS, AnyQuestion
from beholder.study.kinds.choice import CHOICE, MONK_TONES, ChoiceQuestion, Option
from beholder.study.kinds.choosing import Choosing
from beholder.study.kinds.kind import AspectAnswer, Kind, Mark, Point, Response, Sensed
from beholder.study.kinds.pair import PAIR, PairQuestion
from beholder.study.kinds.ranking import RANKING, RankingQuestion
from beholder.study.kinds.rating import RATING, RatingQuestion
from beholder.study.kinds.realism import REALISM, RealismQuestion
from beholder.study.kinds.rich_feedback import RICH_FEEDBACK, RichFeedbackQuestion
from beholder.study.kinds.side_by_side import SIDE_BY_SIDE, SideBySideQuestion
from beholder.study.kinds.sweep import SWEEP, SweepQuestion
from beholder.study.kinds.timed_realism import TIMED_REALISM, TimedRealismQuestion
from beholder.study.kinds.write_prompt import WRITE_PROMPT, WritePromptQuestion
from beholder.study.question import Aspect, Example
from beholder.tables.catalogue import TABLES
from beholder.tables.schemas.collect import MARK_KINDS

ASPECTS = tuple(Aspect(name=name, text=name) for name in ("alignment", "authenticity", "whimsy"))

CASES: list[tuple[Kind[Any], AnyQuestion]] = [
    (REALISM, RealismQuestion(name="q")),
    (TIMED_REALISM, TimedRealismQuestion(name="q")),
    (PAIR, PairQuestion(name="q")),
    (PAIR, PairQuestion(name="q", ties=False)),
    (PAIR, PairQuestion(name="q", both_bad=True)),
    (RANKING, RankingQuestion(name="q")),
    (RANKING, RankingQuestion(name="q", images=9)),
    (SIDE_BY_SIDE, SideBySideQuestion(name="q")),
    (RATING, RatingQuestion(name="q")),
    (RATING, RatingQuestion(name="q", points=0, aspects=ASPECTS)),
    (RATING, RatingQuestion(name="q", points=2)),
    (RATING, RatingQuestion(name="q", points=101)),
    (RICH_FEEDBACK, RichFeedbackQuestion(name="q")),
    (SWEEP, SweepQuestion(name="q")),
    (SWEEP, SweepQuestion(name="q", images=5)),
    (CHOICE, ChoiceQuestion(name="q")),
    (CHOICE, ChoiceQuestion(name="q", offered=MONK_TONES, several=True, cannot_tell=False)),
    (WRITE_PROMPT, WritePromptQuestion(name="q")),
]
EACH = pytest.mark.parametrize(("kind", "question"), CASES, ids=lambda value: getattr(value, "name", ""))
SEEDS = st.integers(0, 2**32 - 1)
FEW = settings(max_examples=15, deadline=None)
UNHURRIED = settings(deadline=None)
ANSWER_COLUMNS = {"choice", "value", "ranking"}


def sensed(
    *overall: float,
    generated: tuple[float, ...] = (0.0,),
    criterion: float = 0.5,
    indifference: float = 0.1,
    quality: Mapping[str, tuple[float, ...]] | None = None,
    points: Mapping[str, tuple[tuple[Point, ...], ...]] | None = None,
    words: tuple[int, ...] = (),
) -> Sensed:
    felt = {"overall": overall or (0.5,)} | dict(quality or {})
    return Sensed(
        generated=np.asarray(generated),
        quality={aspect: np.asarray(values) for aspect, values in felt.items()},
        criterion=criterion,
        indifference=indifference,
        points=points or {},
        words=words,
    )


def anything_sensed(images: int, rng: np.random.Generator) -> Sensed:
    def feelings() -> NDArray[np.float64]:
        return rng.normal(0.5, 0.5, images)  # beyond 0 and 1 as well

    return Sensed(
        generated=rng.normal(0, 1, images),
        quality={aspect: feelings() for aspect in ("overall", "plausibility", "alignment", "aesthetics")},
        criterion=0.0,
        indifference=0.1,
        points={"implausibility": (((0.1, 0.9), (0.5, 0.5)),), "misalignment": (((1.0, 0.0),),)},
        words=(0, 3),
    )


def filled(answer: AspectAnswer) -> set[str]:
    return {name for name in ANSWER_COLUMNS if getattr(answer, name) is not None}


def fits(kind: Kind[Any], question: AnyQuestion, response: Response) -> None:
    """The response is one that the page could have sent, and that would be taken."""
    assert faults_of_response(question, response, words=4) == []
    assert tuple(answer.aspect for answer in response.answers) == kind.aspects(question)
    for answer in response.answers:
        assert filled(answer) == set(kind.columns) & ANSWER_COLUMNS
        if isinstance(kind, Choosing):
            assert answer.choice in kind.options(question)
        if isinstance(question, RatingQuestion | RichFeedbackQuestion):
            low, high = question.scale()
            assert answer.value is not None
            assert low <= answer.value <= high
            assert answer.value == round(answer.value, 0 if question.points else 1)
        if isinstance(question, RankingQuestion):
            assert sorted(answer.ranking or ()) == list(range(1, question.images + 1))
        if isinstance(question, SweepQuestion):
            assert answer.value == len(response.marks)
    for mark in response.marks:
        assert mark.kind in MARK_KINDS
        assert (mark.point is not None) == (mark.kind == "point") == (mark.image is not None)
        assert (mark.word is not None) == (mark.kind == "word")
        assert (mark.at_ms is not None) == (mark.kind == "press")
        assert mark.at_ms is None or mark.at_ms >= 0


def test_every_kind_has_a_case() -> None:
    assert {kind.name for kind, _ in CASES} == set(KINDS)
    assert all(KINDS[kind.name] is kind for kind, _ in CASES)
    assert all(question.kind == kind.name for kind, question in CASES)


@EACH
class TestLaws:
    def test_columns_are_columns_of_answers(self, kind: Kind[Any], question: AnyQuestion) -> None:
        assert set(kind.columns) <= {column.name for column in TABLES["answers"].columns}
        assert len(set(kind.columns) & ANSWER_COLUMNS) == 1
        assert kind.name == question.kind

    def test_something_is_shown_and_asked(self, kind: Kind[Any], question: AnyQuestion) -> None:
        assert kind.shows(question) >= 1
        aspects = kind.aspects(question)
        assert aspects
        assert len(set(aspects)) == len(aspects)
        assert kind.summary.endswith((".", "?"))

    @given(seed=SEEDS)
    @FEW
    def test_an_honest_answer_fits(self, kind: Kind[Any], question: AnyQuestion, seed: int) -> None:
        rng = np.random.default_rng(seed)
        fits(kind, question, kind.respond(question, anything_sensed(kind.shows(question), rng), rng))

    @given(seed=SEEDS)
    @FEW
    def test_a_guess_fits(self, kind: Kind[Any], question: AnyQuestion, seed: int) -> None:
        fits(kind, question, kind.guess(question, np.random.default_rng(seed)))

    def test_a_lazy_answer_fits_and_is_always_the_same(self, kind: Kind[Any], question: AnyQuestion) -> None:
        fits(kind, question, kind.lazy(question))
        assert kind.lazy(question) == kind.lazy(question)

    @given(seed=SEEDS)
    @FEW
    def test_what_is_asked_for_can_be_given(self, kind: Kind[Any], question: AnyQuestion, seed: int) -> None:
        instruction = kind.instruct(question, np.random.default_rng(seed))
        response = kind.obey(question, instruction)
        fits(kind, question, response)
        assert {answer.text for answer in response.answers} == {instruction}

    @given(seed=SEEDS)
    @FEW
    def test_the_contrary_fits_and_its_contrary_is_the_answer(
        self, kind: Kind[Any], question: AnyQuestion, seed: int
    ) -> None:
        answer = kind.guess(question, np.random.default_rng(seed))
        contrary = kind.oppose(question, answer)
        fits(kind, question, contrary)
        if kind is not SWEEP:  # presses at any time name images only roughly
            assert kind.oppose(question, contrary) == answer

    @given(seed=SEEDS)
    @FEW
    def test_the_same_seed_gives_the_same_answer(self, kind: Kind[Any], question: AnyQuestion, seed: int) -> None:
        def answers() -> tuple[Response, Response, str]:
            rng = np.random.default_rng(seed)
            felt = anything_sensed(kind.shows(question), rng)
            return kind.respond(question, felt, rng), kind.guess(question, rng), kind.instruct(question, rng)

        assert answers() == answers()

    def test_an_attention_check_catches_who_is_lazy(self, kind: Kind[Any], question: AnyQuestion) -> None:
        rng = np.random.default_rng(0)
        instructions = {kind.instruct(question, rng) for _ in range(50)}
        assert instructions - {kind.lazy(question).answers[0].text}


def choice(response: Response) -> str | None:
    (answer,) = response.answers
    return answer.choice


def values(response: Response) -> dict[str, float | None]:
    return {answer.aspect: answer.value for answer in response.answers}


RNG = np.random.default_rng(0)


class TestSaid:
    def test_as_one_word(self) -> None:
        assert AspectAnswer("a", choice="left").text == "left"
        assert AspectAnswer("a", value=3.0).text == "3"
        assert AspectAnswer("a", value=12.5).text == "12.5"
        assert AspectAnswer("a", ranking=(2, 1, 3)).text == "2 1 3"
        assert AspectAnswer("a").text == ""


@pytest.mark.parametrize(
    ("kind", "question"),
    [(REALISM, RealismQuestion(name="q")), (TIMED_REALISM, TimedRealismQuestion(name="q"))],
    ids=["realism", "timed-realism"],
)
class TestRealism:
    @pytest.mark.parametrize(
        ("evidence", "answer"), [(0.51, "generated"), (0.5, "real"), (0.49, "real"), (-3.0, "real")]
    )
    def test_evidence_against_the_criterion(
        self, kind: Kind[Any], question: AnyQuestion, evidence: float, answer: str
    ) -> None:
        response = kind.respond(question, sensed(generated=(evidence,), criterion=0.5), RNG)
        assert response == Response((AspectAnswer("realism", choice=answer),))

    def test_contrary_and_lazy(self, kind: Kind[Any], question: AnyQuestion) -> None:
        assert choice(kind.oppose(question, kind.obey(question, "real"))) == "generated"
        assert choice(kind.lazy(question)) == "real"


class TestPair:
    @pytest.mark.parametrize(
        ("left", "right", "answer"),
        [
            (0.9, 0.1, "left"),
            (0.1, 0.9, "right"),
            (0.5, 0.5, "tie"),
            (0.5, 0.4375, "tie"),  # .0625 apart, under the just-felt .125
            (0.4375, 0.5, "tie"),
            (0.5, 0.375, "left"),  # .125 apart: felt
            (0.375, 0.5, "right"),
        ],
    )
    def test_with_ties(self, left: float, right: float, answer: str) -> None:
        felt = sensed(left, right, indifference=0.125)
        assert choice(PAIR.respond(PairQuestion(name="q"), felt, RNG)) == answer

    @pytest.mark.parametrize(("left", "right", "answer"), [(0.51, 0.5, "left"), (0.5, 0.51, "right")])
    def test_without_ties_the_better_one_is_named(self, left: float, right: float, answer: str) -> None:
        assert choice(PAIR.respond(PairQuestion(name="q", ties=False), sensed(left, right), RNG)) == answer

    def test_without_ties_nothing_to_choose_is_decided_by_a_coin(self) -> None:
        question, rng = PairQuestion(name="q", ties=False), np.random.default_rng(1)
        counts = Counter(choice(PAIR.respond(question, sensed(0.5, 0.5), rng)) for _ in range(400))
        # 400 tosses: 200 ± 4 × 10
        assert set(counts) == {"left", "right"}
        assert abs(counts["left"] - 200) < 40

    def test_contrary(self) -> None:
        for ties in (True, False):
            question = PairQuestion(name="q", ties=ties)
            assert choice(PAIR.oppose(question, PAIR.pick("left"))) == "right"
        assert choice(PAIR.oppose(PairQuestion(name="q"), PAIR.pick("tie"))) == "tie"

    def test_no_tie_is_guessed_where_none_is_offered(self) -> None:
        question, rng = PairQuestion(name="q", ties=False), np.random.default_rng(1)
        assert {choice(PAIR.guess(question, rng)) for _ in range(50)} == {"left", "right"}
        assert PAIR.options(PairQuestion(name="q")) == ("left", "tie", "right")


class TestChoice:
    @pytest.mark.parametrize(
        ("quality", "answer"),
        # three options: the boundaries are at qualities of 2/3 and 1/3, that is at places 1 and 2
        [
            (1.2, "a"),
            (0.9, "a"),
            (0.68, "cannot-tell"),
            (0.65, "cannot-tell"),
            (0.5, "b"),
            (0.1, "c"),
            (-1.0, "c"),
        ],
    )
    def test_options_are_parts_of_the_quality(self, quality: float, answer: str) -> None:
        question = ChoiceQuestion(name="q", offered=tuple(Option(name=n, text=n) for n in "abc"))
        assert choice(CHOICE.respond(question, sensed(quality, indifference=0.2), RNG)) == answer

    def test_who_cannot_tell_says_so_only_where_that_is_offered(self) -> None:
        question = ChoiceQuestion(name="q", cannot_tell=False)
        assert choice(CHOICE.respond(question, sensed(0.51, indifference=0.2), RNG)) == "yes"

    def test_all_choices_in_order_and_their_numbers(self) -> None:
        question = ChoiceQuestion(name="q", offered=MONK_TONES, several=True, counted=("tone-2", "cannot-tell"))
        assert CHOICE.options(question) == (*(f"tone-{n}" for n in range(1, 11)), "several", "cannot-tell")
        coding = CHOICE.coding(question)
        assert (coding.values["tone-1"], coding.values["cannot-tell"]) == (0.0, 11.0)
        assert coding.counted == (1.0, 11.0)
        assert CHOICE.coding(ChoiceQuestion(name="q")).counted == (0.0,)

    def test_words_of_options_are_labels_unless_the_study_has_its_own(self) -> None:
        question = ChoiceQuestion.model_validate(
            {
                "name": "q",
                "offered": [{"name": "a", "text": "An A"}, {"name": "b", "text": "A B"}],
                "labels": {"b": "Bee"},
            }
        )
        assert question.words == {"a": "An A", "b": "Bee"}

    @pytest.mark.parametrize(
        ("settings", "fault"),
        [
            ({"offered": ({"name": "a", "text": "A"}, {"name": "a", "text": "B"})}, "each option once"),
            (
                {"offered": ({"name": "several", "text": "A"}, {"name": "b", "text": "B"})},
                "instead of offering it",
            ),
            ({"counted": ("maybe",)}, "expected some of yes, no, cannot-tell"),
            ({"offered": ({"name": "a", "text": "A"},)}, "at least 2 items"),
            ({"offered": "a"}, "valid tuple"),
        ],
    )
    def test_faults_are_named(self, settings: dict[str, object], fault: str) -> None:
        with pytest.raises(ValueError, match=fault):
            ChoiceQuestion.model_validate({"name": "q", **settings})

    def test_files_are_numbered_apart_from_examples(self) -> None:
        options = (Option(name="a", text="A"), Option(name="b", text="B", image="b.png"))
        question = ChoiceQuestion(name="q", offered=options, examples=(Example(image="good.png"),))
        assert question.files == {0: "good.png", 51: "b.png"}


class TestSideBySide:
    @pytest.mark.parametrize(
        ("gap", "answer"),
        [
            (0.5, "left-much"),
            (0.375, "left-much"),  # three just-felt gaps of .125
            (0.25, "left"),
            (0.125, "left"),
            (0.0625, "same"),
            (0.0, "same"),
            (-0.0625, "same"),
            (-0.125, "right"),
            (-0.25, "right"),
            (-0.375, "right-much"),
            (-0.5, "right-much"),
        ],
    )
    def test_cuts(self, gap: float, answer: str) -> None:
        felt = sensed(0.5 + gap / 2, 0.5 - gap / 2, indifference=0.125)
        assert choice(SIDE_BY_SIDE.respond(SideBySideQuestion(name="q", much=3), felt, RNG)) == answer

    def test_someone_who_feels_every_difference_still_feels_none_where_there_is_none(self) -> None:
        felt = sensed(0.5, 0.5, indifference=0.0)
        assert choice(SIDE_BY_SIDE.respond(SideBySideQuestion(name="q"), felt, RNG)) == "same"

    @UNHURRIED
    @given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 0.5))
    def test_changing_sides_gives_the_contrary(self, left: float, right: float, indifference: float) -> None:
        question = SideBySideQuestion(name="q")
        answer = SIDE_BY_SIDE.respond(question, sensed(left, right, indifference=indifference), RNG)
        flipped = SIDE_BY_SIDE.respond(question, sensed(right, left, indifference=indifference), RNG)
        assert SIDE_BY_SIDE.oppose(question, answer) == flipped

    @UNHURRIED
    @given(st.floats(0, 1), st.floats(0, 1))
    def test_ties_where_a_pair_ties(self, left: float, right: float) -> None:
        felt = sensed(left, right)
        pair = choice(PAIR.respond(PairQuestion(name="q"), felt, RNG))
        five = choice(SIDE_BY_SIDE.respond(SideBySideQuestion(name="q"), felt, RNG))
        assert (pair == "tie") == (five == "same")


class TestRanking:
    def test_the_best_is_first(self) -> None:
        response = RANKING.respond(RankingQuestion(name="q"), sensed(0.2, 0.9, 0.1, 0.5), RNG)
        assert response == Response((AspectAnswer("preference", ranking=(3, 1, 4, 2)),))

    def test_of_equals_the_first_shown_is_first(self) -> None:
        response = RANKING.respond(RankingQuestion(name="q"), sensed(0.5, 0.9, 0.5, 0.9), RNG)
        assert response.answers[0].ranking == (3, 1, 4, 2)

    def test_contrary_lazy_and_asked_for(self) -> None:
        question = RankingQuestion(name="q")
        assert RANKING.lazy(question).answers[0].ranking == (1, 2, 3, 4)
        assert RANKING.oppose(question, RANKING.obey(question, "3 1 4 2")).answers[0].ranking == (2, 4, 1, 3)
        assert RANKING.instruct(question, RNG) == "4 3 2 1"


class TestRating:
    @pytest.mark.parametrize(
        ("feeling", "value"),
        [
            (-0.5, 1),
            (0.0, 1),
            (0.124, 1),
            (0.125, 2),  # 1.5: the higher of two
            (0.375, 3),  # 2.5: likewise, not the even one
            (0.5, 3),
            (0.625, 4),
            (0.874, 4),
            (0.875, 5),
            (1.0, 5),
            (7.0, 5),
        ],
    )
    def test_five_points(self, feeling: float, value: float) -> None:
        assert RatingQuestion(name="q").place(feeling) == value

    @pytest.mark.parametrize(
        ("feeling", "value"), [(-1, 0), (0, 0), (0.1234, 12.3), (0.5, 50), (1, 100), (2, 100)]
    )
    def test_continuous(self, feeling: float, value: float) -> None:
        assert RatingQuestion(name="q", points=0).place(feeling) == value

    def test_aspects_by_what_is_felt_of_each(self) -> None:
        named = ("quality", "authenticity", "correspondence", "aesthetics", "overall", "whimsy")
        question = RatingQuestion(name="q", aspects=tuple(Aspect(name=name, text=name) for name in named))
        felt = sensed(0.5, quality={"plausibility": (0.0,), "alignment": (1.0,), "aesthetics": (0.25,)})
        assert values(RATING.respond(question, felt, RNG)) == {
            "quality": 1,  # as plausible
            "authenticity": 1,
            "correspondence": 5,  # as aligned
            "aesthetics": 2,
            "overall": 3,
            "whimsy": 3,  # not known: the whole
        }

    def test_contrary_and_lazy(self) -> None:
        question = RatingQuestion(name="q")
        assert values(RATING.oppose(question, RATING.obey(question, "2"))) == {"quality": 4}
        assert values(RATING.lazy(question)) == {"quality": 5}
        continuous = RatingQuestion(name="q", points=0)
        contrary = RATING.oppose(continuous, RATING.obey(continuous, "12.3"))
        assert values(contrary) == {"quality": 87.7}
        assert values(RATING.oppose(continuous, contrary)) == {"quality": 12.3}  # not 12.299999999999997

    def test_every_point_is_guessed_alike(self) -> None:
        question, rng = RatingQuestion(name="q"), np.random.default_rng(2)
        counts = Counter(values(RATING.guess(question, rng))["quality"] for _ in range(2000))
        # 400 each, ± 4 × √(2000 × .2 × .8) = 72
        assert set(counts) == {1, 2, 3, 4, 5}
        assert all(abs(count - 400) < 72 for count in counts.values())

    def test_asked_for_is_in_the_lower_half(self) -> None:
        rng = np.random.default_rng(2)
        assert {RATING.instruct(RatingQuestion(name="q"), rng) for _ in range(100)} == {"1", "2", "3"}


class TestRichFeedback:
    def test_marks_what_was_noticed(self) -> None:
        felt = sensed(
            0.5,
            quality={"plausibility": (0.0,), "alignment": (1.0,), "aesthetics": (0.25,)},
            points={"misalignment": (((0.3, 0.4),),), "implausibility": (((0.1, 0.2), (0.5, 0.6)),)},
            words=(2, 5),
        )
        response = RICH_FEEDBACK.respond(RichFeedbackQuestion(name="q"), felt, RNG)
        assert values(response) == {"plausibility": 1, "alignment": 5, "aesthetics": 2, "overall": 3}
        assert response.marks == (
            Mark("implausibility", "point", image=0, point=(0.1, 0.2)),
            Mark("implausibility", "point", image=0, point=(0.5, 0.6)),
            Mark("misalignment", "point", image=0, point=(0.3, 0.4)),
            Mark("misalignment", "word", word=2),
            Mark("misalignment", "word", word=5),
        )

    def test_nothing_noticed(self) -> None:
        assert RICH_FEEDBACK.respond(RichFeedbackQuestion(name="q"), sensed(0.5), RNG).marks == ()


class TestSweep:
    def test_a_press_for_each_generated_image_after_the_latency(self) -> None:
        question = SweepQuestion(name="q", images=5, each_ms=100, latency_ms=378, latency_sd_ms=1e-9)
        felt = sensed(generated=(0.9, 0.1, 0.5, 0.8, 0.51), criterion=0.5)
        response = SWEEP.respond(question, felt, RNG)
        # images 0, 3 and 4, shown from 0, 300 and 400 ms
        assert [mark.at_ms for mark in response.marks] == pytest.approx([378, 678, 778], abs=1e-6)
        assert response.answers == (AspectAnswer("realism", value=3),)
        assert {(mark.aspect, mark.kind) for mark in response.marks} == {("hit", "press")}

    def test_latencies_are_normal_and_never_before_the_image(self) -> None:
        question = SweepQuestion(name="q", images=2000, each_ms=16)
        felt = sensed(generated=(1.0,) * 2000)
        at = np.asarray([mark.at_ms for mark in SWEEP.respond(question, felt, np.random.default_rng(3)).marks])
        # the mean latency over 2000: 378 ± 4 × 92/√2000 = 8.2
        assert np.mean(at) - 16 * 999.5 == pytest.approx(378, abs=8.3)
        assert np.all(np.diff(at) >= 0)
        slow = SweepQuestion(name="q", images=5, latency_ms=1, latency_sd_ms=1000)
        for seed in range(20):
            marks = SWEEP.respond(slow, sensed(generated=(1, 0, 0, 0, 0)), np.random.default_rng(seed)).marks
            assert [mark.at_ms is not None and mark.at_ms >= 0 for mark in marks] == [True]

    def test_the_contrary_presses_at_the_other_images(self) -> None:
        question = SweepQuestion(name="q", images=5, each_ms=100, latency_ms=378, latency_sd_ms=1e-9)
        answer = SWEEP.respond(question, sensed(generated=(1, 0, 0, 1, 1)), RNG)
        contrary = SWEEP.oppose(question, answer)
        assert [mark.at_ms for mark in contrary.marks] == [478, 578]  # images 1 and 2
        assert [mark.at_ms for mark in SWEEP.oppose(question, contrary).marks] == [378, 678, 778]

    def test_lazy_and_asked_for(self) -> None:
        question = SweepQuestion(name="q")
        assert SWEEP.lazy(question) == Response((AspectAnswer("realism", value=0.0),))
        assert [mark.at_ms for mark in SWEEP.obey(question, "3").marks] == [100, 200, 300]
        assert len(SWEEP.oppose(question, SWEEP.lazy(question)).marks) == question.images
