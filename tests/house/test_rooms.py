"""Rooms that a reader can survey: no flat package is large, unless its modules are plug-ins of one kind."""

import configparser
import re
from pathlib import Path

import pytest

import beholder

ROOT = Path(__file__).parents[2]
SOURCE = Path(beholder.__file__).parent
MOST_MODULES = 24
PLUG_INS = frozenset({"cli", "formats", "distances", "tables/schemas"})
"""Packages of commands, formats, distances and schemas: every module is one of them, or serves them all."""
PACKAGES = sorted({path.parent.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py")})


@pytest.mark.parametrize("package", [package for package in PACKAGES if package not in PLUG_INS])
def test_a_flat_package_is_small(package: str) -> None:
    modules = [path for path in (SOURCE / package).glob("*.py") if path.name != "__init__.py"]
    assert len(modules) <= MOST_MODULES, f"{package} has {len(modules)} modules: give some of them a room"


def test_plug_ins_name_packages_that_exist() -> None:
    assert set(PACKAGES) >= PLUG_INS


def test_no_module_is_an_attic() -> None:
    attics = [path for path in SOURCE.rglob("*.py") if path.stem in {"utils", "util", "helpers", "misc", "common"}]
    assert not attics


def test_contributors_see_the_arrows_that_are_checked() -> None:
    """The picture in CONTRIBUTING has the rooms of the contract, floor by floor."""
    contract = configparser.ConfigParser()
    contract.read(ROOT / ".importlinter")
    checked = [
        {room for room in floor.split(" | ") if not room.startswith("(")}
        for floor in contract["importlinter:contract:layers"]["layers"].strip().splitlines()
    ]
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    picture = page.partition("## Who may import whom")[2].partition("An arrow points down")[0]
    floors = [
        {room for line in floor.splitlines() for room in re.split(r" {4,}", line.strip())[0].split()}
        for floor in picture.split("│")
    ]
    assert floors == checked
