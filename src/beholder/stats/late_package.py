"""Packages that re-export their public names, each imported when it is first used.

What a package offers is listed once, in its ``__init__.pyi``, which type checkers and editors read. To import all
of it at once would double the time that a command takes to start.
"""

import ast
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

LATE = "_late"


class LatePackage(ModuleType):
    """A package whose public names are imported when they are first used.

    A module that has the name of its function (``truth.mace.mace``) is an attribute of the package as soon as
    anybody imports it, and would hide the function: the function takes its place. The module can be imported from
    as before: ``from beholder.stats.truth.mace import Mace``.
    """

    def __getattr__(self, name: str) -> object:
        """Import what is asked for."""
        late: dict[str, str] = self.__dict__.get(LATE, {})
        if name not in late:
            raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")
        return getattr(import_module(late[name]), name)

    def __setattr__(self, name: str, value: object) -> None:
        """Put a function in the place of its module of the same name."""
        if isinstance(value, ModuleType) and self.__dict__.get(LATE, {}).get(name) == value.__name__:
            value = getattr(value, name)
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        """List the public names too."""
        return sorted({*super().__dir__(), *self.__dict__.get(LATE, {})})


def re_export(package: str, path: str) -> None:
    """Make a package offer the names that its stub imports, and list them as ``__all__``.

    Args:
        package: Its ``__name__``.
        path: Its ``__file__``, beside which ``__init__.pyi`` lies.

    Example:
        >>> import beholder.stats.truth
        >>> "mace" in beholder.stats.truth.__all__, beholder.stats.truth.mace.__module__
        (True, 'beholder.stats.truth.mace')
    """
    stub = ast.parse(Path(path).with_suffix(".pyi").read_text(encoding="utf-8"))
    late = {
        alias.name: node.module
        for node in stub.body
        if isinstance(node, ast.ImportFrom) and node.module is not None
        for alias in node.names
    }
    module = sys.modules[package]
    module.__dict__[LATE] = late
    module.__dict__["__all__"] = sorted(late)
    module.__class__ = LatePackage
