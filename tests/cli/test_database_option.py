"""How a command is told its database without showing the password to everybody on the machine."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from beholder.cli.collect import collect
from beholder.cli.export import export
from beholder.cli.forget import forget
from beholder.cli.options import VARIABLE, database_options, database_url, has_password
from beholder.cli.researchers import researchers
from beholder.collect.database.address import DATABASE
from beholder.collect.researcher.child_processes import run_module
from beholder.collect.server.child_process import run_child

ADDRESS = "postgresql://anna:s3cret@db.example/study"


@click.command()
@database_options
def show(database: str | None) -> None:
    click.echo(f"address={database}")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "address"
    path.write_text(f"{ADDRESS}\n", encoding="utf-8")
    path.chmod(0o600)
    return path


def test_from_a_file_or_the_environment_nothing_is_warned_of(file: Path) -> None:
    by_file = CliRunner().invoke(show, ["--database-file", str(file)], env={VARIABLE: "postgresql://other"})
    assert (by_file.output, by_file.exit_code) == (f"address={ADDRESS}\n", 0)
    by_variable = CliRunner().invoke(show, [], env={VARIABLE: ADDRESS})
    assert (by_variable.output, by_variable.exit_code) == (f"address={ADDRESS}\n", 0)
    neither = CliRunner().invoke(show, [], env={VARIABLE: ""})
    assert neither.output == "address=None\n"


def test_a_password_on_the_command_line_is_warned_of() -> None:
    result = CliRunner().invoke(show, ["--database", ADDRESS], env={VARIABLE: ""})
    assert result.stdout == f"address={ADDRESS}\n"
    (line,) = result.stderr.splitlines()
    assert line.startswith("warning: ")
    assert VARIABLE in line
    assert "--database-file" in line
    assert "s3cret" not in line
    plain = CliRunner().invoke(show, ["--database", "postgresql://anna@db.example/study"], env={VARIABLE: ""})
    assert plain.stderr == ""


def test_a_file_that_others_may_read_is_warned_of(file: Path) -> None:
    file.chmod(0o644)
    result = CliRunner().invoke(show, ["--database-file", str(file)])
    assert "chmod 600" in result.stderr
    assert "s3cret" not in result.stderr


@pytest.mark.parametrize("content", ["", "two words", None])
def test_a_file_without_an_address_is_refused(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "address"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    result = CliRunner().invoke(show, ["--database-file", str(path)])
    assert result.exit_code != 0
    assert str(path) in str(result.exception)


def test_both_are_refused(file: Path) -> None:
    result = CliRunner().invoke(show, ["--database", ADDRESS, "--database-file", str(file)])
    assert result.exit_code == 2


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        (ADDRESS, True),
        ("postgresql://host/name?user=anna&password=x", True),
        ("postgresql://anna:p@ss@host/name", True),
        ("postgresql://anna@host:5432/name", False),
        ("postgresql://host:5432/name", False),
        ("sqlite:///study/collect.sqlite", False),
    ],
)
def test_what_holds_a_password(address: str, expected: bool) -> None:
    assert has_password(address) is expected


@pytest.mark.parametrize("command", [collect, export, forget, researchers])
def test_every_command_with_a_database_takes_all_ways(command: click.Command) -> None:
    options = {option: parameter for parameter in command.params for option in parameter.opts}
    assert options["--database"].envvar == VARIABLE == DATABASE
    assert "--database-file" in options


def test_children_are_told_by_the_environment_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    url, calls = database_url(tmp_path, ADDRESS), list[tuple[list[str], dict[str, str]]]()

    def run(command: list[str], *, env: dict[str, str], **_: Any) -> subprocess.CompletedProcess[str]:  # noqa: ANN401
        calls.append((command, env))
        return subprocess.CompletedProcess(command, 0, stdout="{}", stderr="")

    monkeypatch.setattr(subprocess, "run", run)
    run_module("some.module", url, tmp_path, "q", 3, "a reason", "anna")
    run_child("some.module", tmp_path, url=url)
    assert len(calls) == 2
    for command, env in calls:
        assert command[0] == sys.executable
        assert "s3cret" not in " ".join(command)
        assert env[DATABASE] == url


@pytest.mark.parametrize("command", ["collect", "researchers", "forget", "export"])
def test_a_database_that_cannot_be_reached_is_told_of_in_one_sentence(command: str, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / "study.toml").write_text('name = "s"\ntitle = "S"\n', encoding="utf-8")
    more = {"forget": ["--all-identities"], "export": ["--format", "csv", "--out", str(tmp_path / "out")]}
    ran = subprocess.run(
        [sys.executable, "-m", "beholder", command, str(folder), *more.get(command, [])],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=os.environ | {VARIABLE: "postgresql://anna:s3cret@127.0.0.1:1/study"},
    )
    assert ran.returncode == 2, ran.stderr
    assert "Traceback" not in ran.stderr
    assert "s3cret" not in ran.stderr
    assert ran.stderr.startswith("error: ")
