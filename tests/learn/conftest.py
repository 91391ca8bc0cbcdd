from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from beholder.learn import shift
from beholder.models.shift import altered_set
from beholder.models.shift.train import FEWEST
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.rating import RatingQuestion
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Provenance
from beholder.tables.store import TRUTH_ROOM, Store

Rows = list[dict[str, object]]


def write_labels(folder: Path, rows: Rows) -> None:
    common = {"question": "q", "answers": 3, "raters": 3}
    frame = TABLES["labels"].frame([common | row for row in rows])
    Store(folder).write({"labels": frame}, Provenance("consolidate", {}, 0, {}))


@pytest.fixture(autouse=True)
def few_images_for_the_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    """The warning of unlike images is trained on a few images, which takes a moment."""
    monkeypatch.setattr(shift, "MOST", FEWEST)
    monkeypatch.setattr(altered_set, "FEWEST_EACH", 1)


@pytest.fixture
def paired_study(painted_study: Callable[..., Path]) -> Path:
    """Every two images of a prompt, compared by three raters who see the ground-truth quality with some noise."""
    folder = painted_study(PairQuestion(name="q"), draws=200)
    rng = np.random.default_rng(0)
    rows: Rows = []
    for images in _by_prompt(folder):
        for index, (image, quality) in enumerate(images):
            for other, other_quality in images[index + 1 :]:
                votes = np.sign(quality - other_quality + rng.normal(0, 0.2, 3)) > 0
                proportion = float(votes.mean())
                choice = "image" if proportion > 0.5 else "other"
                rows.append(
                    {"aspect": "preference", "method": "preference", "image": image, "other": other}
                    | {"value": proportion, "choice": choice}
                )
    write_labels(folder, rows)
    return folder


@pytest.fixture
def rated_study(painted_study: Callable[..., Path]) -> Path:
    """Mean opinion scores of two aspects."""
    folder = painted_study(RatingQuestion(name="q"), draws=200)
    rng = np.random.default_rng(0)
    rows: Rows = []
    for images in _by_prompt(folder):
        for image, quality in images:
            for aspect, scale in (("quality", 4.0), ("alignment", 2.0)):
                value = 1 + scale * quality + rng.normal(0, 0.1)
                ends = {"low": value - 0.3, "high": value + 0.3}
                rows.append({"aspect": aspect, "method": "mean", "image": image, "value": value} | ends)
    write_labels(folder, rows)
    return folder


def _by_prompt(folder: Path) -> list[list[tuple[str, float]]]:
    truth = Store(folder, TRUTH_ROOM).read("scores").filter(pl.col("aspect") == "overall")
    quality = dict(truth.select("image", "score").iter_rows())
    generated = Store(folder).read("images").filter(~pl.col("gold") & ~pl.col("real"))
    return [
        [(image, quality[image]) for image in part["image"]]
        for part in generated.partition_by("prompt", maintain_order=True)
    ]
