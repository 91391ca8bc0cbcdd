import pytest

from beholder.prompts.identities import COUNTERFACTUAL, find_identities, identity_swaps, identity_words, skeleton
from beholder.prompts.writing.swaps import swap


@pytest.mark.parametrize("dimension", COUNTERFACTUAL[1:])
def test_a_swap_gives_the_same_skeleton_in_another_group(dimension: str) -> None:
    for word in identity_swaps()[dimension]:
        text = f"a {word} person by a house" if dimension != "dialect" else f"a {word} by a house"
        (new,) = swap(text, "p", [dimension])
        before, after = skeleton(text, dimension), skeleton(new.text, dimension)
        assert before is not None
        assert after is not None
        assert before[0] == after[0]
        assert before[1] != after[1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("an old truck", "an old lorry"),
        ("an American nurse", "a Nigerian nurse"),
        ("an African man", "a European man"),
        ("a young woman", "an old woman"),
    ],
)
def test_articles_follow_the_word(text: str, expected: str) -> None:
    assert expected in {new.text for new in swap(text, "p")}


def test_only_the_living_have_an_age_and_quotes_name_nobody() -> None:
    assert not [each for each in find_identities("an old truck") if each.dimension == "age"]
    assert [each.group for each in find_identities("an old dog") if each.dimension == "age"] == ["old"]
    assert find_identities('a sign that says "gay man"') == []


def test_a_prompt_of_two_groups_has_no_counterpart() -> None:
    assert skeleton("a man and a woman", "gender") is None
    assert skeleton("a woman and her dog", "gender") == ("a {} and {} dog", "female")


def test_no_word_is_in_two_groups() -> None:
    for groups in identity_words().values():
        words = [word for group in groups.values() for word in group]
        assert len(words) == len(set(words))
