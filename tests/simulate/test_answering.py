"""Answers by habit, of every kind of question."""

from collections import Counter

import numpy as np
import pytest

from beholder.simulate.answering import HEEDS_INSTRUCTIONS, Answered, answer
from beholder.simulate.raters import HABITS, SimulatedRater, with_habit
from beholder.simulate.sight import ASPECTS, Sight, View, sight_of
from beholder.study.kinds.catalogue import KINDS, AnyQuestion
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.ranking import RankingQuestion
from beholder.study.kinds.rating import RatingQuestion
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.kinds.rich_feedback import RichFeedbackQuestion
from beholder.study.kinds.side_by_side import SideBySideQuestion
from beholder.study.kinds.sweep import SweepQuestion
from beholder.study.kinds.timed_realism import TimedRealismQuestion

REALISM = RealismQuestion(name="q")
PAIR = PairQuestion(name="q")
RATING = RatingQuestion(name="q")
QUESTIONS: tuple[AnyQuestion, ...] = (
    REALISM,
    PAIR,
    RATING,
    TimedRealismQuestion(name="q"),
    RankingQuestion(name="q", images=3),
    SideBySideQuestion(name="q"),
    RichFeedbackQuestion(name="q"),
    SweepQuestion(name="q", images=6),
)


def images(*views: tuple[float, float]) -> Sight:
    return sight_of([View(d, dict.fromkeys(ASPECTS, quality)) for d, quality in views])


FAKE, GOOD_AND_BAD = images((2.5, 0.5)), images((0.0, 0.9), (2.0, 0.3))


def rater_with(habit: str) -> SimulatedRater:
    return with_habit(SimulatedRater("p", "noisy"), habit)


def answer_texts(
    rater: SimulatedRater,
    question: AnyQuestion,
    sight: Sight,
    times: int = 400,
    *,
    instruction: str | None = None,
    progress: float = 0.0,
) -> list[str]:
    return [a.response.answers[0].text for a in answers(rater, question, sight, times, instruction, progress)]


def answers(
    rater: SimulatedRater,
    question: AnyQuestion,
    sight: Sight,
    times: int = 400,
    instruction: str | None = None,
    progress: float = 0.0,
) -> list[Answered]:
    rng = np.random.default_rng(0)
    return [
        answer(rater, question, sight, instruction=instruction, progress=progress, exposure_ms=None, rng=rng)
        for _ in range(times)
    ]


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.kind)
def test_every_kind_takes_its_time(question: AnyQuestion) -> None:
    traits = KINDS[question.kind].traits
    sight = images(*[(1.0, 0.6)] * KINDS[question.kind].shows(question))
    trials = answers(SimulatedRater("p", "noisy"), question, sight, 400)
    # log-normal with σ = .45: the median of 400 is within 4 · 1.2533 · .45/√400 = 11 %
    assert np.median([trial.trial_seconds for trial in trials]) == pytest.approx(traits.seconds, rel=0.12)
    assert np.median([trial.seconds for trial in trials]) == pytest.approx(traits.answer_seconds, rel=0.12)
    assert 0 < traits.answering < 1


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.kind)
@pytest.mark.parametrize("habit", HABITS)
def test_everyone_can_answer_everything(question: AnyQuestion, habit: str) -> None:
    kind = KINDS[question.kind]
    sight = images(*[(1.0, 0.6)] * kind.shows(question))
    for answered in answers(rater_with(habit), question, sight, 5):
        assert tuple(s.aspect for s in answered.response.answers) == kind.aspects(question)
        assert answered.seconds > 0


def test_lazy_people_always_say_the_same() -> None:
    assert set(answer_texts(rater_with("lazy"), REALISM, FAKE)) == {"real"}
    assert set(answer_texts(rater_with("lazy"), PAIR, GOOD_AND_BAD)) == {"left"}
    assert set(answer_texts(rater_with("lazy"), RATING, FAKE)) == {"5"}
    assert set(answer_texts(rater_with("lazy"), REALISM, FAKE, instruction="generated")) == {"real"}


