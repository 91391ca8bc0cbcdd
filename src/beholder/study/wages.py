"""What raters are paid: computed from the time a session takes and the least wage, unless the study sets it."""

import math

from beholder.study.kinds.catalogue import AnyQuestion
from beholder.study.kinds.duration import session_seconds
from beholder.study.study import Study

TOLERANCE = 1e-9
"""Less than this is an error of rounding, not a lower wage."""


def session_minutes(study: Study, question: AnyQuestion) -> float:
    """Return how long a session takes, as raters are told: the study's own figure, or whole minutes."""
    if study.collect.minutes:
        return study.collect.minutes
    return float(max(round(session_seconds(question) / 60), 1))


def base_pay(study: Study, question: AnyQuestion) -> float:
    """Return the pay for a complete session: the study's own, or the least wage for its time, in whole cents."""
    if study.pay.base is not None:
        return study.pay.base
    cents = _hours(study, question) * study.pay.minimum_hourly * 100
    return math.ceil(cents - TOLERANCE) / 100


def hourly_pay(study: Study, question: AnyQuestion) -> float:
    """Return what a rater earns per hour; bonuses are not certain, and do not count."""
    return base_pay(study, question) / _hours(study, question)


def low_pay_faults(study: Study) -> list[str]:
    """Say which questions pay less than the study's own least wage; empty where that was accepted."""
    if study.pay.accept_low:
        return []
    least, currency = study.pay.minimum_hourly, study.pay.currency
    return [
        f"pay: {describe_pay(study, question)} for '{question.name}', "
        f"less than minimum_hourly ({least:.2f} {currency})"
        for question in study.questions
        if hourly_pay(study, question) < least - TOLERANCE
    ]


LOW_PAY_ADVICE = (
    "Leave pay.base out to have it computed, or raise it; to pay less all the same, say so: --accept-low-pay"
)


def describe_pay(study: Study, question: AnyQuestion) -> str:
    """Return the pay for a session, its time and the hourly wage that follows, in words."""
    currency = study.pay.currency
    return (
        f"{base_pay(study, question):.2f} {currency} for {session_minutes(study, question):g} min, "
        f"{hourly_pay(study, question):.2f} {currency} an hour"
    )


def _hours(study: Study, question: AnyQuestion) -> float:
    """Return the hours that are paid: those that raters are told or, where more are expected, these."""
    seconds = session_minutes(study, question) * 60
    return (seconds if study.collect.minutes else max(seconds, session_seconds(question))) / 3600
