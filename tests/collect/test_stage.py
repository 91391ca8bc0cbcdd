"""Simulated collection as a stage: the same bytes for a seed, never over real answers, all protocols."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from beholder.collect.stage import run as run_simulated
from beholder.design.stage import run as design
from beholder.errors import StageError
from beholder.simulate.raters import BAD, SUBTLE
from beholder.study.kinds.catalogue import KINDS, AnyQuestion
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.kinds.sweep import SweepQuestion
from beholder.study.protocols.catalogue import PROTOCOLS
from beholder.study.question import Design
from beholder.tables.provenance import Provenance
from beholder.tables.store import TRUTH_ROOM, Store

Make = Callable[..., Path]
WRITTEN = ("sessions", "answers", "marks")

SMALL: dict[str, dict[str, object]] = {
    "hype-time": {"raters": 5, "trials": 12, "qualification": 4},
    "hype-infinity": {"raters": 5, "trials": 12, "qualification": 4},
    "layer6-realism": {"raters": 5, "trials": 12},
    "hpd-pairs": {"raters": 3, "trials": 12, "attention_every": 4, "repeats": 3},
    "hpd-ranking": {"raters": 10, "trials": 4, "attention_every": 2},
    "mos": {"raters": 15, "trials": 4, "attention_every": 2},
    "rich-feedback": {"raters": 3, "trials": 6, "attention_every": 2},
    "side-by-side": {"raters": 3, "trials": 12, "attention_every": 4, "repeats": 3},
}


def small(protocol: str) -> list[AnyQuestion]:
    return [
        question.model_copy(update={"design": question.design.model_copy(update=SMALL[protocol])})
        for question in PROTOCOLS[protocol].questions()
    ]


def pair(**design: int) -> PairQuestion:
    return PairQuestion(name="q", design=Design.model_validate({"raters": 3, "trials": 6} | design))


def collected(folder: Path, people: int = 4, bad: int = 1) -> dict[str, bytes]:
    design(folder)
    run_simulated(folder, people=people, bad=bad)
    rooms = [(Store(folder), name) for name in WRITTEN]
    rooms += [(Store(folder, TRUTH_ROOM), name) for name in ("raters", "ratings")]
    return {f"{store.room}/{name}": store.path(name).read_bytes() for store, name in rooms}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_protocol_can_be_simulated(protocol: str, painted_study: Make, bare_study: Make) -> None:
    questions = small(protocol)
    if protocol == "hpd-ranking":  # nine images of a prompt
        folder = bare_study(*questions, generators=tuple(f"g{n}" for n in range(9)))
    else:
        folder = painted_study(*questions)
    collected(folder, people=20, bad=6)
    store = Store(folder)
    answers, marks, trials = store.read("answers"), store.read("marks"), store.read("trials")
    assert answers.height > 0
    for question in questions:
        kind = KINDS[question.kind]
        question_answers = answers.filter(pl.col("question") == question.name).join(trials, on="trial")
        assert set(question_answers["aspect"]) == set(kind.aspects(question))
        for column in kind.columns:
            assert question_answers[column].null_count() == 0
        tests = question_answers.filter(pl.col("role") == "test")
        assert tests.select("trial", "aspect").is_unique().all()  # at most one answer each
    assert (marks.height > 0) == (protocol == "rich-feedback")


def test_a_sweep_can_be_simulated(bare_study: Make) -> None:
    folder = bare_study(SweepQuestion(name="q", images=8, design=Design(raters=3, trials=2)))
    collected(folder)
    presses = Store(folder).read("marks").group_by("trial").len()
    counts = Store(folder).read("answers").select("trial", "value").join(presses, on="trial", how="left")
    assert (counts["value"] == counts["len"].fill_null(0)).all()


def test_the_same_bytes_for_a_seed_and_others_for_another(bare_study: Make) -> None:
    first, same_seed, other_seed = (
        collected(bare_study(pair(), seed=seed, name=name))
        for seed, name in ((1, "one"), (1, "two"), (2, "three"))
    )
    assert first == same_seed
    assert first["tables/answers"] != other_seed["tables/answers"]


def test_unchanged_work_is_skipped_and_other_raters_are_not(bare_study: Make) -> None:
    folder = bare_study(pair())
    collected(folder)
    assert run_simulated(folder, people=4, bad=1).skipped
    assert not run_simulated(folder, people=4, bad=2).skipped
    assert not run_simulated(folder, people=4, bad=2, force=True).skipped


def test_real_answers_are_never_replaced(bare_study: Make) -> None:
    folder = bare_study(pair())
    collected(folder)
    store = Store(folder)
    real = store.read("sessions").with_columns(simulated=pl.col("rater") != "rater-0000")
    store.write({"sessions": real}, Provenance("collect", {}, 0, {}))
    before = store.path("answers").read_bytes()
    for force in (False, True):
        with pytest.raises(StageError, match="holds sessions of real raters"):
            run_simulated(folder, people=9, force=force)
    assert store.path("answers").read_bytes() == before


def test_answers_without_sessions_are_not_replaced_either(bare_study: Make) -> None:
    folder = bare_study(pair())
    collected(folder)
    Store(folder).path("sessions").unlink()
    with pytest.raises(StageError, match="answers without their sessions"):
        run_simulated(folder, people=4)


def test_it_needs_trials(bare_study: Make) -> None:
    with pytest.raises(StageError, match=r"trials.parquet is missing. It is written by: beholder design"):
        run_simulated(bare_study(pair()), people=4)


def test_habits_and_planted_ratings_are_kept_in_the_truth_room(bare_study: Make) -> None:
    folder = bare_study(pair(), RealismQuestion(name="r", design=Design(raters=3, trials=6)))
    collected(folder, people=12, bad=10)
    truth = Store(folder, TRUTH_ROOM)
    raters = truth.read("raters")
    assert raters.height == 2 * 12
    habits = raters["reasons"].list.first()
    assert (raters["used"] == ~habits.is_in([*BAD, *SUBTLE])).all()
    assert set(truth.read("ratings")["method"]) == {
        "bradley-terry",
        "error-rate",
        "fake-error-rate",
        "real-error-rate",
    }
    assert not Store(folder).has("ratings")  # the ground truth is stored separately
