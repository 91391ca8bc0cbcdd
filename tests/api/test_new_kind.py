"""A question kind that the package does not know, declared here alone, goes through the whole loop."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl
import pytest

from beholder.collect.stage import run as run_simulated
from beholder.consolidate.stage import run as consolidate
from beholder.design.stage import run as design
from beholder.rank.stage import run as rank
from beholder.report.stage import PAGE
from beholder.report.stage import run as report
from beholder.simulate.policies import GENERATORS
from beholder.study import study as study_file
from beholder.study.kinds.allowed import faults_of_response
from beholder.study.kinds.catalogue import KINDS
from beholder.study.kinds.choosing import Choosing
from beholder.study.kinds.coding import RankCoding
from beholder.study.kinds.kind import AspectAnswer, Response, Sensed
from beholder.study.kinds.traits import Traits
from beholder.study.question import Design, Question, Screening, Words
from beholder.study.study import Study, load_study
from beholder.study.wages import session_minutes
from beholder.tables.store import Store

PLACES = ("first", "second", "third")


class BestOfThreeQuestion(Question):
    """Three images of one prompt."""

    kind: Literal["best-of-three"] = "best-of-three"
    text: Words = "Which of the three images is the best?"


class BestOfThree(Choosing[BestOfThreeQuestion]):
    """Click the best."""

    def respond(self, question: BestOfThreeQuestion, sensed: Sensed, rng: np.random.Generator) -> Response:  # noqa: ARG002
        """The one that is felt to be the best."""
        return self.pick(PLACES[int(sensed.quality["overall"].argmax())])


BEST_OF_THREE = BestOfThree(
    name="best-of-three",
    summary="Three images of one prompt: the best.",
    settings=BestOfThreeQuestion,
    traits=Traits(
        seconds=9.0,
        answering=0.5,
        least_seconds=0.3,
        items="rows",
        page="best_of_three",
        rated_by="plackett-luce",
        labelled_by=("preference",),
    ),
    aspect="preference",
    choices=PLACES,
    images=3,
    code=RankCoding({"first": (1, 2, 2), "second": (2, 1, 2), "third": (2, 2, 1)}),
)

QUESTION = BestOfThreeQuestion(
    name="best",
    design=Design(raters=40, trials=20, attention_every=10),
    screening=Screening(max_attention_failures=1),
)


@pytest.fixture
def registered() -> Iterator[None]:
    """The kind stands in the catalogue, and study files with it can be read, for as long as the test runs."""
    KINDS[BEST_OF_THREE.name] = BEST_OF_THREE
    _read_kinds_again()
    yield
    del KINDS[BEST_OF_THREE.name]
    _read_kinds_again()


def _read_kinds_again() -> None:
    Study.model_rebuild(force=True)
    study_file._QUESTION.rebuild(force=True)


@pytest.mark.usefixtures("registered")
def test_the_loop(painted_study: Callable[..., Path]) -> None:
    folder = painted_study(QUESTION)
    assert load_study(folder).questions == (QUESTION,)
    store = Store(folder)

    design(folder)
    tests = store.read("trials").filter(pl.col("role") == "test")
    assert tests.height == 40 * 20
    assert tests["images"].list.n_unique().unique().to_list() == [3]

    run_simulated(folder, people=40, bad=4)
    answers = store.read("answers")
    assert set(answers["choice"]) == set(PLACES)
    # the median person needs 9 · .5 = 4.5 s; all people's medians differ by log-normal factors of σ = .25
    assert float(np.median(answers["seconds"])) == pytest.approx(4.5, rel=0.25)

    consolidate(folder)
    assert store.read("judgements")["value_kind"].unique().to_list() == ["rank"]
    assert store.read("labels")["method"].unique().to_list() == ["preference"]
    assert store.read("raters")["used"].sum() >= 30

    rank(folder)
    ratings = store.read("ratings").filter(pl.col("slice") == "all").sort("rating", descending=True)
    assert set(ratings["generator"]) == {policy.name for policy in GENERATORS}
    best, worst = GENERATORS[0].name, GENERATORS[-1].name
    assert (ratings["generator"][0], ratings["generator"][-1]) == (best, worst)

    report(folder)
    assert '<section class="question" id="best"' in (folder / PAGE).read_text(encoding="utf-8")


@pytest.mark.usefixtures("registered")
def test_its_answers_and_minutes_are_known() -> None:
    assert faults_of_response(QUESTION, Response((AspectAnswer("preference", choice="third"),)), words=0) == []
    assert faults_of_response(QUESTION, Response((AspectAnswer("preference", choice="fourth"),)), words=0) == [
        "preference: found 'fourth', expected one of first, second, third"
    ]
    study = Study(name="s", title="S", questions=(QUESTION,))
    assert session_minutes(study, QUESTION) == 3  # 20 tests and 2 attention checks of 9 s: 198 s


def test_it_is_gone_afterwards() -> None:
    with pytest.raises(ValueError, match="best-of-three"):
        Study.model_validate({"name": "s", "title": "S", "questions": [{"name": "q", "kind": "best-of-three"}]})
