from hypothesis import given
from hypothesis import strategies as st

from beholder.study.words import split_words


def test_breaks_at_the_seven_marks_and_whitespace() -> None:
    assert split_words('a,b.c?d!e"f:g;h i\tj\nk') == tuple("abcdefghijk")


def test_keeps_case_hyphens_and_apostrophes() -> None:
    assert split_words("A cat-like face, isn't it?") == ("A", "cat-like", "face", "isn't", "it")


def test_drops_what_is_empty() -> None:
    assert split_words("  ...two,, red   balls. ") == ("two", "red", "balls")
    assert split_words("") == ()
    assert split_words(' ,.?!":;') == ()


@given(st.text())
def test_splitting_the_joined_words_changes_nothing(prompt: str) -> None:
    words = split_words(prompt)
    assert split_words(" ".join(words)) == words


@given(st.text())
def test_no_word_holds_a_break(prompt: str) -> None:
    for word in split_words(prompt):
        assert word
        assert not any(character in ',.?!":;' or character.isspace() for character in word)
