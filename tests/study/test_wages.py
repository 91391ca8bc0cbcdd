"""Pay: computed from the time of a session and the least wage, unless the study sets it."""

import pytest

from beholder.study.kinds.pair import PairQuestion
from beholder.study.protocols.catalogue import PROTOCOLS
from beholder.study.question import Design
from beholder.study.study import Study
from beholder.study.wages import base_pay, describe_pay, hourly_pay, low_pay_faults, session_minutes

PAIRS = PairQuestion(name="q", design=Design(raters=3, trials=100, attention_every=25, repeats=10))
"""100 + 10 + 4 trials of 6 s: 684 s, 11.4 min; raters are told 11."""


def study_with(**settings: object) -> Study:
    return Study.model_validate({"name": "s", "title": "S", "questions": [PAIRS.model_dump()]} | settings)


def test_the_pay_follows_from_the_time_and_the_wage() -> None:
    study = study_with()
    assert session_minutes(study, PAIRS) == 11
    assert base_pay(study, PAIRS) == 2.28  # 684 s / 3600 × 12
    assert hourly_pay(study, PAIRS) == pytest.approx(12)
    assert describe_pay(study, PAIRS) == "2.28 USD for 11 min, 12.00 USD an hour"


def test_minutes_that_are_rounded_up_are_paid() -> None:
    few = PAIRS.model_copy(update={"design": Design(raters=3, trials=16)})  # 96 s: 2 minutes, as raters are told
    study = study_with()
    assert base_pay(study, few) == 0.4  # 2 / 60 × 12


def test_the_study_knows_the_minutes_better() -> None:
    study = study_with(collect={"minutes": 30.0})
    assert base_pay(study, PAIRS) == 6.0


def test_cents_are_rounded_up() -> None:
    study = study_with(pay={"minimum_hourly": 12.01})
    assert base_pay(study, PAIRS) == 2.29  # 2.2819
    assert hourly_pay(study, PAIRS) >= 12.01


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_no_protocol_pays_less_than_the_wage(protocol: str) -> None:
    study = Study(name="s", title="S", questions=PROTOCOLS[protocol].questions())
    assert low_pay_faults(study) == []
    assert all(hourly_pay(study, question) >= 12 - 1e-9 for question in study.questions)


def test_less_than_the_wage_is_a_fault_unless_accepted() -> None:
    assert low_pay_faults(study_with(pay={"base": 2.28})) == []
    (fault,) = low_pay_faults(study_with(pay={"base": 1.0}))
    assert fault == (
        "pay: 1.00 USD for 11 min, 5.26 USD an hour for 'q', less than minimum_hourly (12.00 USD)"  # 3600 / 684
    )
    assert low_pay_faults(study_with(pay={"base": 1.0, "accept_low": True})) == []
    assert low_pay_faults(study_with(pay={"base": 0.0, "minimum_hourly": 0.0})) == []  # volunteers
