"""Results in the terminal: leaderboard, inter-rater agreement and exclusions with reasons; and as JSON."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import polars as pl
import pytest

from beholder.api.results import load_results
from beholder.api.studies import open_study
from beholder.cli.main import COMMANDS, load_command
from beholder.collect.stage import run as collect
from beholder.design.stage import run as design
from beholder.report.tables.leaderboard import format_board
from beholder.study.kinds.pair import PairQuestion
from beholder.study.question import Design, Screening
from beholder.tables.provenance import Provenance
from beholder.tables.store import TRUTH_ROOM, Store

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


def test_simulated_answers_are_marked(run: Run, answered: Path) -> None:
    """A leaderboard of simulated raters must not pass for a finding, least of all about images nobody knows."""
    mark, invented = (
        "\nSimulated raters gave these answers.",
        "this is a rehearsal, no finding about the generators.",
    )
    painted = run("run", answered)
    assert mark in painted.out
    assert invented not in painted.out
    content = json.loads(run("run", answered, "--json").out)
    assert (content["simulated"], content["invented_qualities"], content["unrated"]) == (True, False, {})
    Store(answered, TRUTH_ROOM).path("scores").unlink()
    assert f"{mark} They know nothing about your images: {invented}\n" in run("run", answered).out
    store = Store(answered)
    people = store.read("sessions").with_columns(simulated=pl.lit(value=False))
    store.write({"sessions": people}, Provenance("collect", {}, 0, {}))
    assert mark not in run("consolidate", answered).out


@pytest.mark.parametrize(
    ("raters", "words"),
    [
        (4, "With 4 raters the study is too small for confidence intervals, which take 5, and for a verdict"),
        (7, "With 7 raters the study is too small for a verdict, which takes 8"),
        (8, ""),
    ],
)
def test_too_few_raters_for_a_verdict_are_named_first(
    run: Run, painted_study: Callable[..., Path], raters: int, words: str
) -> None:
    folder = painted_study(pair_question(Screening()))
    printed = run("run", folder, "--simulate", raters).out
    too_small = "the study is too small"
    assert printed.count(too_small) == repr(open_study(folder).leaderboard()).count(too_small) == bool(words)
    if words:
        assert printed.index(words) < printed.index("rank  generator")


def test_generators_without_answers_that_count_are_named(run: Run, answered: Path) -> None:
    run("consolidate", answered, "--quiet")
    run("rank", answered, "--quiet")
    store = Store(answered)
    ratings, record = store.read("ratings"), store.provenance("ratings")
    assert record is not None
    left_out = ratings["generator"].sort()[0]
    store.write({"ratings": ratings.filter(pl.col("generator") != left_out)}, record)
    results = load_results(answered)
    assert results.unrated == {"preference": (left_out,)}


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
    command = load_command(COMMANDS[name][0])
    for each in command.commands.values() if isinstance(command, click.Group) else [command]:
        options = {option for parameter in each.params for option in parameter.opts}
        assert "--json" in options, each.name


def test_with_json_nothing_else_is_printed(run: Run, sources: Path, tmp_path: Path) -> None:
    """Every command of a core install in a row, on one study: each prints one JSON document to stdout."""
    study, image = tmp_path / "study", sources / "a" / "0.png"
    generated = [part for name in ("a", "b") for part in ("--generated", f"{name}={sources / name}")]
    potato_project = Path(__file__).parents[1] / "formats" / "exports" / "potato-2.12.1" / "pairs"
    commands: list[tuple[object, ...]] = [
        ("plan", "hpd-pairs", "--raters", "5", "--studies", "50"),
        ("protocols",),
        ("protocols", "mos"),
        ("tables",),
        ("new", "hpd-pairs", study, *generated),
        ("design", study),
        ("collect", study, "--simulate", "3"),
        ("consolidate", study, "--include-excluded"),
        ("rank", study, "--include-excluded"),
        ("report", study),
        ("run", study, "--include-excluded"),
        ("tables", study),
        ("export", study, "--format", "csv", "--out", tmp_path / "out"),
        ("score", image, "--scorer", "sharpness"),
        ("import", "potato", potato_project, tmp_path / "imported"),
    ]
    for command in commands:
        ran = run(*command, "--json")
        assert ran.code == 0, (command, ran.err)
        assert json.loads(ran.out), command


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
        for name in ("report.html", "images.html"):
            page = (all_excluded / name).read_text(encoding="utf-8")
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
