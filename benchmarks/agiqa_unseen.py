"""The Metric Transformer on AGIQA-3K with generators left out: ``python benchmarks/agiqa_unseen.py FOLDER``.

Each image is scored by four networks that were trained on no image of its generator (ten folds), or, with
``--tuned``, by the recipe ``metric-transformer-tuned`` without two generators at a time (five folds). Prompts are
the same in both parts. Makes a study in FOLDER as ``agiqa_learn.py`` does, but without images that are copies of
others, since some are copies of another generator's; resumes where it was stopped. Prints the table.
"""

import argparse
from dataclasses import replace
from pathlib import Path

import polars as pl
from agiqa_learn import SOURCE, TUNED

from beholder.consolidate.stage import run as consolidate
from beholder.formats.catalogue import READABLE
from beholder.formats.folder import write_folder
from beholder.learn.recipe import load_recipe
from beholder.learn.stage import run as learn

COMMON = ("data.method=published-mean", "split.seed=1", "split.by=generator")
FOUR = (*COMMON, "split.folds=10", "model.members=4")
FIVE_FOLDS = (*COMMON, "split.folds=5", "training.precision=bf16")
SHOWN = ("spearman", "pearson", "spearman-within-generators", "pair-accuracy-micro")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tuned", action="store_true")
    arguments = parser.parse_args()
    make_study(arguments.folder)
    recipe = load_recipe(TUNED, FIVE_FOLDS) if arguments.tuned else load_recipe("metric-transformer", FOUR)
    figures = learn(arguments.folder, recipe, name="tuned" if arguments.tuned else "four", resume=True).figures
    print("| aspect | statistic | value |\n|---|---|---|")
    for figure in figures:
        if figure.statistic in SHOWN:
            interval = f"[{figure.low:.3f}, {figure.high:.3f}]"
            print(f"| {figure.aspect} | {figure.statistic} | {figure.value:.3f} {interval} |")


def make_study(folder: Path) -> None:
    """Import the published mean opinion scores of images that have no copy."""
    if (folder / "study.toml").is_file():
        return
    imported = READABLE["agiqa"](SOURCE / "data.csv", images=SOURCE / "image")
    images = imported.tables["images"].filter(~pl.col("sha256").is_duplicated())
    published = imported.tables["published"].filter(pl.col("image").is_in(images["image"].to_list()))
    tables = {**imported.tables, "images": images, "published": published}
    write_folder(replace(imported, tables=tables), folder, form="agiqa", source=SOURCE)
    consolidate(folder)


if __name__ == "__main__":
    main()
