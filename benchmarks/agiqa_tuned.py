"""The fine-tuned recipe and its baselines, after ``agiqa_learn.py``: ``python benchmarks/agiqa_tuned.py FOLDER``.

Prints how well its held-out scores of FOLDER agree with raters, on all prompts and on the fifth of them that was
put aside when the recipe was chosen (``benchmarks/agiqa_scorer.py``), and the differences to two baselines: the
mean opinion of the generator's images in the other folds, and the score of the other aspect.
"""

import argparse
from pathlib import Path

import numpy as np
import polars as pl
from agiqa_learn import FIXED, OTHER
from agiqa_paired import difference_cells
from agiqa_scorer import ASIDE, Floats, Mask, split_prompts
from agiqa_tables import fold_of, scores
from scipy.stats import pearsonr, spearmanr

from beholder.learn.recipe import load_recipe

MODEL = "tuned"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    table = scores(folder)
    folds = fold_of(folder, load_recipe("metric-transformer", FIXED))
    table = table.filter(pl.col("image").is_in(list(folds))).with_columns(
        fold=pl.col("image").replace_strict(folds, return_dtype=pl.Int64)
    )
    aside_of = split_prompts(table["prompt"].unique())
    aside = table["prompt"].replace_strict(aside_of, return_dtype=pl.Int64).to_numpy() == ASIDE
    print(
        "| | prompts | SRCC | PLCC | SRCC less the generator mean's | PLCC | SRCC less the other score's | PLCC |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for aspect in OTHER:
        for words, mask in (("all", np.ones(len(aside), bool)), ("put aside", aside), ("not put aside", ~aside)):
            print_row(table, aspect, words, mask)


def print_row(table: pl.DataFrame, aspect: str, words: str, mask: Mask) -> None:
    rows = table.filter(mask)
    truth, prompts = rows[aspect].to_numpy(), rows["prompt"].to_list()
    own, other = (rows[f"{MODEL} {each}"].to_numpy() for each in (aspect, OTHER[aspect]))
    cells = [f"{statistic(own, truth).statistic:.4f}" for statistic in (spearmanr, pearsonr)]
    for baseline in (generator_means(table, aspect)[mask], other):
        cells += difference_cells(own, baseline, truth, prompts)
    print(f"| {aspect}, {words} | {len(set(prompts))} | {' | '.join(cells)} |", flush=True)


def generator_means(table: pl.DataFrame, aspect: str) -> Floats:
    """For each image the mean opinion of its generator's images in the other folds."""
    of_both = [pl.col(aspect).sum().over(keys) for keys in (["generator"], ["generator", "fold"])]
    counts = [pl.len().over(keys) for keys in (["generator"], ["generator", "fold"])]
    mean = (of_both[0] - of_both[1]) / (counts[0] - counts[1])
    return table.select(mean.alias("mean"))["mean"].to_numpy()


if __name__ == "__main__":
    main()
