"""What ``import beholder`` offers: listed once, typed, documented, and quick to import."""

import ast
import doctest
import importlib
import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import beholder as bh
from beholder import metrics

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "beholder"
PAGE = ROOT / "docs" / "reference" / "api" / "index.md"
LATE = {name: getattr(importlib.import_module(module), name) for name, module in bh.LATE.items()}
FUNCTIONS = {name: member for name, member in LATE.items() if not inspect.isclass(member)}
CLASSES = {name: member for name, member in LATE.items() if inspect.isclass(member)}
CLASSES |= {f"metrics.{name}": getattr(metrics, name) for name in metrics.__all__}
PUBLIC = FUNCTIONS | CLASSES
MOST_MILLISECONDS = 60
NOT_CALLED = {"metrics.Metric"}
"""A base class, which is not made itself: its methods are documented, and no example makes one."""


class TestTheList:
    def test_dir_shows_it_and_everything_on_it_exists(self) -> None:
        assert dir(bh) == sorted(["__version__", "errors", "metrics", *LATE])
        assert set(bh.__all__) == set(dir(bh))
        assert all(hasattr(bh, name) for name in dir(bh))

    def test_type_checkers_see_the_same_names(self) -> None:
        stub = ast.parse((PACKAGE / "__init__.pyi").read_text(encoding="utf-8"))
        imported = {
            alias.asname: node.module
            for node in stub.body
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        assert imported == bh.LATE | dict.fromkeys(bh.MODULES, "beholder")
        assert (PACKAGE / "py.typed").is_file()

    def test_the_page_lists_every_name_and_no_other(self) -> None:
        text = PAGE.read_text(encoding="utf-8")
        listed = {line.split("`")[1].split("(")[0] for line in text.splitlines() if line.startswith("| `bh.")}
        assert listed == {f"bh.{name}" for name in PUBLIC}

    def test_a_misspelt_name(self) -> None:
        with pytest.raises(AttributeError, match=r"no attribute 'open_stdy'\. Did you mean 'open_study'\?"):
            bh.open_stdy  # type: ignore[attr-defined] # noqa: B018

    def test_a_name_that_a_package_has_too_can_be_called(self) -> None:
        for name, module in (("learn", "beholder.learn.recipe"), ("measure", "beholder.measure.settings")):
            importlib.import_module(module)
            package: Any = getattr(bh, name)
            assert package.__name__ == f"beholder.{name}"
            assert package.__wrapped__ is FUNCTIONS[name]
            assert inspect.signature(package) == inspect.signature(FUNCTIONS[name])
        with pytest.raises(TypeError, match="recipe"):
            bh.learn("nowhere")  # type: ignore[call-arg]


class TestDocstrings:
    @pytest.mark.parametrize("name", FUNCTIONS)
    def test_a_function_says_what_it_takes_returns_and_shows_it(self, name: str) -> None:
        function = FUNCTIONS[name]
        text = inspect.getdoc(function) or ""
        assert "\nReturns:\n" in text
        assert ">>> " in text
        _, _, listed = text.partition("\nArgs:\n")
        missing = [own for own in inspect.signature(function).parameters if f"\n    {own}: " not in f"\n{listed}"]
        assert missing == []

    @pytest.mark.parametrize("name", [name for name in CLASSES if name not in NOT_CALLED])
    def test_a_class_says_what_it_takes_and_shows_it(self, name: str) -> None:
        text = inspect.getdoc(CLASSES[name]) or ""
        assert ">>> " in text
        if "__init__" in vars(CLASSES[name]) and not hasattr(CLASSES[name], "__dataclass_fields__"):
            missing = [
                own for own in inspect.signature(CLASSES[name]).parameters if f"\n    {own}: " not in f"\n{text}"
            ]
            assert missing == []

    def test_examples_of_public_names_are_tested_where_all_are(self) -> None:
        finder = doctest.DocTestFinder()
        modules = {importlib.import_module(module) for module in bh.LATE.values()}
        tested = {test.name for module in modules for test in finder.find(module) if test.examples}
        assert {f"{FUNCTIONS[name].__module__}.{name}" for name in FUNCTIONS} <= tested


class TestImport:
    def test_it_takes_little_and_loads_nothing_heavy(self) -> None:
        code = "import sys, beholder; print(*sorted({'torch', 'polars', 'numpy', 'PIL'} & set(sys.modules)))"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == ""

    def test_it_takes_under_sixty_milliseconds_more_than_python(self) -> None:
        bare = min(_processor_ms("pass") for _ in range(5))
        imported = min(_processor_ms("import beholder") for _ in range(5))
        assert imported - bare < MOST_MILLISECONDS, f"{imported:.0f} ms, of which Python {bare:.0f} ms"


def _processor_ms(code: str) -> float:
    """Processor time of an interpreter that runs the code, waiting not counted."""
    script = f"import resource, sys; {code}; used = resource.getrusage(resource.RUSAGE_SELF); "
    script += "print(1000 * (used.ru_utime + used.ru_stime))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return float(done.stdout)
