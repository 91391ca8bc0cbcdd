import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beholder.errors import FaultsError, UserError
from beholder.simulate.grammar import (
    COLOURS,
    COUNT_WORDS,
    OBJECTS,
    PLURALS,
    Attribute,
    Group,
    Request,
    count_prompts,
    draw_request,
    draw_requests,
    parse_prompt,
    prompt_text,
    stated,
)
from beholder.simulate.objects import PATCHES
from beholder.simulate.palette import COLOUR_RGB, LIGHTS
from beholder.study.words import split_words

requests = st.integers(0, 2**32 - 1).map(lambda seed: draw_request(np.random.default_rng(seed)))

EXAMPLE = Request(
    (Group(3, "small", "red", "star"), Group(1, "large", "blue", "house")), "above", "in a meadow", "cartoon"
)


def test_says_the_example_of_the_design() -> None:
    assert prompt_text(EXAMPLE) == "three small red stars above a large blue house, in a meadow, cartoon style"


def test_knows_the_positions_in_the_example() -> None:
    # three small red stars above a large blue house in  a  meadow cartoon style
    # 0     1     2   3     4     5 6     7    8     9  10 11     12      13
    assert stated(EXAMPLE) == {
        Attribute("count", 0): (0,),
        Attribute("size", 0): (1,),
        Attribute("colour", 0): (2,),
        Attribute("object", 0): (3,),
        Attribute("relation"): (4,),
        Attribute("count", 1): (5,),
        Attribute("size", 1): (6,),
        Attribute("colour", 1): (7,),
        Attribute("object", 1): (8,),
        Attribute("setting"): (9, 10, 11),
        Attribute("style"): (12,),
    }


def test_says_an_before_a_vowel_and_two_words_of_a_relation() -> None:
    request = Request(
        (Group(1, "", "orange", "ball"), Group(2, "", "red", "fish")), "left of", "at sunset", "photo"
    )
    assert prompt_text(request) == "an orange ball left of two red fish, at sunset, photo style"
    assert stated(request)[Attribute("relation")] == (3, 4)
    assert Attribute("size", 0) not in stated(request)


def test_an_unstated_relation_is_not_an_attribute() -> None:
    request = Request((Group(1, "", "red", "ball"), Group(1, "", "red", "cat")), "and", "at sunset", "photo")
    assert Attribute("relation") not in stated(request)


def test_counts_its_prompts() -> None:
    # 17 objects × 4 counts × 3 sizes × 9 colours = 1836 groups; a pair adds 16 × 108 other groups and 5 relations;
    # times 8 settings × 4 styles
    assert count_prompts() == (1836 + 1836 * 16 * 108 * 5) * 32
    assert count_prompts() > 100_000


@given(requests)
def test_reading_a_prompt_back_gives_the_request(request: Request) -> None:
    assert parse_prompt(prompt_text(request)) == request


@given(requests)
def test_positions_point_at_the_words(request: Request) -> None:
    words = split_words(prompt_text(request))
    phrases = {attribute: " ".join(words[i] for i in where) for attribute, where in stated(request).items()}
    for index, group in enumerate(request.groups):
        assert phrases[Attribute("colour", index)] == group.colour
        assert phrases[Attribute("object", index)] in (group.kind, PLURALS[group.kind])
        assert phrases[Attribute("count", index)].replace("an", "a") == COUNT_WORDS[group.count - 1]
        assert phrases.get(Attribute("size", index), "") == group.size
    assert phrases[Attribute("setting")] == request.setting
    assert phrases[Attribute("style")] == request.style
    everywhere = [position for where in stated(request).values() for position in where]
    assert len(everywhere) == len(set(everywhere))


def test_draws_distinct_prompts_and_the_same_ones_again() -> None:
    first = draw_requests(2000, np.random.default_rng(7))
    assert len({prompt_text(request) for request in first}) == 2000
    assert first == draw_requests(2000, np.random.default_rng(7))
    with pytest.raises(UserError, match="cannot draw -1"):
        draw_requests(-1, np.random.default_rng(7))


def test_tells_all_faults_of_a_request_at_once() -> None:
    with pytest.raises(FaultsError) as caught:
        Request((Group(5, "huge", "mauve", "yak"),), "above", "in space", "fresco")
    assert len(caught.value.faults) == 7
    assert "count is 5, expected 1 to 4" in str(caught.value)


@pytest.mark.parametrize(
    "text", ["", "a yak", "two red ball, at sunset, photo style", "a red ball", "a red ball photo"]
)
def test_refuses_what_it_cannot_read(text: str) -> None:
    with pytest.raises(UserError, match="expected"):
        parse_prompt(text)


def test_every_word_can_be_painted() -> None:
    assert set(PATCHES) == set(OBJECTS)
    assert set(COLOUR_RGB) == set(COLOURS)
    assert {request.setting for request in draw_requests(400, np.random.default_rng(1))} == set(LIGHTS)


def test_colours_are_well_apart() -> None:
    rgb = np.array([COLOUR_RGB[name] for name in COLOURS])
    gaps = np.linalg.norm(rgb[:, None] - rgb[None, :], axis=2)[np.triu_indices(len(rgb), 1)]
    assert gaps.min() > 0.25
