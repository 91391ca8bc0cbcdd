import numpy as np

from beholder.learn.rich.exchange import Exchanges, exchanges
from beholder.study.words import split_words

ALL_MISSED = (True,) * 4
PROMPTS = (
    "a red cat, photo",
    "a blue cat, sketch",
    "a blue dog, photo",
    "a red dog, photo",
    "two Red cats, photo",
    "a red cat, sketch",
)


def words_of_prompts() -> Exchanges:
    return exchanges((prompt, ALL_MISSED) for prompt in PROMPTS)


def test_words_that_stand_between_the_same_two() -> None:
    found = words_of_prompts()
    words = split_words("a red cat, photo")
    assert found.others(words, 1) == ("blue",)  # a … cat
    assert found.others(words, 2) == ("dog",)  # red … photo; "a … cats" was never seen
    assert found.others(words, 0) == ()  # nor was "two … cat", though "two red" was
    assert found.others(split_words("two red cats, photo"), 2) == ()
    assert found.others(words, 3) == ("sketch",)
    assert found.others(split_words("a green bird"), 1) == ()


def test_one_word_is_exchanged_and_missed() -> None:
    found = words_of_prompts()
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
    assert words_of_prompts().exchanged("a green bird", (False,) * 3, rng) is None
    assert words_of_prompts().exchanged("a red cat", (True,) * 3, rng) is None
    assert words_of_prompts().exchanged("", (), rng) is None


def test_only_words_that_people_miss_at_times() -> None:
    here, nowhere = (False, True, False), (False,) * 3
    once = [("cat and dog", here), *[("cat and dog", nowhere)] * 200]  # a slip
    found = exchanges([("cat above dog", here), ("cat below dog", here), ("cat and dog", None), *once])
    assert found.others(("cat", "above", "dog"), 1) == ("below",)
    assert found.others(("cat", "and", "dog"), 1) == ()
    assert found.exchanged("cat and dog", nowhere, np.random.default_rng(0)) is None


def test_words_that_are_missed_together() -> None:
    said = [
        *[("cat left of dog", (False, True, True, False))] * 6,
        *[("cat right of dog", (False, True, True, False))] * 6,
        *[("cat left of dog", (False, False, False, False))] * 6,
        *[("red cat", (True, True))] * 4,
        *[("red cat", (True, False))] * 6,
        *[("blue dog", (True, True))] * 5,  # too few to tell
    ]
    found = exchanges(said)
    assert found.together == {("left", "of"), ("right", "of")}
    made = found.exchanged("cat left of dog", (False,) * 4, np.random.default_rng(0))
    assert made == ("cat right of dog", (False, True, True, False))
