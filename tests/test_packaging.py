"""What is published: a wheel with every file that the program reads, and a citation that is up to date."""

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from beholder import __version__

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "beholder"
READ_AT_RUN_TIME = {
    ".j2",
    ".js",
    ".css",
    ".html",
    ".json",
    ".toml",
    ".py",
    ".pyi",
    ".typed",
    ".svg",
    ".ico",
    ".woff2",
}


CORE = {
    "alembic",
    "altair",
    "click",
    "fastapi",
    "httpx",
    "jinja2",
    "narwhals",
    "numpy",
    "openpyxl",
    "pillow",
    "polars",
    "py3langid",
    "pydantic",
    "pyjwt",
    "pyyaml",
    "rapidfuzz",
    "rich",
    "scipy",
    "sqlalchemy",
    "threadpoolctl",
    "tomlkit",
    "uvicorn",
    "vl-convert-python",
}
"""What an installation without extras requires: whoever adds to it makes every installation larger."""

LARGEST_WHEEL = 8_000_000
"""Bytes; it had 6.6 million on 2026-11-18."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


def test_the_wheel_holds_every_file_of_the_package(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        packed = set(archive.namelist())
    files = {
        f"beholder/{path.relative_to(SOURCE).as_posix()}"
        for path in SOURCE.rglob("*")
        if path.is_file() and path.suffix in READ_AT_RUN_TIME and "__pycache__" not in path.parts
    }
    assert files - packed == set()


def test_the_wheel_requires_the_core_and_nothing_else_without_an_extra(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith("METADATA"))
        metadata = archive.read(name).decode()
    required = [Requirement(text) for text in re.findall(r"^Requires-Dist: (.*)$", metadata, re.MULTILINE)]
    core = [need for need in required if need.marker is None or need.marker.evaluate({"extra": ""})]
    assert {need.name.lower() for need in core} == CORE
    assert {extra for need in core for extra in need.extras} == {"crypto"}  # an extra of theirs installs more


def test_the_wheel_stays_small(wheel: Path) -> None:
    assert wheel.stat().st_size < LARGEST_WHEEL


def test_the_source_distribution_is_all_that_the_wheel_is_built_from(tmp_path: Path) -> None:
    pytest.importorskip("hatchling")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "sdist", "--directory", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (packed,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(packed) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    files = {
        path.relative_to(ROOT).as_posix()
        for path in SOURCE.rglob("*")
        if path.is_file() and path.suffix in READ_AT_RUN_TIME and "__pycache__" not in path.parts
    }
    assert {"pyproject.toml", "README.md", "LICENSE", "CITATION.cff", *files} - names == set()
    assert [name for name in names if name.startswith(("tests/", ".venv", "demo-study"))] == []


def test_the_citation_names_this_version_and_its_authors() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {__version__}\n" in citation
    assert "\nauthors:\n  - name: The beholder developers\n" in citation


def test_the_container_copies_what_the_build_needs() -> None:
    allowed = {
        line[1:]
        for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
        if line.startswith("!")
    }
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    copied = {
        part for line in lines if line.startswith("COPY ") and "--from" not in line for part in line.split()[1:-1]
    }
    assert {part.removeprefix("./") for part in copied} <= allowed
    assert all((ROOT / part).exists() for part in copied)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_is_given_a_completion_script(shell: str) -> None:
    environment = {**os.environ, "_BEHOLDER_COMPLETE": f"{shell}_source"}
    done = subprocess.run(
        [sys.executable, "-c", "from beholder.cli.main import main; main()"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "_BEHOLDER_COMPLETE" in done.stdout


def test_commands_are_completed() -> None:
    environment = {
        **os.environ,
        "_BEHOLDER_COMPLETE": "bash_complete",
        "COMP_WORDS": "beholder cons",
        "COMP_CWORD": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", "from beholder.cli.main import main; main()"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "plain,consolidate\n"
