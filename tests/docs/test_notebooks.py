"""The notebooks run from top to bottom, in two minutes each; their last expressions can be shown.

Cells are run in this process, without a Jupyter kernel: nothing has to be installed for it, and warnings are
errors. What a kernel adds (magics, widgets), the notebooks do not use.
"""

import ast
import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SHARED = Path(os.environ.get("BEHOLDER_SHARED", ROOT.parent / "shared")) / "data"
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
NEEDED = {"agiqa_metrics": ("AGIQA", SHARED / "agiqa-3k"), "layer6_release": ("LAYER6", SHARED / "layer6-realism")}
"""Notebooks of published data: the variable that names its folder, and where it is here."""

MOST_SECONDS = 120


def cells_of(path: Path) -> list[dict[str, Any]]:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    cells: list[dict[str, Any]] = notebook["cells"]
    return cells


def run_cell(source: str, names: dict[str, Any]) -> object:
    """Run a cell; return its last expression, as a notebook would show it."""
    tree = ast.parse(source)
    last = tree.body[-1]
    if not isinstance(last, ast.Expr):
        exec(compile(tree, "<cell>", "exec"), names)
        return None
    exec(compile(ast.Module(tree.body[:-1], []), "<cell>", "exec"), names)
    return eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)


def show(content: object) -> str:
    """What a notebook would display."""
    for method in ("_repr_html_", "_repr_mimebundle_"):
        if hasattr(content, method):
            return str(getattr(content, method)())
    return repr(content)


def test_there_are_four() -> None:
    assert [path.stem for path in NOTEBOOKS] == [
        "agiqa_metrics",
        "layer6_release",
        "two_folders",
        "votes_to_ranking",
    ]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_is_stored_without_outputs(path: Path) -> None:
    cells = cells_of(path)
    assert len({cell["id"] for cell in cells}) == len(cells)
    assert all(not cell["outputs"] and cell["execution_count"] is None for cell in cells if "outputs" in cell)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    if path.stem in NEEDED:
        variable, folder = NEEDED[path.stem]
        if not folder.is_dir():
            pytest.skip(f"{folder} is not here: the published data of this notebook")
        monkeypatch.setenv(variable, str(folder))
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    began = time.process_time()
    shown_parts = [
        show(run_cell("".join(cell["source"]), names)) for cell in cells_of(path) if cell["cell_type"] == "code"
    ]
    assert time.process_time() - began < MOST_SECONDS
    assert EXPECTED[path.stem] in " ".join(shown_parts)


EXPECTED = {
    "agiqa_metrics": "sharpness",
    "layer6_release": "StyleGAN-XL",
    "two_folders": "ember",
    "votes_to_ranking": "borealis",
}
"""Something that each of them shows."""
