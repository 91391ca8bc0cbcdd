import pytest

from beholder.report.text.words import all_of, count, count_raters, end_sentence, join_names, percent, spell_out


def test_nouns_agree_with_their_number() -> None:
    assert count(1, "answer") == "1 answer"
    assert count(0, "answer") == "0 answers"
    assert count(1200, "answer") == "1,200 answers"
    assert count_raters(1) == "1 rater"
    assert count_raters(2) == "2 raters"


@pytest.mark.parametrize(
    ("names", "words"),
    [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")],
)
def test_names_are_join_names(names: list[str], words: str) -> None:
    assert join_names(names) == words


def test_a_long_list_counts_its_rest() -> None:
    assert join_names(["a", "b", "c", "d"], most=3) == "a, b and 2 more"
    assert join_names(["a", "b", "c"], most=3) == "a, b and c"


def test_small_numbers_are_words() -> None:
    assert (spell_out(3), spell_out(12)) == ("three", "12")
    assert [all_of(n, "measure") for n in (1, 2, 4, 12)] == [
        "the one measure",
        "both measures",
        "all four measures",
        "all 12 measures",
    ]


def test_a_sentence_ends_once() -> None:
    assert end_sentence("It is so") == "It is so."
    assert end_sentence("Is it so?") == "Is it so?"


def test_a_proportion_never_claims_nothing_or_everything_wrongly() -> None:
    assert [percent(proportion) for proportion in (0, 0.001, 0.462, 0.999, 1)] == [
        "0 %",
        "under 1 %",
        "46 %",
        "over 99 %",
        "100 %",
    ]
