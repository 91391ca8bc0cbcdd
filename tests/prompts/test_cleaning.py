"""Style words are cut with their evidence, and cleaning a cleaned prompt changes nothing."""

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beholder.errors import PromptsError
from beholder.prompts.cleaning.by_command import clean_by_command
from beholder.prompts.cleaning.clean import NOTHING_LEFT, clean
from beholder.prompts.cleaning.rules import RULES
from beholder.prompts.command import run_command

PARTS = (
    *("a castle on a hill", "two cats", "A man by the sea.", "portrait of a queen", "((a red fox))"),
    *(
        "trending on artstation",
        "8k",
        "highly detailed",
        "by greg rutkowski",
        "art by Alphonse Mucha",
        "octane render",
    ),
    *(
        "--ar 16:9",
        "in the style of Hokusai",
        "sharp focus and bokeh",
        "unreal engine 5",
        "f/1.8",
        "::2",
        "smooth, crisp",
    ),
)
JOINED = st.lists(st.sampled_from(PARTS), min_size=1, max_size=7).flatmap(
    lambda parts: st.sampled_from([", ", ". ", " | ", " "]).map(lambda mark: mark.join(parts))
)


@pytest.mark.parametrize(
    ("text", "cleaned", "rules"),
    [
        ("a castle on a hill", "a castle on a hill", []),
        ("A castle. ", "A castle. ", []),
        (
            "a castle, fog, by greg rutkowski and alphonse mucha, 4k, trending on artstation",
            "a castle, fog",
            ["quality", "platform", "artist"],
        ),
        ("Oil painting of a cat in the style of Michael Whelan.", "Oil painting of a cat.", ["artist"]),
        (
            "A cyberpunk car in a dark city, created by Nicholas Hiatt.",
            "A cyberpunk car in a dark city",
            ["artist"],
        ),
        ("a man standing by the sea, by night", "a man standing by the sea, by night", []),
        ("black paper:: zodiac::2 --ar 9:16", "black paper zodiac", ["parameters", "weights", "weights"]),
        ("The smooth, cool surface of a lake", "The smooth, cool surface of a lake", []),
        ("a detailed map of a city", "a detailed map of a city", []),
    ],
)
def test_hand_worked(text: str, cleaned: str, rules: list[str]) -> None:
    outcome = clean(text)
    assert outcome.text == cleaned
    assert [cut.rule for cut in outcome.cuts] == rules


def test_every_cut_says_where_it_stood() -> None:
    text = "a castle, 8k, fog, by Greg Rutkowski --ar 16:9"
    for cut in clean(text).cuts:
        assert text[cut.start : cut.end] == cut.removed
        assert cut.evidence


def test_a_prompt_of_style_words_alone_stays() -> None:
    outcome = clean("octane render, 8k")
    assert (outcome.text, outcome.cuts, outcome.note) == ("octane render, 8k", (), NOTHING_LEFT)


def test_rules_can_be_chosen() -> None:
    assert clean("a castle, 8k, by Greg Rutkowski", rules=["quality"]).text == "a castle, by Greg Rutkowski"


@given(JOINED)
def test_cleaning_is_idempotent_on_prompts(text: str) -> None:
    once = clean(text)
    again = clean(once.text)
    assert (again.text, again.cuts) == (once.text, ())


@given(st.text(alphabet="ab,. |:;()[]-8kbyGR\n", max_size=40))
def test_cleaning_is_idempotent_on_any_text(text: str) -> None:
    once = clean(text).text
    assert clean(once).text == once


@given(JOINED)
def test_only_style_words_and_loose_punctuation_are_lost(text: str) -> None:
    outcome = clean(text)
    left = list(text)
    for cut in outcome.cuts:
        left[cut.start : cut.end] = [""] * (cut.end - cut.start)
    if not outcome.note:
        assert "".join(filter(str.isalnum, "".join(left))) == "".join(filter(str.isalnum, outcome.text))


def test_cleaning_all_shared_prompts_again_changes_nothing(all_texts: list[str]) -> None:
    for text in all_texts[::7]:
        once = clean(text).text
        assert clean(once).text == once


def script(folder: Path, body: str) -> str:
    path = folder / "tool.py"
    path.write_text(f"import json, sys\n{body}\n", encoding="utf-8")
    return f"{sys.executable} {path}"


def test_a_command_of_the_users_cleans(tmp_path: Path) -> None:
    shorten = (
        "for line in sys.stdin:\n"
        "    row = json.loads(line)\n"
        "    row['prompt'] = row['prompt'].replace(', 8k', '').replace('Cat', 'cat')\n"
        "    print(json.dumps(row))"
    )
    cleaned = clean_by_command(script(tmp_path, shorten), {"x": "a Cat on a mat, 8k", "y": "a dog"})
    assert cleaned["x"].text == "a cat on a mat"
    assert [(cut.removed, cut.evidence) for cut in cleaned["x"].cuts] == [
        ("Cat", "replaced by: cat"),
        ("mat, 8k", "replaced by: mat"),
    ]
    assert cleaned["y"].cuts == ()


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("sys.exit('no model here')", "exit code 1: no model here"),
        ("print('hello')", 'line 1: {"id": …, "prompt": …} is expected, found: hello'),
        ("print(json.dumps({'id': 'z', 'prompt': 'a cat'}))", "id 'z' was not sent"),
        ("print(json.dumps({'id': 'x', 'prompt': ' '}))", "line 1: an empty prompt"),
        ("pass", "prompt x: 0 answers, 1 is expected"),
    ],
)
def test_a_command_that_does_not_answer_as_it_should(tmp_path: Path, body: str, message: str) -> None:
    with pytest.raises(PromptsError) as error:
        clean_by_command(script(tmp_path, body), {"x": "a cat"})
    assert message in str(error.value)


def test_a_command_that_is_not_there_or_hangs(tmp_path: Path) -> None:
    with pytest.raises(PromptsError, match="cannot be started"):
        run_command("/no/such/program", {"x": "a cat"})
    with pytest.raises(PromptsError, match=r"no end after 0.3 s"):
        run_command(script(tmp_path, "import time; time.sleep(30)"), {"x": "a cat"}, seconds=0.3)


def test_every_rule_cuts_something() -> None:
    text = "((a cat)), 8k, artstation, octane, bokeh, by Greg Rutkowski --ar 1:1"
    assert {cut.rule for cut in clean(text).cuts} == set(RULES)
