import numpy as np

from beholder.learn.rich.word_exchange import WordExchanges, find_word_exchanges
from beholder.study.words import split_words

ALL_MISALIGNED = (True,) * 4
PROMPTS = (
    "a red cat, photo",
    "a blue cat, sketch",
    "a blue dog, photo",
    "a red dog, photo",
    "two Red cats, photo",
    "a red cat, sketch",
)


def words_of_prompts() -> WordExchanges:
    return find_word_exchanges((prompt, ALL_MISALIGNED) for prompt in PROMPTS)


def test_words_that_occur_between_the_same_two() -> None:
    exchanges = words_of_prompts()
    words = split_words("a red cat, photo")
    assert exchanges.replacements(words, 1) == ("blue",)  # a … cat
    assert exchanges.replacements(words, 2) == ("dog",)  # red … photo; "a … cats" was never seen
    assert exchanges.replacements(words, 0) == ()  # nor was "two … cat", though "two red" was
    assert exchanges.replacements(split_words("two red cats, photo"), 2) == ()
    assert exchanges.replacements(words, 3) == ("sketch",)
    assert exchanges.replacements(split_words("a green bird"), 1) == ()


def test_one_word_is_exchanged_and_misaligned() -> None:
    exchanges = words_of_prompts()
    for seed in range(20):
        exchanged = exchanges.exchange(
            "a red cat, photo", (False, True, False, False), np.random.default_rng(seed)
        )
        assert exchanged is not None
        prompt, flags = exchanged
        words = split_words(prompt)
        changed = [word != original for word, original in zip(words, ("a", "red", "cat", "photo"), strict=True)]
        assert sum(changed) == 1
        assert not changed[1]  # it is misaligned already
        assert flags == tuple(
            here or before for here, before in zip(changed, (False, True, False, False), strict=True)
        )


def test_nothing_to_exchange() -> None:
    rng = np.random.default_rng(0)
    assert words_of_prompts().exchange("a green bird", (False,) * 3, rng) is None
    assert words_of_prompts().exchange("a red cat", (True,) * 3, rng) is None
    assert words_of_prompts().exchange("", (), rng) is None


def test_only_words_that_raters_sometimes_call_misaligned() -> None:
    in_the_middle, nowhere = (False, True, False), (False,) * 3
    once = [("cat and dog", in_the_middle), *[("cat and dog", nowhere)] * 200]  # a slip
    exchanges = find_word_exchanges(
        [("cat above dog", in_the_middle), ("cat below dog", in_the_middle), ("cat and dog", None), *once]
    )
    assert exchanges.replacements(("cat", "above", "dog"), 1) == ("below",)
    assert exchanges.replacements(("cat", "and", "dog"), 1) == ()
    assert exchanges.exchange("cat and dog", nowhere, np.random.default_rng(0)) is None


def test_words_that_are_misaligned_together() -> None:
    labelled_prompts = [
        *[("cat left of dog", (False, True, True, False))] * 6,
        *[("cat right of dog", (False, True, True, False))] * 6,
        *[("cat left of dog", (False, False, False, False))] * 6,
        *[("red cat", (True, True))] * 4,
        *[("red cat", (True, False))] * 6,
        *[("blue dog", (True, True))] * 5,  # too few to count
    ]
    exchanges = find_word_exchanges(labelled_prompts)
    assert exchanges.together == {("left", "of"), ("right", "of")}
    exchanged = exchanges.exchange("cat left of dog", (False,) * 4, np.random.default_rng(0))
    assert exchanged == ("cat right of dog", (False, True, True, False))
