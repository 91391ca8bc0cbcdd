import numpy as np

from beholder.learn.rich.exchange import exchanges
from beholder.study.words import split_words

PROMPTS = (
    "a red cat, photo",
    "a blue cat, sketch",
    "a blue dog, photo",
    "a red dog, photo",
    "two Red cats, photo",
    "a red cat, sketch",
)


def test_words_that_stand_between_the_same_two() -> None:
    found = exchanges(PROMPTS)
    words = split_words("a red cat, photo")
    assert found.others(words, 1) == ("blue",)  # a … cat
    assert found.others(words, 2) == ("dog",)  # red … photo; "a … cats" was never seen
    assert found.others(words, 0) == ()  # nor was "two … cat", though "two red" was
    assert found.others(split_words("two red cats, photo"), 2) == ()
    assert found.others(words, 3) == ("sketch",)
    assert found.others(split_words("a green bird"), 1) == ()


def test_one_word_is_exchanged_and_missed() -> None:
    found = exchanges(PROMPTS)
    for seed in range(20):
        made = found.exchanged("a red cat, photo", (False, True, False, False), np.random.default_rng(seed))
        assert made is not None
        prompt, flags = made
        words = split_words(prompt)
        changed = [one != other for one, other in zip(words, ("a", "red", "cat", "photo"), strict=True)]
        assert sum(changed) == 1
        assert not changed[1]  # people miss it as it is
        assert flags == tuple(
            here or before for here, before in zip(changed, (False, True, False, False), strict=True)
        )


def test_nothing_to_exchange() -> None:
    rng = np.random.default_rng(0)
    assert exchanges(PROMPTS).exchanged("a green bird", (False,) * 3, rng) is None
    assert exchanges(PROMPTS).exchanged("a red cat", (True,) * 3, rng) is None
    assert exchanges(PROMPTS).exchanged("", (), rng) is None
