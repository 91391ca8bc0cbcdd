"""The ethics pack says what the server does: its consent texts, pay and checks."""

from collections.abc import Callable
from pathlib import Path

import pytest

from beholder.cli.main import main
from beholder.collect.ethics.pack import OPEN_QUESTIONS, ethics_sections, markdown_of, write_pack
from beholder.collect.session.consent import consent_hash, consent_text
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.kinds.timed_realism import TimedRealismQuestion
from beholder.study.question import Design
from beholder.study.study import Pay, Study, load_study
from beholder.study.wages import base_pay

QUESTION = RealismQuestion(name="q", design=Design(raters=10, trials=20))


def study_of(*questions: RealismQuestion | TimedRealismQuestion, pay: Pay | None = None) -> Study:
    return Study(name="s", title="A <b>title</b>", questions=questions, pay=pay or Pay())


def test_it_holds_what_participants_agree_to_and_get(bare_study: Callable[..., Path], tmp_path: Path) -> None:
    folder = bare_study(QUESTION)
    study = load_study(folder)
    text, page = (file.read_text(encoding="utf-8") for file in write_pack(folder, tmp_path / "out"))
    for language in study.collect.languages:
        consent = consent_text(study, QUESTION, language)
        assert consent_hash(consent)[:16] in text
        assert consent_hash(consent)[:16] in page
        assert all(line.strip() in text for line in consent.splitlines())
    assert f"{base_pay(study, QUESTION):.2f} USD" in text
    assert all(question in text for question in OPEN_QUESTIONS)


def test_the_title_is_no_markup(bare_study: Callable[..., Path], tmp_path: Path) -> None:
    folder = bare_study(QUESTION)
    settings = folder / "study.toml"
    text = settings.read_text(encoding="utf-8").replace('title = "Test"', 'title = "<script>x</script>"')
    settings.write_text(text, encoding="utf-8")
    page = write_pack(folder, tmp_path)[1].read_text(encoding="utf-8")
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_flashes_and_low_pay_are_said() -> None:
    timed = TimedRealismQuestion(name="glance", design=Design(raters=10, trials=20))
    plain = markdown_of("t", ethics_sections(study_of(QUESTION)))
    told = markdown_of("t", ethics_sections(study_of(timed, pay=Pay(base=0.01, accept_low=True))))
    assert "epilepsy" in told
    assert "epilepsy" not in plain
    assert "Below the minimum wage: glance" in told
    assert "Below the minimum wage" not in plain


def test_the_command(bare_study: Callable[..., Path], capsys: pytest.CaptureFixture[str]) -> None:
    folder = bare_study(QUESTION)
    assert main(["ethics", str(folder)]) == 0
    assert f"wrote {folder / 'ethics.md'} and {folder / 'ethics.html'}" in capsys.readouterr().out
    assert main(["ethics", str(folder / "nowhere")]) == 2
