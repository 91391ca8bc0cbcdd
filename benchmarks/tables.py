"""Consolidate, rank and report of studies larger than memory: time and peak memory from 10⁵ to 2·10⁷ answers.

python benchmarks/tables.py                    # all sizes of three kinds, a process of its own each
python benchmarks/tables.py KIND SIZE          # one measurement, as JSON
python benchmarks/tables.py KIND SIZE FOLDER   # write the study alone
python benchmarks/tables.py stages FOLDER      # consolidate and rank such a study, as JSON
python benchmarks/tables.py report FOLDER      # `beholder report` of it in a process of its own, as JSON
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from math import log
from pathlib import Path

import numpy as np
import polars as pl
from million import AN_ITEM, EACH, GENERATORS, QUESTIONS

from beholder.consolidate.stage import run as consolidate
from beholder.rank.stage import run as rank
from beholder.study.study import FILE_NAME, Study, dump_study
from beholder.tables.catalogue import TABLES
from beholder.tables.parts import Gathered
from beholder.tables.provenance import Provenance
from beholder.tables.store import Store

SIZES = (100_000, 1_000_000, 5_000_000, 20_000_000)
RATERS_AT_ONCE = 2_000
RECORD = Provenance("benchmark", {}, 0, {})
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def main() -> None:
    if len(sys.argv) == 4:
        write_study(Path(sys.argv[3]), sys.argv[1], int(sys.argv[2]))
        return
    if len(sys.argv) == 3:
        measures = {"stages": stages, "report": report}
        what, of = sys.argv[1:]
        print(json.dumps(measures[what](Path(of)) if what in measures else measured(what, int(of))))
        return
    print(
        "| kind | answers | raters | CPU | memory | growth of CPU | n log n | report CPU | report memory | pages |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for kind in ("rating", "realism", "pair"):
        before: tuple[int, float] | None = None
        for size in SIZES:
            done = subprocess.run(
                [sys.executable, __file__, kind, str(size)], check=True, capture_output=True, text=True
            )
            print(row(kind, size, json.loads(done.stdout), before), flush=True)
            before = size, json.loads(done.stdout)["cpu"]


def row(kind: str, size: int, timing: dict[str, float], before: tuple[int, float] | None) -> str:
    growth, law = "–", "–"
    if before is not None:
        growth = f"× {timing['cpu'] / before[1]:.1f}"
        law = f"× {size * log(size) / (before[0] * log(before[0])):.1f}"
    return (
        f"| `{kind}` | {size:,} | {size // EACH:,} | {timing['cpu']:.1f} s | {timing['mb']:,.0f} MB "
        f"| {growth} | {law} | {timing['report_cpu']:.1f} s | {timing['report_mb']:,.0f} MB "
        f"| {timing['pages_mb']:.1f} MB |"
    )


def measured(kind: str, size: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # each in a process of its own: the memory of one is not that of another
        subprocess.run([sys.executable, __file__, kind, str(size), str(folder)], check=True)
        figures: dict[str, float] = {}
        for part in ("stages", "report"):
            done = subprocess.run([sys.executable, __file__, part, str(folder)], check=True, capture_output=True)
            figures |= json.loads(done.stdout)
        return figures


def stages(folder: Path) -> dict[str, float]:
    """Consolidate and rank a study in this process."""
    busy, started = time.process_time(), time.perf_counter()
    consolidate(folder)
    between = time.perf_counter()
    after_first = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    rank(folder)
    ended, spent = time.perf_counter(), time.process_time() - busy
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "consolidate": between - started,
        "rank": ended - between,
        "cpu": spent,
        "consolidate_mb": after_first,
        "mb": peak,
    }


def report(folder: Path) -> dict[str, float]:
    """Write the report of a study by a child of this process, which has little memory itself."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "beholder", "report", str(folder), "--force"]
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit("beholder report failed")
    pages = sum((folder / name).stat().st_size for name in ("report.html", "images.html"))
    return {
        "report": time.perf_counter() - began,
        "report_cpu": usage.ru_utime + usage.ru_stime,
        "report_mb": usage.ru_maxrss / 1024,
        "pages_mb": pages / 1e6,
    }


