"""``beholder plan``: the table, the formula's line, and every fault in a sentence."""

import json
from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., Any]


def test_the_table_and_the_formula(run: Run) -> None:
    ran = run("plan", "hpd-pairs", "--difference", "0.1", "--raters", "5,40", "--studies", "50", "--trials", "60")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0] == "hpd-pairs: to separate two of 2 generators that differ by 10.0% of all answers"
    assert lines[1].startswith("60 answers per rater about the two; 100 images per generator; 5% of the variance")
    # 60 trials of 6 s, 10 repeated and 2 attention checks: 72 × 6 s = 7.2 min, at 12 an hour 1.44
    assert lines[2] == "pay: 1.44 per rater for 7 min, 12.00 an hour"
    header, few, many = (line.split() for line in lines[4:] if line and line[0] not in "─—-B")
    assert header[:3] == ["raters", "answers", "power"]
    assert (few[:2], many[:2]) == (["5", "300"], ["40", "2,400"])
    assert int(few[2].rstrip("%")) < int(many[2].rstrip("%"))
    # 194 votes for 60 %; × 1 + 59 · .05 = 3.95: 766.3, so 767, of 13 raters (12.8)
    assert lines[-1] == (
        "By formula, for a power of 80%: 194 answers if all were independent; × 3.95 because each rater gives "
        "several = 767, from 13 raters."
    )


def test_as_json(run: Run) -> None:
    call = (
        "plan",
        "mos",
        "--difference",
        "0.5",
        "--raters",
        "8",
        "--studies",
        "50",
        "--rater-share",
        "0",
        "--json",
    )
    ran = run(*call)
    content = json.loads(ran.out)
    assert content["formula"]["independent_answers"] == 51
    assert content["formula"]["design_effect"] == 1
    assert [point["raters"] for point in content["power"]] == [8]
    assert content["power"][0]["power"]["value"] == 1  # 8 raters, 50 images of each
    assert json.loads(run(*call).out) == content
    assert json.loads(run(*call, "--seed", "1", "--difference", "0.05").out) != content


def test_a_row_is_the_same_whatever_stands_beside_it(run: Run) -> None:
    alone, beside = (
        json.loads(run("plan", "hpd-pairs", "--raters", sizes, "--studies", "50", "--json").out)["power"]
        for sizes in ("20", "10,20")
    )
    assert alone[0] == beside[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("hpd-pairs", "--raters", "1,20"), "'1,20' is not a list of whole numbers from 2, such as 20,50,100"),
        (("hpd-pairs", "--raters", "many"), "'many' is not a list of whole numbers"),
        (("hpd-pairs", "--difference", "0.6"), "it must stay below 100 %"),
        (("hpd-pairs", "--wage", "5"), "a wage of 5.00 an hour; a study's minimum_hourly is 12.00"),
        (("hype-time",), "questions of kind timed-realism cannot be planned"),
        (("nothing",), "'nothing' is not one of"),
    ],
)
def test_faults(run: Run, arguments: tuple[str, ...], message: str) -> None:
    ran = run("plan", *arguments, "--studies", "50")
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err


def test_a_low_wage_can_be_accepted(run: Run) -> None:
    ran = run("plan", "hpd-pairs", "--raters", "5", "--studies", "50", "--wage", "5", "--accept-low-pay", "--json")
    assert ran.code == 0
    assert json.loads(ran.out)["pay"]["hourly"] == 5
