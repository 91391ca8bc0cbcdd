"""Modules and functions that the pages name by their dotted path exist."""

import importlib
import importlib.util
import pkgutil
import re
from pathlib import Path

import pytest

import beholder.stats

ROOT = Path(__file__).parents[2]
ABSOLUTE = re.compile(r"`(beholder(?:\.\w+)+)[`(]")
RELATIVE = re.compile(r"`(\w+(?:\.\w+)+)[`(]")
ENVIRONMENT = {"PYTHONDONTWRITEBYTECODE"}
STATISTICS = ("inference.md", "agreement.md")
"""Pages on which dotted names without ``beholder.`` are relative to ``beholder.stats`` or one of its packages."""

PACKAGES = ("beholder.stats", *(f"beholder.stats.{p.name}" for p in pkgutil.iter_modules(beholder.stats.__path__)))


def exists(name: str) -> bool:
    """Whether a dotted name is a module, or a member of one."""
    try:
        return importlib.util.find_spec(name) is not None or _is_member(name)
    except ModuleNotFoundError:
        return _is_member(name)


def _is_member(name: str) -> bool:
    module, _, member = name.rpartition(".")
    try:
        return hasattr(importlib.import_module(module), member)
    except ImportError:
        return False


def pages() -> list[Path]:
    return [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]


def names(pattern: re.Pattern[str], page: Path) -> list[str]:
    return sorted(set(pattern.findall(page.read_text(encoding="utf-8"))))


def test_a_name_exists_where_it_can_be_imported() -> None:
    assert exists("beholder.stats.truth.mace")
    assert exists("beholder.stats.truth.mace.mace")
    assert not exists("beholder.stats.truth.mace.nobody")
    assert not exists("beholder.stats.mace.mace")


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_names_of_the_package_exist(page: Path) -> None:
    assert [name for name in names(ABSOLUTE, page) if not exists(name)] == []


@pytest.mark.parametrize("page", STATISTICS)
def test_names_of_statistics_exist(page: str) -> None:
    listed = [
        name for name in names(RELATIVE, ROOT / "docs" / "explanation" / page) if not name.startswith("beholder.")
    ]
    assert len(listed) > 5
    assert [name for name in listed if not any(exists(f"{package}.{name}") for package in PACKAGES)] == []


@pytest.mark.parametrize(
    "name", ["docs/how-to/add-a-question-kind.md", "docs/how-to/extend.md", "CONTRIBUTING.md"]
)
def test_dictionaries_to_add_a_line_to_exist(name: str) -> None:
    files = [path for room in ("src/beholder", "tests") for path in (ROOT / room).rglob("*.[pj][ys]")]
    source = "\n".join(path.read_text(encoding="utf-8") for path in files)
    listed = set(re.findall(r"`([A-Z][A-Z_]{3,})`", (ROOT / name).read_text(encoding="utf-8"))) - ENVIRONMENT
    assert listed
    missing = [
        each for each in sorted(listed) if not re.search(rf"^(?:export )?(?:const )?{each}\b", source, re.M)
    ]
    assert missing == []
