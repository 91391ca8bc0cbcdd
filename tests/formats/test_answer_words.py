"""What the words of other people's options mean."""

import pytest

from beholder.formats.answer_words import rating_of, side_of


@pytest.mark.parametrize(
    ("words", "side"),
    [
        ("Left", "left"),
        ("A", "left"),
        ("Image 1", "left"),
        ("The second image is better", "right"),
        ("image B", "right"),
        ("No preference", "tie"),
        ("Both equally good", "tie"),
        ("1", None),
        ("a dog", None),
        ("cat", None),
        ("", None),
    ],
)
def test_sides(words: str, side: str | None) -> None:
    assert side_of(words) == side


@pytest.mark.parametrize(
    ("words", "rating"),
    [("4", 4.0), ("5 - excellent", 5.0), ("3.5", 3.5), ("Poor", 2.0), ("cat", None), ("v2", None), ("", None)],
)
def test_ratings(words: str, rating: float | None) -> None:
    assert rating_of(words) == rating
