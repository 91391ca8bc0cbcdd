import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from beholder.collect.stage import run as run_simulated
from beholder.consolidate.stage import run as consolidate
from beholder.design.stage import run as design
from beholder.learn.recipe import Recipe, load_recipe
from beholder.study.kinds.rich_feedback import RichFeedbackQuestion
from beholder.study.question import Design

SMALL = [
    *("model.image.side=32", "model.image.width=16", "model.image.layers=1", "model.image.heads=2"),
    *(
        "model.image.encoder=",
        "model.image.dropout=0",
        "model.image.patch=8",
        "model.image.stem=convolutions",
        "rich.named=0.5",
    ),
    *("model.text.width=16", "model.text.head_width=8", "model.text.heads=2", "model.text.inner=16"),
    *("model.text.layers=1", "model.text.decoder_layers=1", "model.text.dropout=0.1", "model.heads.heatmap=[8]"),
    *("model.heads.score=[8]", "model.heads.dense=[]", "training.batch=4", "training.warmup=2"),
    *("training.steps=6", "training.validate_every=3", "training.save_every=2", "training.log_every=2"),
    *("split.test=0.2", "split.validation=0.2"),
]


@pytest.fixture(scope="session")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder for the study with answers, which the first test that needs it writes."""
    return tmp_path_factory.mktemp("answered") / "study"


@pytest.fixture
def rich_study(painted_study: Callable[..., Path], answered: Path, tmp_path: Path) -> Path:
    """Feedback of three simulated raters on each of 40 painted images."""
    if not answered.exists():
        question = RichFeedbackQuestion(name="feedback", design=Design(raters=6, trials=20, raters_per_item=3))
        folder = painted_study(question, draws=200)
        design(folder)
        run_simulated(folder, people=6)
        consolidate(folder)
        folder.rename(answered)
    return Path(shutil.copytree(answered, tmp_path / "rich"))


@pytest.fixture
def small() -> list[str]:
    """Changes to a recipe that make its model train in a moment."""
    return list(SMALL)


@pytest.fixture
def rich_recipe(small: list[str]) -> Callable[..., Recipe]:
    """A recipe of such a model, with changes."""

    def make(*changes: str, name: str = "tiny-rich-feedback") -> Recipe:
        return load_recipe(name, [*small, *changes])

    return make
