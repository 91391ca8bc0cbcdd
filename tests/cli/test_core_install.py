"""A core install, without the extras: every command shows its help, and says in one sentence what it needs."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from beholder.cli.main import COMMANDS, EXTRAS, extra_with

ROOT = Path(__file__).parents[2]

BLOCK = """
import json, sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Blocked())
from beholder.cli.main import main

ran = []
for arguments in {calls!r}:
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main(arguments)
    ran.append([code, out.getvalue(), err.getvalue()])
print(json.dumps(ran))
"""


def without_extras(calls: list[list[str]]) -> list[tuple[int, str, str]]:
    """Exit code, output and errors of command lines, in a process that has none of the extras' modules."""
    blocked = [module for modules in EXTRAS.values() for module in modules]
    script = BLOCK.format(blocked=blocked, calls=calls)
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return [(code, out, err) for code, out, err in json.loads(ended.stdout)]


def test_every_command_shows_its_help() -> None:
    ran = without_extras([[name, "--help"] for name in COMMANDS])
    for name, (code, out, err) in zip(COMMANDS, ran, strict=True):
        assert (code, err) == (0, ""), name
        assert COMMANDS[name][1] in out


def test_what_needs_an_extra_says_which(sources: Path, tmp_path: Path) -> None:
    study, image = str(tmp_path / "s"), str(sources / "a" / "0.png")
    generated = ["--generated", f"a={sources / 'a'}", "--generated", f"b={sources / 'b'}"]
    (created, *ran) = without_extras(
        [
            ["new", "hpd-pairs", study, *generated, "--real", str(sources / "real")],
            ["learn", study, "--recipe", "tiny-two-tower"],
            ["evaluate", study, "some-model"],
            ["measure", study],
            ["distance", str(sources / "real"), str(sources / "a")],
            ["score", image, "--scorer", "hps-v2", "--prompt", "a cat"],
            ["explain", image, "--model", study, "--prompt", "a cat"],
            ["researchers", study, "--database", "postgresql://nobody@localhost/none"],
        ]
    )
    assert created[0] == 0, created
    for number, (code, out, err) in enumerate(ran):
        extra = "models" if number < len(ran) - 1 else "scale"
        assert (code, out) == (2, ""), err
        assert err.startswith("error: ")
        assert len(err.splitlines()) == 1
        assert f'pip install "beholder[{extra}]"' in err


def test_a_core_study_runs_without_them(sources: Path, tmp_path: Path) -> None:
    study = str(tmp_path / "s")
    generated = ["--generated", f"a={sources / 'a'}", "--generated", f"b={sources / 'b'}"]
    image = str(sources / "a" / "0.png")
    ran = without_extras(
        [
            ["new", "hpd-pairs", study, *generated],
            ["run", study, "--simulate", "4", "--include-excluded"],
            ["score", image, "--scorer", "sharpness"],
            ["export", study, "--format", "csv", "--out", str(tmp_path / "out")],
        ]
    )
    for code, _, err in ran:
        assert code == 0, err


def test_the_extras_are_those_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for extra, modules in EXTRAS.items():
        listed = " ".join(project["optional-dependencies"][extra]).replace("-", "_")
        assert all(module in listed for module in modules)


@pytest.mark.parametrize(
    ("module", "extra"),
    [("torch", "models"), ("torch.nn", "models"), ("psycopg", "scale"), ("beholder.nothing", None), (None, None)],
)
def test_which_extra_installs_a_module(module: str | None, extra: str | None) -> None:
    assert extra_with(ModuleNotFoundError("No module", name=module)) == extra
