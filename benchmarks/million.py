"""A million answers from tables to ratings: time and memory of consolidate and rank, and how they grow.

python benchmarks/million.py            # 62,500 … 1,000,000 answers of each kind, a process of its own each
python benchmarks/million.py KIND SIZE  # one measurement, as JSON
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import polars as pl

from beholder.consolidate.stage import run as consolidate
from beholder.rank.stage import run as rank
from beholder.study.kinds.catalogue import AnyQuestion
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.rating import RatingQuestion
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.question import Screening
from beholder.study.study import FILE_NAME, Study, dump_study
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Provenance
from beholder.tables.store import Store

SIZES = (62_500, 250_000, 1_000_000)
EACH, GENERATORS, AN_ITEM = 250, 30, 20
"""Answers per rater, generators, and answers per item."""

SCREENING = Screening(min_seconds=0.3, max_same_share=0.98)
QUESTIONS: dict[str, AnyQuestion] = {
    "realism": RealismQuestion(name="q", screening=SCREENING),
    "pair": PairQuestion(name="q", screening=SCREENING),
    "rating": RatingQuestion(name="q", screening=SCREENING),
}


def main() -> None:
    if len(sys.argv) == 3:
        print(json.dumps(measured(sys.argv[1], int(sys.argv[2]))))
        return
    print("| kind | answers | raters | images | consolidate | rank | both | CPU | memory | growth of CPU |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for kind in QUESTIONS:
        before: float | None = None
        for size in SIZES:
            command = [sys.executable, __file__, kind, str(size)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            timing = json.loads(done.stdout)
            both = timing["consolidate"] + timing["rank"]
            growth = "–" if before is None else f"× {timing['cpu'] / before:.1f} for × 4"
            before = timing["cpu"]
            print(
                f"| `{kind}` | {size:,} | {timing['raters']:,} | {timing['images']:,} "
                f"| {timing['consolidate']:.1f} s | {timing['rank']:.1f} s | **{both:.1f} s** "
                f"| {timing['cpu']:.1f} s | {timing['mb']:,.0f} MB | {growth} |",
                flush=True,
            )


def measured(kind: str, size: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        raters, images = write_study(folder, kind, size)
        busy, started = time.process_time(), time.perf_counter()
        consolidate(folder)
        between = time.perf_counter()
        rank(folder)
        ended, spent = time.perf_counter(), time.process_time() - busy
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "consolidate": between - started,
        "rank": ended - between,
        "cpu": spent,
        "mb": peak,
        "raters": raters,
        "images": images,
    }


def write_study(folder: Path, kind: str, size: int) -> tuple[int, int]:
    """Write a synthetic study of that many answers: raters differ in bias, generators in quality."""
    question = QUESTIONS[kind]
    study = Study(name="million", title="Million", questions=(question,))
    (folder / FILE_NAME).write_text(dump_study(study), encoding="utf-8")
    rng = np.random.default_rng(0)
    raters = size // EACH
    prompts = max(size // AN_ITEM // GENERATORS, EACH)
    number = prompts * GENERATORS
    made_by = np.arange(number) % GENERATORS
    reals = number if kind == "realism" else 0
    quality = np.concatenate(
        [np.linspace(0, 1.5, GENERATORS)[made_by] + rng.normal(0, 0.3, number), np.zeros(reals)]
    )
    names = pl.Series([f"image-{n:06d}" for n in range(number + reals)])
    rater = np.repeat(np.arange(raters), EACH)
    lean = rng.normal(0, 0.3, raters)[rater]
    first = rng.permuted(np.tile(np.arange(number + reals), (1, 1)), axis=1)[0]
    start = rng.integers(0, len(first), raters)[rater] + np.tile(np.arange(EACH), raters)
    image_index = first[start % len(first)]
    noise = rng.normal(0, 1, size)
    columns: dict[str, pl.Series] = {}
    if kind == "pair":
        other = (image_index // GENERATORS) * GENERATORS + (
            image_index + rng.integers(1, GENERATORS, size)
        ) % GENERATORS
        gap = quality[other] - quality[image_index] + noise
        choice = np.select([gap > 0.2, gap < -0.2], ["left", "right"], "tie")
        columns["choice"] = pl.Series(choice)
        both = pl.DataFrame({"a": names[image_index], "b": names[other]})
        lists = both.select(pl.concat_list("a", "b")).to_series()
    else:
        lists = names[image_index].to_frame("a").select(pl.concat_list("a")).to_series()
        if kind == "realism":
            columns["choice"] = pl.Series(
                np.where(2 * quality[image_index] + lean + noise > 1, "generated", "real")
            )
        else:
            columns["value"] = pl.Series(np.clip(np.round(3 - quality[image_index] + lean + noise), 1, 5))
    write_tables(folder, kind, names, number, made_by, image_index, rater, lists, columns, rng)
    return raters, number + reals


def write_tables(
    folder: Path,
    kind: str,
    names: pl.Series,
    number: int,
    made_by: np.ndarray,
    image_index: np.ndarray,
    rater: np.ndarray,
    lists: pl.Series,
    columns: dict[str, pl.Series],
    rng: np.random.Generator,
) -> None:
    size, now = len(image_index), datetime(2026, 1, 1, tzinfo=UTC)
    real = np.arange(len(names)) >= number
    generator_names = pl.Series([f"generator-{g:02d}" for g in made_by] + ["real"] * (len(names) - number))
    images = pl.DataFrame(
        {"image": names, "path": names, "generator": generator_names, "real": real}
    ).with_columns(gold=pl.lit(value=False), width=pl.lit(8), height=pl.lit(8), sha256="image")
    position = np.arange(size) % EACH
    raters = pl.Series([f"rater-{n:06d}" for n in range(int(rater.max()) + 1)])
    trial = pl.Series("trial", [f"trial-{n:07d}" for n in range(size)])
    expected = pl.Series(np.where(real[image_index], "real", "generated")) if kind == "realism" else None
    trials = pl.DataFrame({"trial": trial, "slot": rater, "position": position, "images": lists}).with_columns(
        question=pl.lit("q"), kind=pl.lit(kind), block=pl.lit(0), role=pl.lit("test"), propensity=pl.lit(1.0)
    )
    if expected is not None:
        trials = trials.with_columns(expected=expected)
    sessions = pl.DataFrame({"session": raters, "rater": raters}).with_columns(
        question=pl.lit("q"), status=pl.lit("complete"), started=pl.lit(now), simulated=pl.lit(value=True)
    )
    who = raters[rater]
    aspect = {"realism": "realism", "pair": "preference", "rating": "quality"}[kind]
    answers = pl.DataFrame({"trial": trial, "session": who, "rater": who, **columns}).with_columns(
        question=pl.lit("q"),
        aspect=pl.lit(aspect),
        attempt=pl.lit(1),
        seconds=pl.Series(rng.lognormal(0.5, 0.4, size)),
        valid=pl.lit(value=True),
        answered=pl.lit(now),
    )
    frames = {"images": images, "trials": trials, "sessions": sessions, "answers": answers}
    store = Store(folder)
    for name, frame in frames.items():
        kinds = {column.name: column.dtype for column in TABLES[name].columns}
        cast = frame.with_columns(pl.col(c).cast(kinds[c]) for c in frame.columns)
        store.write({name: cast}, Provenance("benchmark", {}, 0, {}))
    store.write({"marks": TABLES["marks"].empty()}, Provenance("benchmark", {}, 0, {}))


if __name__ == "__main__":
    main()
