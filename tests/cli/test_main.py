"""The command line as a whole: help that is quick, and how errors leave it."""

import resource
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import click
import pytest

from beholder import __version__
from beholder.cli.main import COMMANDS, load_command, main
from beholder.errors import StudyError

HEAVY = ("torch", "polars", "numpy", "pydantic", "rich", "fastapi", "PIL", "scipy", "altair", "sqlalchemy")


def test_help_lists_every_command(run: Callable[..., Any]) -> None:
    for arguments in (("--help",), ("-h",)):
        ran = run(*arguments)
        assert ran.code == 0
        for name, (_, about) in COMMANDS.items():
            assert name in ran.out
            assert about in " ".join(ran.out.split())


@pytest.mark.parametrize("name", list(COMMANDS))
def test_each_command_is_there_and_says_what_the_list_says(name: str, run: Callable[..., Any]) -> None:
    place, about = COMMANDS[name]
    command = load_command(place)
    assert command.name == name
    assert (command.help or "").strip().splitlines()[0] == about
    assert len(f"  {name}  {about}") <= 80
    ran = run(name, "--help")
    assert ran.code == 0
    assert about in ran.out


def test_help_imports_nothing_heavy() -> None:
    script = (
        "import sys; from beholder.cli.main import main; code = main(['--help']);"
        f"print([name for name in {HEAVY!r} if name in sys.modules]); sys.exit(code)"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ended.stdout.splitlines()[-1] == "[]"


def test_help_is_quick() -> None:
    """Seconds of a processor, as other work on the machine makes it wait; best of several, as it slows it too."""
    best = float("inf")
    for _ in range(10):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-m", "beholder", "--help"], capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        if best < 0.3:
            return
    pytest.fail(f"beholder --help took {best:.2f} s at best")


def test_version(run: Callable[..., Any]) -> None:
    assert run("--version").out == f"beholder {__version__}\n"


def test_no_command_shows_the_help(run: Callable[..., Any]) -> None:
    ran = run()
    assert ran.code == 2
    assert "Commands:" in ran.out + ran.err


@pytest.mark.parametrize("arguments", [("nope",), ("--nope",), ("new",), ("tables", "--nope")])
def test_wrong_usage_is_told_with_code_2(run: Callable[..., Any], arguments: tuple[str, ...]) -> None:
    ran = run(*arguments)
    assert ran.code == 2
    assert ran.out == ""
    assert ran.err.startswith("Usage: beholder")


@pytest.mark.parametrize(("typed", "closest"), [("lern", "learn"), ("reprot", "report"), ("Score", "score")])
def test_a_misspelt_command_has_the_closest_named(run: Callable[..., Any], typed: str, closest: str) -> None:
    ran = run(typed, "study")
    assert ran.code == 2
    assert f"No such command '{typed}'. Did you mean '{closest}'?" in ran.err
    assert "Did you mean" not in run("xyzzy").err


def failing(error: BaseException) -> click.Command:
    @click.command("failing")
    def command() -> None:
        raise error

    return command


def put(monkeypatch: pytest.MonkeyPatch, command: click.Command) -> None:
    monkeypatch.setitem(COMMANDS, "failing", ("nowhere:failing", "Fail."))
    monkeypatch.setattr("beholder.cli.main.load_command", lambda _: command)


def test_the_users_fault_prints_no_traceback(run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    put(monkeypatch, failing(StudyError("study.toml", ["a [b] c", "d"], advice="Mend it.")))
    ran = run("failing")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "error: study.toml: 2 faults\n  - a [b] c\n  - d\nMend it.\n"


def test_our_fault_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    put(monkeypatch, failing(ZeroDivisionError("ours")))
    with pytest.raises(ZeroDivisionError, match="ours"):
        main(["failing"])


def test_an_interrupt_gives_130(run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    put(monkeypatch, failing(KeyboardInterrupt()))
    ran = run("failing")
    assert ran.code == 130
    assert ran.err.strip() == "interrupted"


def test_a_command_may_give_its_own_code(run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    put(monkeypatch, failing(click.exceptions.Exit(3)))
    assert run("failing").code == 3


def test_a_reader_that_goes_away_is_no_error() -> None:
    line = f"{sys.executable} -m beholder tables --markdown | head -n 1"
    ended = subprocess.run(line, shell=True, capture_output=True, text=True, check=True)
    assert ended.stdout == "# Tables\n"
    assert ended.stderr == ""


def test_a_full_disk_is_not_silent() -> None:
    line = f"{sys.executable} -m beholder tables > /dev/full"
    ended = subprocess.run(line, shell=True, capture_output=True, text=True, check=False)
    assert ended.returncode != 0
    assert "No space left" in ended.stderr
