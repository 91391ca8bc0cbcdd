"""Correlation of metrics with AGIQA-3K's mean opinion scores: ``python benchmarks/agiqa.py``.

Those are the scorers without weights, and the one distance that needs no real images. Reads the data and images
below ``BEHOLDER_SHARED`` (``../shared`` by default) and prints tables in Markdown. Images that are not
available are excluded, and counted. The study is kept in ``FOLDER``, so that a killed run can be resumed.
"""

import argparse
import os
import time
from pathlib import Path

import polars as pl

from beholder.consolidate.stage import run as consolidate
from beholder.formats.catalogue import READABLE
from beholder.formats.folder import write_folder
from beholder.measure.settings import MeasureSettings
from beholder.measure.stage import run as measure
from beholder.rank.stage import run as rank
from beholder.report.text.metric_verdict import verdicts
from beholder.scorers.catalogue import SCORERS, default_scorers
from beholder.study.study import FILE_NAME
from beholder.tables.store import Store

SOURCE = Path(os.environ.get("BEHOLDER_SHARED", Path(__file__).parents[2] / "shared")) / "data" / "agiqa-3k"
STATISTICS = ("spearman", "pearson", "kendall", "spearman-within-generators", "pair-accuracy-micro")
WITHOUT_WEIGHTS = tuple(name for name in default_scorers() if not SCORERS[name].packages)
"""The scorers that were trained on images of AGIQA-3K are in ``benchmarks/agiqa_words.py``."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--encoder", default="efficientnet-lite2")
    arguments = parser.parse_args()
    folder, began = arguments.folder, time.monotonic()
    if not (folder / FILE_NAME).is_file():
        imported = READABLE["agiqa"](SOURCE / "data.csv", images=SOURCE / "image")
        write_folder(imported, folder, form="agiqa", source=SOURCE)
    consolidate(folder)
    rank(folder)
    settings = MeasureSettings(arguments.encoder, distances=("vendi",), scorers=WITHOUT_WEIGHTS, skip_broken=True)
    measure(folder, measuring=settings)
    store = Store(folder)
    correlations = store.read("correlations").filter(pl.col("slice") == "all")
    metric_verdicts = verdicts(correlations, store.read("metric_separations"))
    for aspect in sorted(correlations["aspect"].unique()):
        for level, statistics in (("image", STATISTICS), ("generator", ("spearman", "pearson"))):
            print(f"\n### {aspect}, by {level}\n")
            show(correlations.filter(aspect=aspect, level=level), statistics)
    print("\n" + "\n\n".join(str(metric_verdict) for metric_verdict in metric_verdicts))
    print(f"\n{time.monotonic() - began:.0f} s")


def show(rows: pl.DataFrame, statistics: tuple[str, ...]) -> None:
    """Print one row per metric and one column per statistic; generator-mean baseline and human ceiling below."""
    columns = [name for name in statistics if name in rows["statistic"]]
    print(f"| metric | {' | '.join(columns)} | items |\n|---|{'---|' * len(columns)}---|")
    for metric in rows["metric"].unique(maintain_order=True):
        by_statistic = {row["statistic"]: row for row in rows.filter(metric=metric).iter_rows(named=True)}
        cells = [cell(by_statistic.get(name), "value", "low", "high") for name in columns]
        print(f"| `{metric}` | {' | '.join(cells)} | {by_statistic[columns[0]]['items']} |")
    first = {row["statistic"]: row for row in rows.unique("statistic", keep="first").iter_rows(named=True)}
    for bound in ("floor", "ceiling"):
        print(f"| *{bound}* | {' | '.join(cell(first[name], bound) for name in columns)} | |")


def cell(row: dict[str, object] | None, *names: str) -> str:
    """Return a value with its confidence interval, as far as they are defined."""
    values = [row[name] for name in names] if row else [None]
    text = [f"{value:.2f}".replace("-", "−").replace("0.", ".") for value in values if isinstance(value, float)]
    if not text:
        return "–"
    return text[0] if len(text) < 3 else f"{text[0]} [{text[1]}, {text[2]}]"


if __name__ == "__main__":
    main()
