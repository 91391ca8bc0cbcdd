"""The consent says what qualification, checks, skips and early endings mean for pay, and the server does it."""

import hashlib
from collections.abc import Callable
from typing import Any

import pytest

from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.kinds.timed_realism import TimedRealismQuestion
from beholder.study.question import Design, Screening

Serve = Callable[..., Any]

SCREENED = RealismQuestion(
    name="q",
    design=Design(raters=2, trials=14, training=2, qualification=4),
    screening=Screening(min_qualification=1.0),
)


def text_of(served: Any, language: str = "en") -> str:  # noqa: ANN401
    visitor = served.visitor()
    visitor.enter(language=language)
    consent = visitor.state["consent"]
    assert consent["hash"] == hashlib.sha256(consent["text"].encode()).hexdigest()
    return str(consent["text"])


def test_who_fails_the_entry_test_is_paid_what_the_consent_says(serve: Serve) -> None:
    served = serve(SCREENED, pay={"base": 2.0, "currency": "EUR"})
    text = text_of(served)
    # 2 for practice and 4 of the test, of 20 trials in all: 2.00 · 6/20 = .60
    assert "an entry test of 4 images" in text
    assert "the part that you have done is paid, 0.60 EUR." in text
    visitor = served.visitor().begin()
    while visitor.state["step"] == "trial":
        visitor.choose("real")
    assert visitor.state["done"]["outcome"] == "screened-out"
    assert visitor.state["done"]["pay"] == 0.6


def test_skips_and_early_endings_are_paid_as_the_consent_says(serve: Serve) -> None:
    served = serve(PairQuestion(name="q", design=Design(raters=2, trials=10)), pay={"base": 1.0})
    text = text_of(served)
    assert "You can skip 2 images at full pay." in text
    visitor = served.visitor().begin()
    assert visitor.trial["skips_left"] == 2
    for _ in range(5):
        visitor.answer()
    visitor.post("withdraw", delete=False)
    assert visitor.state["done"]["pay"] == 0.5
    assert "you are paid for the part that you have done, in proportion" in text


def test_only_what_applies_is_said(serve: Serve) -> None:
    plain = text_of(serve(PairQuestion(name="q", design=Design(raters=2, trials=4))))
    assert "entry test" not in plain
    assert "check whether you look" not in plain
    assert "Your pay does not depend on what you answer." in plain
    checked = text_of(
        serve(PairQuestion(name="q", design=Design(raters=2, trials=4, attention_every=2)), name="checked")
    )
    assert "If you often fail them you are still paid in full" in checked
    timed = text_of(serve(TimedRealismQuestion(name="q", design=Design(raters=2, trials=4)), name="timed"))
    assert "If it is too slow" in timed
    bonus = text_of(
        serve(PairQuestion(name="q", design=Design(raters=2, trials=4)), pay={"per_right": 0.1}, name="bonus")
    )
    assert "Each right answer adds 0.10 USD." in bonus
    assert "does not depend on what you answer" not in bonus
    unpaid = text_of(serve(SCREENED, pay={"base": 0.0, "minimum_hourly": 0.0}, name="unpaid"))
    assert "paid" not in unpaid.partition("# Pay, checks")[2].replace("Pay, checks", "")


def test_own_sections_stand_between_text_and_terms(serve: Serve) -> None:
    sections = [
        {
            "title": {"en": "Who we are", "de": "Wer wir sind"},
            "text": {"en": "Write to us@example.org.", "de": "Schreiben Sie an us@example.org."},
        }
    ]
    served = serve(
        SCREENED, collect={"consent_sections": sections, "consent": {"en": "Our own text."}}, pay={"base": 1.0}
    )
    english = text_of(served)
    assert english.startswith("Our own text.\n\n# Who we are\n\nWrite to us@example.org.\n\n# Pay, checks")
    german = text_of(served, "de")
    assert "# Wer wir sind\n\nSchreiben Sie" in german
    assert "0,30 USD" in german  # 1.00 · 6/20


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_consent_is_recorded_with_the_hash_of_the_full_text(serve: Serve, language: str) -> None:
    served = serve(SCREENED)
    visitor = served.visitor()
    visitor.enter(language=language)
    expected = visitor.state["consent"]["hash"]
    assert visitor.consent().status_code == 200
    assert served.rows("select consent_hash from sessions") == [(expected,)]