@pytest.mark.parametrize("habit", ["random", "fast"])
def test_some_people_guess(habit: str) -> None:
    counts = Counter(answer_texts(rater_with(habit), PAIR, GOOD_AND_BAD, 3000))
    # 1,000 each; SD = √(3000 · 1/3 · 2/3) = 26
    assert all(abs(counts[choice] - 1000) < 4 * 26 for choice in ("left", "tie", "right"))


def test_fast_people_are_fast() -> None:
    for question in (REALISM, PAIR, RATING):
        hasty, calm = (
            np.median(
                [
                    a.seconds
                    for a in answers(rater_with(habit), question, FAKE if question is not PAIR else GOOD_AND_BAD)
                ]
            )
            for habit in ("fast", "noisy")
        )
        assert hasty == pytest.approx(0.12 / 1.5 * KINDS[question.kind].traits.answer_seconds, rel=0.15)
        assert calm > 5 * hasty


def test_malicious_people_say_the_contrary() -> None:
    good, bad = (Counter(answer_texts(rater_with(habit), PAIR, GOOD_AND_BAD)) for habit in ("noisy", "malicious"))
    assert good["left"] > 380
    assert bad["right"] > 380
    assert np.mean([float(text) for text in answer_texts(rater_with("malicious"), RATING, images((0, 1.0)))]) < 1.6
    assert Counter(answer_texts(rater_with("malicious"), REALISM, FAKE))["real"] > 300


def test_tired_people_get_worse() -> None:
    def right(progress: float) -> float:
        return float(
            np.mean(
                [
                    s == "generated"
                    for s in answer_texts(rater_with("tired"), REALISM, FAKE, 2000, progress=progress)
                ]
            )
        )

    # Φ(2.5 − 1) = .933 fresh; Φ(2.5/2.5 − 1) = .5 at the end
    assert right(0.0) == pytest.approx(0.933, abs=0.03)
    assert right(1.0) == pytest.approx(0.5, abs=0.05)
    assert right(0.0) > right(0.5) > right(1.0)


def test_side_biased_people_lean_to_the_left() -> None:
    equal = images((0.0, 0.6), (0.0, 0.6))
    leaning, fair = (Counter(answer_texts(rater_with(habit), PAIR, equal)) for habit in ("side-biased", "noisy"))
    assert leaning["left"] > 300
    assert abs(fair["left"] - fair["right"]) < 4 * 20


def test_lenient_and_harsh_people_shift_their_ratings() -> None:
    lenient, fair, harsh = (
        np.mean([float(text) for text in answer_texts(rater_with(habit), RATING, images((0, 0.5)), 2000)])
        for habit in ("lenient", "noisy", "harsh")
    )
    # .12 of the range from 1 to 5 is .48 points
    assert lenient - fair == pytest.approx(0.48, abs=0.06)
    assert fair - harsh == pytest.approx(0.48, abs=0.06)


@pytest.mark.parametrize("habit", ["noisy", "malicious", "tired"])
def test_people_who_read_heed_instructions(habit: str) -> None:
    # .98, less the lapse of 1 % of which half guess right by chance: .975 or so; SE = √(.98 · .02/2000) = .003
    share = np.mean(
        [
            s == "real"
            for s in answer_texts(rater_with(habit), REALISM, images((9.0, 0.5)), 2000, instruction="real")
        ]
    )
    assert share == pytest.approx(HEEDS_INSTRUCTIONS, abs=0.02)


def test_a_lapse_is_a_guess() -> None:
    absent = SimulatedRater("p", "noisy", lapse=1.0)
    counts = Counter(answer_texts(absent, PAIR, GOOD_AND_BAD, 900))
    assert all(abs(counts[choice] - 300) < 4 * 14.2 for choice in ("left", "tie", "right"))
