"""What is built can be used: every statistic is reached from the public API or from a command."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import beholder
from beholder.api.stages import VERBS
from beholder.cli.improve import MEMBERS as IMPROVE_MEMBERS
from beholder.cli.main import COMMANDS

SOURCE = Path(beholder.__file__).parent


def module_name(path: Path) -> str:
    parts = ("beholder", *path.relative_to(SOURCE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in SOURCE.rglob("*.py")}


def imported(module: str) -> Iterator[str]:
    """Yield the modules that a module imports anywhere; packages do not count as importing what they re-export."""
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            yield from (name for alias in node.names if (name := f"{node.module}.{alias.name}") in MODULES)
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def reached(starts: set[str]) -> set[str]:
    modules: set[str] = set()
    ahead = set(starts)
    while ahead:
        module = ahead.pop()
        if module in MODULES and module not in modules:
            modules.add(module)
            ahead.update(imported(module))
    return modules


def statistics() -> set[str]:
    return {
        module
        for module, path in MODULES.items()
        if module.startswith("beholder.stats.") and path.name != "__init__.py"
    }


def test_no_statistic_is_unreachable() -> None:
    places = [*(place for place, _ in COMMANDS.values()), *IMPROVE_MEMBERS.values()]
    commands = {place.split(":")[0] for place in places}
    starts = {*vars(beholder)["LATE"].values(), *commands, *VERBS.values()}  # commands load stages by name
    unreached = statistics() - reached(starts) - {"beholder.stats.late_package"}
    assert not unreached, f"offer these in beholder.LATE or by a command, or delete them: {sorted(unreached)}"


def test_the_walk_finds_what_is_not_imported() -> None:
    only_intervals = reached({"beholder.stats.frames.sample_size"})
    assert "beholder.stats.significance.power" in only_intervals
    assert "beholder.stats.truth.mace" not in only_intervals


def test_every_name_of_the_stubs_exists() -> None:
    for stub in sorted(SOURCE.glob("stats/*/__init__.pyi")):
        package = import_module(module_name(stub.with_suffix(".py")))
        for node in ast.parse(stub.read_text(encoding="utf-8")).body:
            assert isinstance(node, ast.ImportFrom)
            assert node.module is not None
            assert node.module.startswith(package.__name__)
            for alias in node.names:
                assert getattr(package, alias.name) is getattr(import_module(node.module), alias.name)
                assert alias.name in package.__all__
                assert alias.name in dir(package)


def test_a_function_is_not_hidden_by_its_module() -> None:
    truth = import_module("beholder.stats.truth")
    module = import_module("beholder.stats.truth.mace")
    assert truth.mace is module.mace
    with pytest.raises(AttributeError, match=r"module 'beholder.stats.truth' has no attribute 'nobody'"):
        truth.nobody  # noqa: B018


def test_a_package_imports_nothing_until_it_is_asked() -> None:
    code = "import sys, beholder.stats.agreement, beholder.stats.frames; print('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout == b"False\n"