def write_study(folder: Path, kind: str, size: int) -> None:
    """Write a synthetic study as :mod:`million` does, some raters at a time."""
    study = Study(name="tables", title="Tables", questions=(QUESTIONS[kind],))
    (folder / FILE_NAME).write_text(dump_study(study), encoding="utf-8")
    rng, raters = np.random.default_rng(0), size // EACH
    number = max(size // AN_ITEM // GENERATORS, EACH) * GENERATORS
    reals = number if kind == "realism" else 0
    made_by = np.arange(number) % GENERATORS
    quality = np.concatenate(
        [np.linspace(0, 1.5, GENERATORS)[made_by] + rng.normal(0, 0.3, number), np.zeros(reals)]
    )
    store, names = Store(folder), pl.Series([f"image-{n:07d}" for n in range(number + reals)])
    generator = pl.Series([f"generator-{g:02d}" for g in made_by] + ["real"] * reals)
    real = np.arange(number + reals) >= number
    images = pl.DataFrame({"image": names, "path": names, "generator": generator, "real": real}).with_columns(
        gold=pl.lit(value=False), width=pl.lit(8), height=pl.lit(8), sha256="image"
    )
    who = pl.Series([f"rater-{n:07d}" for n in range(raters)])
    sessions = pl.DataFrame({"session": who, "rater": who}).with_columns(
        question=pl.lit("q"), status=pl.lit("complete"), started=pl.lit(NOW), simulated=pl.lit(value=True)
    )
    small = {"images": images, "sessions": sessions}
    store.write({name: cast(name, frame) for name, frame in small.items()}, RECORD)
    store.write({"marks": TABLES["marks"].empty()}, RECORD)
    order = rng.permutation(number + reals)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        rooms = {name: Path(scratch) / name for name in ("trials", "answers")}
        gathered = {}
        for name, room in rooms.items():
            room.mkdir()
            gathered[name] = Gathered(room, 1_000_000, frozenset({"trials", "images", "sessions"}))
        for begin in range(0, raters, RATERS_AT_ONCE):
            those = np.arange(begin, min(begin + RATERS_AT_ONCE, raters))
            for name, frame in answers_of(kind, those, who, names, order, quality, real, rng).items():
                gathered[name].add(cast(name, frame))
        for name, rows in gathered.items():
            store.write({name: rows.table(TABLES[name].empty())}, RECORD)


def answers_of(
    kind: str,
    those: np.ndarray,
    who: pl.Series,
    names: pl.Series,
    order: np.ndarray,
    quality: np.ndarray,
    real: np.ndarray,
    rng: np.random.Generator,
) -> dict[str, pl.DataFrame]:
    """Return the trials and answers of some raters, who differ in bias."""
    size, rater = len(those) * EACH, np.repeat(those, EACH)
    lean = np.repeat(rng.normal(0, 0.3, len(those)), EACH)
    start = np.repeat(rng.integers(0, len(order), len(those)), EACH) + np.tile(np.arange(EACH), len(those))
    image, noise = order[start % len(order)], rng.normal(0, 1, size)
    columns: dict[str, pl.Series] = {}
    shown = names[image].to_frame("a")
    if kind == "pair":
        other = (image // GENERATORS) * GENERATORS + (image + rng.integers(1, GENERATORS, size)) % GENERATORS
        gap = quality[other] - quality[image] + noise
        columns["choice"] = pl.Series(np.select([gap > 0.2, gap < -0.2], ["left", "right"], "tie"))
        shown = shown.with_columns(b=names[other])
    elif kind == "realism":
        called = np.where(2 * quality[image] + lean + noise > 1, "generated", "real")
        columns["choice"] = pl.Series(called)
    else:
        columns["value"] = pl.Series(np.clip(np.round(3 - quality[image] + lean + noise), 1, 5))
    trial = pl.Series(
        "trial", [f"trial-{n:08d}" for n in range(int(those[0]) * EACH, int(those[0]) * EACH + size)]
    )
    lists = shown.select(pl.concat_list(shown.columns)).to_series()
    position = np.arange(size) % EACH
    trials = pl.DataFrame({"trial": trial, "slot": rater, "position": position, "images": lists}).with_columns(
        question=pl.lit("q"), kind=pl.lit(kind), block=pl.lit(0), role=pl.lit("test"), propensity=pl.lit(1.0)
    )
    if kind == "realism":
        trials = trials.with_columns(expected=pl.Series(np.where(real[image], "real", "generated")))
    aspect = {"realism": "realism", "pair": "preference", "rating": "quality"}[kind]
    answers = pl.DataFrame({"trial": trial, "session": who[rater], "rater": who[rater], **columns}).with_columns(
        question=pl.lit("q"),
        aspect=pl.lit(aspect),
        attempt=pl.lit(1),
        seconds=pl.Series(rng.lognormal(0.5, 0.4, size)),
        valid=pl.lit(value=True),
        answered=pl.lit(NOW),
    )
    return {"trials": trials, "answers": answers}


def cast(name: str, frame: pl.DataFrame) -> pl.DataFrame:
    kinds = {column.name: column.dtype for column in TABLES[name].columns}
    return frame.with_columns(pl.col(c).cast(kinds[c]) for c in frame.columns)


if __name__ == "__main__":
    main()
