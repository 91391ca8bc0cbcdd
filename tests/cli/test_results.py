"""Results in the terminal: leaderboard, inter-rater agreement and exclusions with reasons; and as JSON."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from beholder.api.results import load_results
from beholder.cli.main import COMMANDS, load_command
from beholder.collect.stage import run as collect
from beholder.design.stage import run as design
from beholder.report.tables.leaderboard import format_board
from beholder.study.kinds.pair import PairQuestion
from beholder.study.question import Design, Screening
from beholder.tables.store import Store

Run = Callable[..., Any]
RATERS, BAD = 12, 3


def pair_question(screening: Screening) -> PairQuestion:
    return PairQuestion(
        name="preference", design=Design(raters=RATERS, trials=20, attention_every=5), screening=screening
    )


@pytest.fixture
def answered(painted_study: Callable[..., Path]) -> Path:
    """Twelve raters have answered, three of them badly."""
    folder = painted_study(
        pair_question(Screening(min_seconds=0.5, max_attention_failures=1, max_same_share=0.95))
    )
    design(folder)
    collect(folder, people=RATERS, bad=BAD)
    return folder


@pytest.fixture
def all_excluded(painted_study: Callable[..., Path]) -> Path:
    """Raters of whom none passes the screening."""
    folder = painted_study(pair_question(Screening(min_seconds=10_000)), name="strict")
    design(folder)
    collect(folder, people=3)
    return folder


@pytest.mark.parametrize("command", ["consolidate", "rank", "run"])
def test_the_leaderboard_agreement_and_exclusions_are_printed(run: Run, answered: Path, command: str) -> None:
    if command == "rank":
        assert run("consolidate", answered, "--quiet").code == 0
    ran = run(command, answered)
    assert ran.code == 0
    results = load_results(answered)
    (board,) = results.headlines
    assert len(board.rows) == 5
    assert format_board(board) in ran.out
    assert "inter-rater agreement\n  preference  Krippendorff’s α, nominal  " in ran.out
    raters = Store(answered).read("raters")
    excluded = raters.filter(~raters["used"])
    assert excluded.height >= 1
    assert f"preference: {excluded.height} of 12 raters excluded by screening" in ran.out
    for rater, reasons in excluded.select("rater", "reasons").iter_rows():
        assert f"  {rater}  {'; '.join(reasons)}\n" in ran.out
    assert run(command, answered).out.count("rank: unchanged") == 1


@pytest.mark.parametrize("command", ["consolidate", "rank", "run"])
def test_the_numbers_as_json(run: Run, answered: Path, command: str) -> None:
    assert run("consolidate", answered, "--quiet").code == 0
    content = json.loads(run(command, answered, "--json").out)
    ratings = Store(answered).read("ratings")
    overall = next(board for board in content["leaderboards"] if board["slice"] == "all")
    by_hand = dict(ratings.filter(ratings["slice"] == "all").select("generator", "rating").iter_rows())
    assert {row["generator"]: row["rating"] for row in overall["rows"]} == pytest.approx(by_hand)
    assert len(overall["pairs"]) == 10
    first = content["agreement"][0]
    assert (first["question"], first["statistic"]) == ("preference", "krippendorff-alpha-nominal")
    (raters,) = content["raters"]
    assert raters["took_part"] == RATERS
    assert raters["used"] + len(raters["excluded"]) == RATERS
    assert all(rater["reasons"] for rater in raters["excluded"])
    assert content["include_excluded"] is False
    assert "rank" in [stage["stage"] for stage in content["stages"]]


def test_quiet_prints_what_was_done_and_ranks_nothing(run: Run, answered: Path) -> None:
    ran = run("consolidate", answered, "--quiet")
    assert len(ran.out.splitlines()) == 1
    assert not Store(answered).has("ratings")


def test_a_stale_leaderboard_is_not_printed(run: Run, answered: Path) -> None:
    run("consolidate", answered)
    assert load_results(answered).headlines
    run("consolidate", answered, "--include-excluded", "--quiet")
    assert not load_results(answered).headlines


@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_command_prints_json(name: str) -> None:
    options = {option for parameter in load_command(COMMANDS[name][0]).params for option in parameter.opts}
    assert "--json" in options


@pytest.mark.parametrize("command", ["rank", "run"])
def test_where_nothing_can_be_rated_the_reasons_are_printed(run: Run, all_excluded: Path, command: str) -> None:
    run("consolidate", all_excluded, "--quiet")
    ran = run(command, all_excluded)
    assert ran.code == 2
    assert "no generator can be rated: screening leaves the answers of 0 of 3 raters" in ran.err
    assert ran.err.count("s, at least 10000 s expected") == 3
    assert "--include-excluded" in ran.err
    assert str(all_excluded) not in ran.err
    assert ".parquet" not in ran.err


def test_consolidating_succeeds_where_nothing_can_be_rated(run: Run, all_excluded: Path) -> None:
    ran = run("consolidate", all_excluded)
    assert ran.code == 0
    assert "preference: 3 of 3 raters excluded by screening" in ran.out
    assert "no generator can be rated" in ran.out


@pytest.mark.parametrize("command", ["consolidate", "rank", "run"])
def test_excluded_raters_can_be_included_and_that_is_marked(run: Run, all_excluded: Path, command: str) -> None:
    ran = run(command, all_excluded, "--include-excluded")
    assert ran.code == 0
    assert "With the answers of raters whom screening excludes (--include-excluded)" in ran.out
    assert "preference: 3 of 3 raters excluded by screening, but included here" in ran.out
    assert "Bradley–Terry" in ran.out
    store = Store(all_excluded)
    for table in ("raters", "judgements", "labels", "ratings", "separations"):
        record = store.provenance(table)
        assert record is not None
        assert record.settings["include_excluded"] is True
    assert store.read("raters")["used"].all()
    assert json.loads(run("rank", all_excluded, "--json").out)["include_excluded"] is True
    if command == "run":
        page = (all_excluded / "report.html").read_text(encoding="utf-8")
        assert "Excluded raters are included." in page
        assert "No rater was excluded" not in page


def test_without_the_flag_they_are_excluded_again(run: Run, answered: Path) -> None:
    run("run", answered)
    before = Store(answered).read("ratings")
    run("run", answered, "--include-excluded")
    assert not Store(answered).read("ratings").equals(before)
    ran = run("run", answered)
    assert "--include-excluded" not in ran.out
    assert Store(answered).read("ratings").equals(before)
    assert "Excluded raters are included." not in (answered / "report.html").read_text(encoding="utf-8")


def test_help_names_the_flag() -> None:
    for name in ("consolidate", "rank", "run"):
        command = load_command(COMMANDS[name][0])
        assert "--include-excluded" in command.get_help(click.Context(command))
