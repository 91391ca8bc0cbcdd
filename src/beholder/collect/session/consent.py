"""Informed consent: the text, its hash, and what the consent page shows."""

import hashlib
from typing import Any

from beholder.study.collecting import CONSENT
from beholder.study.kinds.catalogue import AnyQuestion, kind_of
from beholder.study.kinds.duration import session_seconds
from beholder.study.study import Study


def consent_text(study: Study, language: str) -> str:
    """Return the consent text in a language: the study's own, or the default."""
    texts = {str(code): text for code, text in study.collect.consent.items()}
    return texts.get(language) or texts.get("en") or CONSENT.get(language, CONSENT["en"])


def consent_hash(text: str) -> str:
    """Return the hash that is recorded of the text a participant agreed to."""
    return hashlib.sha256(text.encode()).hexdigest()


def consent_part(study: Study, question: AnyQuestion, language: str) -> dict[str, Any]:
    """Return what the consent page shows."""
    text = consent_text(study, language)
    return {
        "text": text,
        "hash": consent_hash(text),
        "version": study.collect.consent_version,
        "language": language,
        "description": study.description,
        "pay": {"currency": study.pay.currency, "base": study.pay.base, "per_right": study.pay.per_right},
        "minutes": minutes(study, question),
        "masked": kind_of(question).traits.flashes,
    }


def minutes(study: Study, question: AnyQuestion) -> float:
    """Return the announced duration of a session in minutes."""
    if study.collect.minutes:
        return study.collect.minutes
    return float(max(round(session_seconds(question) / 60), 1))
