"""Every name that the package binds: variables, parameters, functions, classes, attributes."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src" / "beholder"


@dataclass(frozen=True, slots=True)
class Binding:
    """A name, where it is bound, and whether a caller from outside the module can see it."""

    name: str
    path: Path
    line: int
    public: bool

    def __str__(self) -> str:
        return f"{self.path.relative_to(PACKAGE)}:{self.line} {self.name}"


def bindings(folder: Path = PACKAGE) -> list[Binding]:
    """All bindings of all modules below a folder, in order of path and line."""
    return [binding for path in sorted(folder.rglob("*.py")) for binding in _of_module(path)]


def _of_module(path: Path) -> Iterator[Binding]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    public = set(_public(tree))
    for node in ast.walk(tree):
        for name, line in _bound_by(node):
            yield Binding(name, path, line, (name, line) in public)


def _bound_by(node: ast.AST) -> Iterator[tuple[str, int]]:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id, node.lineno
    elif isinstance(node, ast.arg):
        yield node.arg, node.lineno
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name, node.lineno
    elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        yield node.attr, node.lineno


def _public(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Names of the module and of its public classes, and parameters of its public functions."""
    for statement in tree.body:
        yield from _seen_from_outside(statement)
        if isinstance(statement, ast.ClassDef) and not statement.name.startswith("_"):
            for member in statement.body:
                yield from _seen_from_outside(member)


def _seen_from_outside(statement: ast.stmt) -> Iterator[tuple[str, int]]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        if not statement.name.startswith("_"):
            yield statement.name, statement.lineno
            arguments = statement.args
            for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
                yield argument.arg, argument.lineno
    elif isinstance(statement, ast.ClassDef):
        yield statement.name, statement.lineno
    else:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id, node.lineno
