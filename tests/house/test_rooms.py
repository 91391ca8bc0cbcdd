"""Rooms that a reader can survey: no flat package is large, unless its modules are plug-ins of one kind."""

from pathlib import Path

import pytest

import beholder

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
