"""The examples in docstrings run, and print what they show."""

import doctest
import importlib
import os
import re
import shutil
from pathlib import Path

import pytest
import torch
from tests.docs.workspace import paint_pictures
from tests.scorers.rich.conftest import SMALL

import beholder as bh
from beholder.cli.main import main
from beholder.models.rich_feedback.model import RichFeedbackModel
from beholder.models.weights.checkpoint import Record, save_checkpoint

PACKAGE = Path(bh.__file__).parent
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "api" / "index.md"
AGIQA = "name,prompt,adj1,adj2,style,mos_quality,std_quality,mos_align,std_align\n" + "".join(
    f"{maker}_normal_{number:03d}.jpg,prompt {number},,,,{mean + number / 10},0.5,{mean},0.5\n"
    for maker, mean in (("AttnGAN", 1), ("glide", 2), ("DALLE2", 3))
    for number in range(8)
)
"""A few rows in the form of AGIQA-3K."""

READING = "beholder.api"
"""Modules whose examples read images and studies."""

FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
MODULES = sorted(
    ".".join(("beholder", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
    for path in PACKAGE.rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8") and "stats" not in path.relative_to(PACKAGE).parts[:1]
)
"""Those of statistics are run by ``tests/stats/test_examples.py``."""


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the examples read: images, a study with a trained model, a rich model, published means."""
    folder = tmp_path_factory.mktemp("prepared")
    paint_pictures(folder)
    before = Path.cwd()
    os.chdir(folder)
    try:
        study = bh.new_study(
            "hpd-pairs",
            "my-study",
            generated={name: f"pictures/{name}" for name in ("aurora", "cirrus", "ember")},
            raters=20,
            trials=30,
        )
        study.run(simulate=20)
        bh.learn(study, recipe="tiny-two-tower", settings={"training.steps": 2})
        make_benchmark(Path("my-benchmark"))
    finally:
        os.chdir(before)
    torch.manual_seed(0)
    model = RichFeedbackModel(SMALL)
    save_checkpoint(folder / "rich-model", model, Record("rich-feedback", model.config, model.settings.scores))
    (folder / "agiqa.csv").write_text(AGIQA, encoding="utf-8")
    return folder


def make_benchmark(folder: Path) -> None:
    """The sources of a benchmark of three folders, without networks."""
    generators = [f"--generator={name}=folder:../pictures/{name}" for name in ("aurora", "cirrus", "ember")]
    assert main(["curate", str(folder), "--prompts", "pictures/aurora/prompts.csv"]) == 0
    assert main(["new", "hpd-pairs", str(folder), *generators, "--raters=20", "--trials=30"]) == 0
    toml = (folder / "study.toml").read_text(encoding="utf-8")
    scorers = 'scorers = ["sharpness"]\ndistances = []'
    (folder / "study.toml").write_text(toml.replace("scorers = []", scorers, 1), encoding="utf-8")


@pytest.mark.parametrize("name", [name for name in MODULES if not name.startswith(READING)])
def test_the_examples_of_a_module(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_examples(name)


@pytest.mark.parametrize("name", [name for name in MODULES if name.startswith(READING)])
def test_the_examples_that_read_files(
    name: str, prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "here"
    shutil.copytree(prepared, folder)  # examples of one module do not disturb those of another
    monkeypatch.chdir(folder)
    run_examples(name)


def test_the_page_runs(prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "here"
    shutil.copytree(prepared, folder)
    monkeypatch.chdir(folder)
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, PAGE.name, "exec"), names)
    assert len(blocks) == 3
    assert (folder / "ratings.pdf").is_file()


def run_examples(name: str) -> None:
    """Run the examples of a module; what differs from their output is printed."""
    module = importlib.import_module(name)
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner(optionflags=FLAGS)
    tests = [test for test in finder.find(module) if test.examples]
    assert tests
    printed: list[str] = []
    for test in tests:
        runner.run(test, out=printed.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(printed)
