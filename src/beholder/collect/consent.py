"""What people are told before they agree, and the record that they did."""

import hashlib
from typing import Any

from beholder.study.collecting import CONSENT
from beholder.study.kinds.catalogue import AnyQuestion
from beholder.study.kinds.sweep import SweepQuestion
from beholder.study.kinds.timed_realism import TimedRealismQuestion
from beholder.study.study import Study

FLICKERING = (TimedRealismQuestion, SweepQuestion)
"""Questions that flash images: people are warned, and the screen must be fast enough."""

SECONDS_A_TRIAL = {
    "realism": 3.0,
    "timed-realism": 6.0,
    "pair": 6.0,
    "side-by-side-5": 8.0,
    "ranking": 40.0,
    "rating": 10.0,
    "rich-feedback": 75.0,
    "sweep": 20.0,
}
"""How long a trial takes, all included, where the study does not say."""


def consent_text(study: Study, language: str) -> str:
    """The text in a language: the study's own, or the plain one."""
    own = {str(code): text for code, text in study.collect.consent.items()}
    return own.get(language) or own.get("en") or CONSENT.get(language, CONSENT["en"])


def consent_hash(text: str) -> str:
    """What is kept of the text that someone agreed to."""
    return hashlib.sha256(text.encode()).hexdigest()


def consent_part(study: Study, question: AnyQuestion, language: str) -> dict[str, Any]:
    """What the consent page shows."""
    text = consent_text(study, language)
    return {
        "text": text,
        "hash": consent_hash(text),
        "version": study.collect.consent_version,
        "language": language,
        "description": study.description,
        "pay": {"currency": study.pay.currency, "base": study.pay.base, "per_right": study.pay.per_right},
        "minutes": minutes(study, question),
        "masked": isinstance(question, FLICKERING),
    }


def minutes(study: Study, question: AnyQuestion) -> float:
    """How long it takes, as people are told."""
    if study.collect.minutes:
        return study.collect.minutes
    design = question.design
    checks = design.training + design.qualification + design.repeats
    checks += sum(design.trials // every for every in (design.gold_every, design.attention_every) if every)
    return float(max(round((design.trials + checks) * SECONDS_A_TRIAL[question.kind] / 60), 1))
