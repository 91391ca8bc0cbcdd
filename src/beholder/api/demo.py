"""The demo: a study of a synthetic world, and whether the loop recovers its ground truth."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from beholder.design.new import make_study
from beholder.errors import StudyError
from beholder.simulate.raters import BAD, SUBTLE
from beholder.simulate.world import MANIFEST, World, paint_world, write_ground_truth
from beholder.study.study import FILE_NAME, load_study
from beholder.tables.store import TRUTH_ROOM, Store


@dataclass(frozen=True, slots=True)
class DemoStudy:
    """Which study a demo makes of the synthetic world."""

    name: str
    title: str
    protocols: tuple[str, ...]
    raters: int
    bad: int
    """Of these."""
    folder: str
    """Where it is kept by default."""
    prompts: int = 80
    trials: int | None = None
    """That a rater answers; ``None``: as the protocol says."""


DEMO = DemoStudy(
    name="beholder-demo",
    title="Five synthetic generators, judged by sixty simulated raters",
    protocols=("hype-infinity", "hpd-pairs", "mos"),
    raters=60,
    bad=12,
    folder="demo-study",
)
FEEDBACK_DEMO = DemoStudy(
    name="beholder-feedback-demo",
    title="Five synthetic generators, and what is wrong with their images",
    protocols=("rich-feedback",),
    raters=40,
    bad=4,
    folder="demo-feedback",
    prompts=200,
    trials=100,
)
"""Enough marks, of three raters an image, to train a scorer that says where an image is wrong."""

KEY = ["question", "aspect", "method", "slice", "generator"]
HEADLINES = ["error-rate", "bradley-terry", "mean-opinion"]
GROUPS = {"bad": BAD, "subtly bad": SUBTLE, "honest": None}
"""Simulated raters by their habits; ``None``: all others."""


@dataclass(frozen=True, slots=True)
class Count:
    """A number of cases out of all."""

    cases: int
    total: int


@dataclass(frozen=True, slots=True)
class Recovery:
    """How far the loop recovers the ground truth."""

    order: Count
    """Leaderboards with the generators in their true order."""
    covered: Count
    """Ratings whose confidence interval contains the true value."""
    excluded: dict[str, Count]
    """Of each group of raters (``GROUPS``): sessions that screening excluded."""


def prepare_demo(
    folder: Path, world: World, progress: Callable[[int, int], None] | None, demo: DemoStudy = DEMO
) -> dict[str, int] | None:
    """Paint the world and make the study; return its images by generator, ``None`` where it exists already."""
    exists = (folder / FILE_NAME).is_file()
    if exists:
        study = load_study(folder)
        if (study.name, study.seed) != (demo.name, world.seed):
            raise StudyError(
                str(folder),
                [f"holds the study '{study.name}' with seed {study.seed}"],
                advice=f"Choose another folder: beholder demo --out OTHER --seed {world.seed}",
            )
    if exists and Store(folder, TRUTH_ROOM).has("scores"):
        return None
    folder.parent.mkdir(parents=True, exist_ok=True)
    images = None
    with tempfile.TemporaryDirectory(prefix=".beholder-world-", dir=folder.parent) as scratch:
        painted = paint_world(world, Path(scratch), progress=progress)
        if not exists:
            new_study = make_study(
                demo.protocols,
                folder,
                manifest=Path(scratch) / MANIFEST,
                name=demo.name,
                title=demo.title,
                seed=world.seed,
                copy=True,
                raters=demo.raters,
                trials=demo.trials,
            )
            images = dict(new_study.images)
        write_ground_truth(Store(folder), world, painted)
    return images


def check_recovery(folder: Path) -> Recovery:
    """Compare order, coverage and screening with the ground truth."""
    ratings = _with_truth(folder)
    ordered = [
        part.sort("rating")["generator"].to_list() == part.sort("true_rating")["generator"].to_list()
        for part in ratings.partition_by("question", "aspect", "method")
    ]
    inside = ratings.filter(pl.col("true_rating").is_between(pl.col("low"), pl.col("high"))).height
    raters = {name: _raters_with(folder, habits)["used"] for name, habits in GROUPS.items()}
    return Recovery(
        order=Count(sum(ordered), len(ordered)),
        covered=Count(inside, ratings.height),
        excluded={name: Count(int((~used).sum()), len(used)) for name, used in raters.items()},
    )


def _with_truth(folder: Path) -> pl.DataFrame:
    truth = Store(folder, TRUTH_ROOM).read("ratings").select(*KEY, true_rating="rating")
    ratings = Store(folder).read("ratings").filter(pl.col("method").is_in(HEADLINES))
    return ratings.join(truth, on=KEY)


def _raters_with(folder: Path, habits: tuple[str, ...] | None) -> pl.DataFrame:
    truth = Store(folder, TRUTH_ROOM).read("raters")
    habit_of = truth.select("question", "rater", habit=pl.col("reasons").list.first())
    raters = Store(folder).read("raters").join(habit_of, on=["question", "rater"])
    if habits is None:
        return raters.filter(~pl.col("habit").is_in([*BAD, *SUBTLE]))
    return raters.filter(pl.col("habit").is_in(list(habits)))
