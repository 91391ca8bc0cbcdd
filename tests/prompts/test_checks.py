"""Contradictions, languages, names of persons, quoted text, and words of a list."""

from pathlib import Path

import pytest

from beholder.errors import PromptsError
from beholder.prompts.checks.check import check_prompt
from beholder.prompts.checks.language import language_of
from beholder.prompts.checks.word_lists import read_word_list


def evidence(text: str, check: str) -> list[str]:
    return [finding.evidence for finding in check_prompt(text) if finding.check == check]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a tiny huge dog", ["tiny / huge"]),
        ("a small dog and a large cat", []),
        ("a photo, oil painting of a house", ["photo / oil painting"]),
        ("a close-up, wide shot of a flower", ["close-up / wide shot"]),
        ("a dog in a room without a dog", ["without dog / dog"]),
        ("a room without dog hair, with a dog", []),
        ("a happy or sad clown", []),
        ('a sign "tiny huge"', []),
    ],
)
def test_contradictions(text: str, expected: list[str]) -> None:
    assert evidence(text, "contradiction") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Albert Einstein on a bicycle", ["Albert Einstein"]),
        ("a cat painted by vincent van gogh", ["vincent van gogh"]),
        ("Emma Stone as a queen", ["Emma Stone"]),
        ("the John Hancock Tower", []),
        ("a Red Panda in New York", []),
        ("a postcard of Lincoln Park", []),
        ("music of Mozart", ["Mozart"]),
    ],
)
def test_named_persons(text: str, expected: list[str]) -> None:
    assert evidence(text, "named-person") == expected


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("a photo of a cat", "en"),
        ("ein Foto von einer schwarzen Katze im Garten", "de"),
        ("une photo d'un chat noir dans le jardin", "fr"),
        ("空中古城漂浮于星空之上，也映衬在都市的屏幕之下", "zh"),
        ("Salvador Dali cat", "en"),
        ("42", "und"),
        ("", "und"),
    ],
)
def test_languages(text: str, language: str) -> None:
    assert language_of(text) == language


def test_nearly_all_shared_prompts_are_english(all_texts: list[str]) -> None:
    languages = [language_of(text) for text in all_texts]
    assert languages.count("en") / len(languages) > 0.998


def test_words_of_a_list(tmp_path: Path) -> None:
    path = tmp_path / "brands.txt"
    path.write_text("# brands\nPepsi\nCoca Cola\n", encoding="utf-8")
    words = read_word_list(path)
    assert words == ("coca cola", "pepsi")
    findings = check_prompt("a can of Coca Cola with a 'Pepsi' label, pepsin", {"brands": words})
    listed = [finding.evidence for finding in findings if finding.check == "word-list:brands"]
    assert listed == ["Coca Cola", "Pepsi"]
    path.write_text("# nothing\n", encoding="utf-8")
    with pytest.raises(PromptsError, match="no words"):
        read_word_list(path)
