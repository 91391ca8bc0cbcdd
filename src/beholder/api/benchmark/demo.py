"""The demo benchmark: five painters of the synthetic world, judged by simulated raters and scorers."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from beholder.curate.settings import FILE_NAME as CURATE_FILE
from beholder.curate.settings import Choosing, Curation, SourceSet, dump_curation
from beholder.errors import StudyError
from beholder.simulate.grammar import draw_requests, prompt_text
from beholder.simulate.policies import GENERATORS
from beholder.study.benchmark import Benchmark, TrainedModel
from beholder.study.generating import PainterGenerator
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.rating import RatingQuestion
from beholder.study.question import Design, Screening
from beholder.study.study import FILE_NAME, Study, dump_study, load_study
from beholder.tables.atomic import write_atomically

NAME = "beholder-demo-benchmark"
TITLE = "Five painters of the synthetic world, 200 prompts"
PROMPTS_FILE = "prompts.csv"
CANDIDATES = 1.3
"""Prompts that are written for each that is chosen: some of them are near-duplicates."""


@dataclass(frozen=True, slots=True)
class DemoBenchmark:
    """The size of the demo benchmark."""

    prompts: int = 200
    raters: int = 30
    bad: int = 4
    trials: int = 60
    """Per rater and question."""
    size: int = 128
    """Pixels of a side."""
    folds: int = 2
    """Parts that are held out in turn where the scorer is trained."""
    epochs: float = 6.0
    seed: int = 0


def prepare_demo_benchmark(folder: Path, demo: DemoBenchmark) -> None:
    """Write the sources of the demo benchmark, as a user would: prompts, ``curate.toml`` and ``study.toml``."""
    if (folder / FILE_NAME).is_file():
        study = load_study(folder)
        if (study.name, study.seed) != (NAME, demo.seed):
            raise StudyError(
                str(folder),
                [f"holds the study '{study.name}' with seed {study.seed}"],
                advice=f"Choose another folder: beholder demo --benchmark --out OTHER --seed {demo.seed}",
            )
        return
    folder.mkdir(parents=True, exist_ok=True)
    requests = draw_requests(round(demo.prompts * CANDIDATES), np.random.default_rng([demo.seed, 20]))
    prompts = pl.DataFrame(
        {"prompt": [prompt_text(request) for request in requests], "category": [each.style for each in requests]}
    )
    curation = Curation(
        seed=demo.seed,
        sets=(SourceSet(name="synthetic-world", path=PROMPTS_FILE, licence="Apache-2.0"),),
        choose=Choosing(prompts=demo.prompts, held_out=0.25),
    )
    for name, content in (
        (PROMPTS_FILE, prompts.write_csv()),
        (CURATE_FILE, dump_curation(curation)),
        (FILE_NAME, dump_study(_study(demo))),  # last: with it the folder is a study
    ):
        with write_atomically(folder / name) as file:
            file.write(content.encode())


def _study(demo: DemoBenchmark) -> Study:
    design = Design(raters=demo.raters, trials=demo.trials, repeats=min(6, demo.trials))
    return Study(
        name=NAME,
        title=TITLE,
        seed=demo.seed,
        questions=(
            PairQuestion(
                name="preference", design=design, screening=Screening(min_seconds=0.5, above_chance=0.05)
            ),
            RatingQuestion(
                name="quality", design=design, screening=Screening(min_seconds=0.5, min_correlation=0.2)
            ),
        ),
        generators=tuple(PainterGenerator(name=policy.name, policy=policy.name) for policy in GENERATORS),
        benchmark=Benchmark(
            width=demo.size,
            scorers=("sharpness", "colourfulness"),
            distances=(),
            models=(
                TrainedModel(
                    recipe="tiny-two-tower",
                    settings={"split.folds": demo.folds, "training.epochs": demo.epochs},
                ),
            ),
        ),
    )
