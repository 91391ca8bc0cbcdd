"""Informed consent: the text, its hash, and what the consent page shows."""

import hashlib
from typing import Any

from beholder.study.collecting import CONSENT
from beholder.study.kinds.catalogue import AnyQuestion, kind_of
from beholder.study.study import Study
from beholder.study.wages import base_pay, session_minutes


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
    pay = {"currency": study.pay.currency, "base": base_pay(study, question), "per_right": study.pay.per_right}
    return {
        "text": text,
        "hash": consent_hash(text),
        "version": study.collect.consent_version,
        "language": language,
        "description": study.description,
        "pay": pay,
        "minutes": session_minutes(study, question),
        "masked": kind_of(question).traits.flashes,
    }
