"""The design stage: every protocol draws valid trials; faults come together; answered trials are kept."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from beholder.collect.stage import run as run_simulated
from beholder.design.stage import run
from beholder.errors import StageError, StudyError
from beholder.study.kinds.catalogue import KINDS, AnyQuestion
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.kinds.sweep import SweepQuestion
from beholder.study.protocols.catalogue import PROTOCOLS
from beholder.study.question import Design
from beholder.tables.store import Store

Make = Callable[..., Path]

NINE = tuple(f"g{n}" for n in range(9))


def smaller(question: AnyQuestion, **settings: object) -> AnyQuestion:
    return question.model_copy(update={"design": question.design.model_copy(update=settings)})


PRESETS: dict[str, dict[str, object]] = {
    "hype-time": {"raters": 9, "trials": 12, "qualification": 4},
    "hype-infinity": {"raters": 9, "trials": 12, "qualification": 4},
    "layer6-realism": {"raters": 9, "trials": 16},
    "hpd-pairs": {"raters": 4, "trials": 30},
    "hpd-ranking": {"raters": 10, "trials": 4},
    "mos": {"raters": 15, "trials": 20},
    "rich-feedback": {"raters": 3, "trials": 20},
    "side-by-side": {"raters": 4, "trials": 30},
}
"""The published designs with fewer raters and trials."""


def test_every_protocol_has_a_preset() -> None:
    assert set(PRESETS) == set(PROTOCOLS)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_protocol_draws_valid_trials(protocol: str, bare_study: Make) -> None:
    questions = [smaller(question, **PRESETS[protocol]) for question in PROTOCOLS[protocol].questions()]
    folder = bare_study(*questions, generators=NINE, gold=True)
    run(folder)
    trials = Store(folder).read("trials")  # checked as it is read
    for question in questions:
        own_trials = trials.filter(pl.col("question") == question.name)
        tests = own_trials.filter(pl.col("role") == "test")
        assert own_trials["slot"].n_unique() == question.design.raters
        assert tests.height == question.design.raters * question.design.trials
        assert set(own_trials["images"].list.len()) == {KINDS[question.kind].shows(question)}
        for _, slot in own_trials.group_by("slot"):
            assert slot.sort("position")["position"].to_list() == list(range(slot.height))


def test_a_sweep_draws_valid_trials(bare_study: Make) -> None:
    folder = bare_study(SweepQuestion(name="q", images=8, design=Design(raters=3, trials=2)))
    run(folder)
    assert Store(folder).read("trials")["images"].list.len().to_list() == [8] * 6


def test_repeats_name_the_trial_they_repeat(bare_study: Make) -> None:
    folder = bare_study(PairQuestion(name="q", design=Design(raters=3, trials=8, repeats=3, attention_every=2)))
    run(folder)
    trials = Store(folder).read("trials")
    again = trials.filter(pl.col("role") == "repeat")
    assert again.height == 9
    first = again.join(trials, left_on="repeats", right_on="trial", suffix="_first")
    assert (first["slot"] == first["slot_first"]).all()
    assert (first["role_first"] == "test").all()
    assert (first["position_first"] < first["position"]).all()
    assert (first["images"].list.reverse() == first["images_first"]).all()


def test_the_same_seed_gives_the_same_bytes_and_another_does_not(bare_study: Make) -> None:
    question = RealismQuestion(name="q", design=Design(raters=3, trials=8))
    drawn = []
    for seed, name in ((4, "one"), (4, "two"), (5, "three")):
        folder = bare_study(question, seed=seed, name=name)
        run(folder)
        drawn.append(Store(folder).path("trials").read_bytes())
    assert drawn[0] == drawn[1]
    assert drawn[0] != drawn[2]


def test_questions_do_not_disturb_each_other(bare_study: Make) -> None:
    first, second = (PairQuestion(name=name, design=Design(raters=2, trials=4)) for name in ("one", "two"))
    trials = []
    for questions, name in (((first,), "alone"), ((first, second), "both")):
        folder = bare_study(*questions, name=name)
        run(folder)
        trials.append(Store(folder).read("trials").filter(pl.col("question") == "one"))
    assert trials[0].equals(trials[1])


def test_faults_of_all_questions_come_in_one_list(bare_study: Make) -> None:
    folder = bare_study(
        RealismQuestion(name="one", design=Design(raters=3, trials=100)),
        PairQuestion(name="two", design=Design(raters=3, trials=5, gold_every=2)),
        PairQuestion(name="three", design=Design(raters=4, trials=10, raters_per_item=1)),
    )
    with pytest.raises(StudyError) as caught:
        run(folder)
    faults = caught.value.faults
    assert [fault.split(":")[0] for fault in faults] == [
        "question 'one'",
        "question 'one'",
        "question 'two'",
        "question 'three'",
    ]
    assert "16 real images" in faults[0]
    assert "24 generated images" in faults[1]
    assert "need gold images" in faults[2]
    assert "need 40 items; there are 24" in faults[3]
    assert not Store(folder).has("trials")


def test_unchanged_work_is_skipped(bare_study: Make) -> None:
    folder = bare_study(PairQuestion(name="q", design=Design(raters=2, trials=4)))
    assert not run(folder).skipped
    assert run(folder).skipped
    assert not run(folder, force=True).skipped


def test_answered_trials_are_never_drawn_anew(bare_study: Make) -> None:
    question = PairQuestion(name="q", design=Design(raters=2, trials=4))
    folder = bare_study(question)
    run(folder)
    run_simulated(folder, people=2)
    store = Store(folder)
    record = store.provenance("sessions")
    assert record is not None
    store.write({"sessions": store.read("sessions").with_columns(simulated=pl.lit(False))}, record)
    before = store.path("trials").read_bytes()
    assert run(folder).skipped
    assert run(folder, force=True).skipped
    _change_the_design(folder)
    for force in (False, True):
        with pytest.raises(StageError, match="changed after answers were collected"):
            run(folder, force=force)
    assert store.path("trials").read_bytes() == before
    assert store.has("answers")


def test_a_rehearsal_does_not_hold_up_a_change_of_design(bare_study: Make) -> None:
    folder = bare_study(PairQuestion(name="q", design=Design(raters=2, trials=4)))
    run(folder)
    run_simulated(folder, people=2)
    _change_the_design(folder)
    before = {name: Store(folder).path(name).read_bytes() for name in ("answers", "sessions", "marks")}
    outcome = run(folder)
    assert outcome.rows == {"trials": 10}
    moved = folder / "rehearsals" / "1"
    assert (
        outcome.note
        == "The simulated answers to the earlier trials were moved to rehearsals/1 in the folder of the study"
    )
    assert {name: (moved / f"{name}.parquet").read_bytes() for name in before} == before
    assert not any(Store(folder).has(name) for name in ("answers", "sessions", "marks"))


def _change_the_design(folder: Path) -> None:
    study = folder / "study.toml"
    study.write_text(study.read_text().replace("trials = 4", "trials = 5"))


def test_wording_and_screening_may_change_afterwards(bare_study: Make) -> None:
    folder = bare_study(PairQuestion(name="q", design=Design(raters=2, trials=4)))
    run(folder)
    run_simulated(folder, people=2)
    study = folder / "study.toml"
    study.write_text(study.read_text().replace("Which image do you prefer?", "Which is better?"))
    assert run(folder).skipped
