"""Informed consent: the text, its hash, and what the consent page shows.

The text ends with the terms: what qualification, checks, skips and early endings mean for pay. They are derived
from the settings of the question, so that they cannot say anything else than what the server does.
"""

import hashlib
from collections.abc import Iterator
from typing import Any

from beholder.collect.session.progress import allowed_skips
from beholder.collect.session.texts import text_in, texts
from beholder.study.kinds.catalogue import AnyQuestion, kind_of
from beholder.study.kinds.duration import session_trials
from beholder.study.study import Study
from beholder.study.wages import base_pay, session_minutes


def consent_text(study: Study, question: AnyQuestion, language: str) -> str:
    """Return the full text that a participant agrees to: the study's own or the default, sections, and terms."""
    words = texts(language)
    own = text_in(language, study.collect.consent)
    sections = [
        f"# {text_in(language, section.title)}\n\n{text_in(language, section.text).strip()}"
        for section in study.collect.consent_sections
    ]
    lines = "\n".join(f"- {line}" for line in _terms(study, question, language))
    terms = f"# {words['consent.terms']}\n\n{lines}"
    return "\n\n".join([(own or words["consent.default"]).strip(), *sections, terms])


def consent_hash(text: str) -> str:
    """Return the hash that is recorded of the text a participant agreed to."""
    return hashlib.sha256(text.encode()).hexdigest()


def consent_part(study: Study, question: AnyQuestion, language: str) -> dict[str, Any]:
    """Return what the consent page shows."""
    text = consent_text(study, question, language)
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


def _terms(study: Study, question: AnyQuestion, language: str) -> Iterator[str]:
    """Yield the terms, in the order in which they may matter during a session."""
    words, design, pay = texts(language), question.design, study.pay
    base = base_pay(study, question)
    paid = "" if base or pay.per_right else ".unpaid"

    def money(amount: float) -> str:
        number = f"{amount:.2f}"
        return f"{number.replace('.', ',') if language == 'de' else number} {pay.currency}"

    if not paid:
        yield words["consent.terms.pay"].format(base=money(base))
    if pay.per_right:
        yield words["consent.terms.bonus"].format(bonus=money(pay.per_right))
    if kind_of(question).traits.flashes:
        yield words["consent.terms.screen"]
    if design.qualification and question.screening.min_qualification is not None:
        trials, opening = session_trials(question), design.training + design.qualification
        yield words[f"consent.terms.qualification{paid}"].format(
            count=design.qualification, amount=money(base * opening / trials)
        )
    unvaried = paid or (".unpaid" if pay.per_right else "")  # a bonus does depend on the answers
    yield words[f"consent.terms.checks{paid}" if _is_checked(question) else f"consent.terms.used{unvaried}"]
    yield words[f"consent.terms.skips{paid}"].format(count=allowed_skips(study.collect.max_skips, design.trials))
    yield words[f"consent.terms.early{paid}"]


def _is_checked(question: AnyQuestion) -> bool:
    """Whether some trials serve to check the rater."""
    design = question.design
    return bool(design.gold_every or design.attention_every or design.repeats)
