"""The recipe ``metric-ensemble`` on AGIQA-3K: ``python benchmarks/agiqa_ensemble.py FOLDER``.

FOLDER is that of ``benchmarks/agiqa_learn.py``, or a new one. Trains, by five folds over prompts, the ensemble and
the four networks that it is compared with, and the ensemble with each generator left out in turn; what exists
already is skipped. Then it prints the agreement with raters of each, of the packaged head on the same folds
and of the generator-mean baseline, and paired differences, with confidence intervals over prompts. ``--only NAME``
trains one; ``--show`` prints what is done.
"""

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import polars as pl
from agiqa_learn import FIXED, make_study
from agiqa_scorer import CHOSEN, HELD_OUT, SEED
from agiqa_scorer_fit import fit_head
from agiqa_tables import ASPECTS, fold_of, scores
from numpy.typing import NDArray
from scipy.stats import rankdata

from beholder.images.sources import named_files
from beholder.learn.recipe import load_recipe
from beholder.learn.stage import run as learn
from beholder.learn.trained_models import FIGURES
from beholder.models.encoders.catalogue import load_encoder
from beholder.models.encoders.encode import encode_by
from beholder.models.quality.packaged import ENCODERS
from beholder.tables.store import FEATURES_ROOM, Store

RUNS = {
    "ensemble": ("metric-ensemble", FIXED),
    "four": ("metric-transformer", (*FIXED, "model.members=4")),
    "unseen": ("metric-ensemble", (FIXED[0], "split.folds=10", "split.seed=1", "split.by=generator")),
}
"""Name -> recipe and changes; ``unseen`` leaves out one generator at a time."""
WORDS = {
    "ensemble": "`metric-ensemble`",
    "four": "`metric-transformer`, four networks",
    "packaged": "the head of `agiqa-quality`",
    "baseline": "generator means",
    "unseen": "`metric-ensemble`, generator not seen",
}
REPLICATES = 1000
Numbers = NDArray[np.float64]
Statistic = Callable[[Numbers, Numbers, NDArray[np.int64]], float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", choices=RUNS)
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    make_study(arguments.folder)
    for name, (recipe, changes) in RUNS.items():
        if not arguments.show and arguments.only in (None, name):
            learn(arguments.folder, load_recipe(recipe, changes), name=name, resume=True)
    if arguments.only is None:
        print_tables(arguments.folder)


def print_tables(folder: Path) -> None:
    """Print agreement and differences, in Markdown."""
    done = [name for name in RUNS if (folder / "models" / name / FIGURES).is_file()]
    table = scores(folder)
    folds = fold_of(folder, load_recipe("metric-ensemble", FIXED))
    fold = np.array([folds[image] for image in table["image"]])
    generators = np.unique(table["generator"].to_numpy(), return_inverse=True)[1]
    prompts = np.unique(table["prompt"].to_numpy(), return_inverse=True)[1]
    aside = put_aside(folder, table)
    for aspect in ASPECTS:
        opinions = table[aspect].to_numpy()
        columns = {name: table[f"{name} {aspect}"].to_numpy() for name in done}
        columns["baseline"] = generator_means(opinions, generators, fold)
        if aspect == "quality":
            columns["packaged"] = packaged_head(folder, table, opinions, fold)
        for label, mask in (("all prompts", np.ones(len(aside), bool)), ("prompts put aside", aside)):
            print(f"\n## {aspect}, {label}: {mask.sum()} images, {len(np.unique(prompts[mask]))} prompts\n")
            chosen = {name: column[mask] for name, column in columns.items()}
            print_agreement(chosen, opinions[mask], generators[mask], prompts[mask])


def print_agreement(
    columns: Mapping[str, Numbers], opinions: Numbers, generators: NDArray[np.int64], prompts: NDArray[np.int64]
) -> None:
    """Print the statistics of each column, then how far the ensemble is ahead of the others."""
    replicates = list(resampled(prompts))
    values = {
        (name, label): np.array([statistic(column[rows], opinions[rows], generators[rows]) for rows in replicates])
        for name, column in columns.items()
        for label, statistic in STATISTICS.items()
    }
    print(f"| | {' | '.join(STATISTICS)} |\n|---|{'---|' * len(STATISTICS)}")
    for name in (name for name in WORDS if name in columns):
        cells = [interval(values[name, label]) for label in STATISTICS]
        print(f"| {WORDS[name]} | {' | '.join(cells)} |", flush=True)
    for name in (name for name in WORDS if name in columns and name != "ensemble" and "ensemble" in columns):
        cells = [interval(values["ensemble", label] - values[name, label]) for label in STATISTICS]
        print(f"| `metric-ensemble` − {WORDS[name]} | {' | '.join(cells)} |", flush=True)


def resampled(prompts: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Rows as they are, then bootstrap replicates: prompts resampled, all images of a prompt together."""
    rng = np.random.default_rng(0)
    rows = [np.flatnonzero(prompts == prompt) for prompt in np.unique(prompts)]
    return [np.arange(len(prompts))] + [
        np.concatenate([rows[number] for number in rng.integers(len(rows), size=len(rows))])
        for _ in range(REPLICATES)
    ]


def interval(values: Numbers) -> str:
    """The first value, with the 95 % confidence interval of the others."""
    low, high = np.quantile(values[1:], (0.025, 0.975))
    cells = [f"{value:.3f}".replace("-", "−").replace("0.", ".", 1) for value in (values[0], low, high)]
    return f"{cells[0]} [{cells[1]}, {cells[2]}]"


def pearson(scored: Numbers, opinions: Numbers, generators: NDArray[np.int64]) -> float:  # noqa: ARG001 - as every statistic
    """Pearson's correlation."""
    return float(np.corrcoef(scored, opinions)[0, 1])


def spearman(scored: Numbers, opinions: Numbers, generators: NDArray[np.int64]) -> float:
    """Spearman's correlation."""
    return pearson(rankdata(scored), rankdata(opinions), generators)


def spearman_within(scored: Numbers, opinions: Numbers, generators: NDArray[np.int64]) -> float:
    """Spearman's correlation within generators: of ranks among a generator's images, centred and pooled."""
    ranks = np.zeros((2, len(scored)))
    for generator in np.unique(generators):
        rows = generators == generator
        for row, values in zip(ranks, (scored, opinions), strict=True):
            own = rankdata(values[rows])
            row[rows] = own - own.mean()
    scale = np.sqrt((ranks**2).sum(axis=1).prod())
    return float((ranks[0] * ranks[1]).sum() / scale) if scale else 0.0


STATISTICS: dict[str, Statistic] = {"SRCC": spearman, "PLCC": pearson, "SRCC within generators": spearman_within}


def generator_means(opinions: Numbers, generators: NDArray[np.int64], fold: NDArray[np.int64]) -> Numbers:
    """The mean of the image's generator over the prompts of other folds."""
    means = np.zeros(len(opinions))
    for number, generator in {*zip(fold.tolist(), generators.tolist(), strict=True)}:
        others = opinions[(fold != number) & (generators == generator)]
        means[(fold == number) & (generators == generator)] = others.mean()
    return means


def packaged_head(folder: Path, table: pl.DataFrame, opinions: Numbers, fold: NDArray[np.int64]) -> Numbers:
    """Scores by heads with the settings of ``agiqa-quality``, each fitted to the other folds."""
    paths = dict(Store(folder).read("images").select("image", "path").iter_rows())
    files = named_files(table["image"].to_list(), [folder / paths[image] for image in table["image"]])
    features = encode_by(files, [load_encoder(name) for name in ENCODERS], folder=folder / FEATURES_ROOM).features
    vectors = np.concatenate([by_encoder.vectors for by_encoder in features], axis=1)
    scored = np.zeros(len(fold))
    for number in np.unique(fold):
        test = fold == number
        scored[test] = fit_head(vectors[~test], opinions[~test], CHOSEN).scores(vectors[test])
    return scored


def put_aside(folder: Path, table: pl.DataFrame) -> NDArray[np.bool_]:
    """Images of the prompts that were put aside when ``agiqa-quality`` was chosen; copies too."""
    texts = dict(Store(folder).read("prompts").select("prompt", "text").iter_rows())
    prompts = sorted(set(texts.values()))
    order = np.random.default_rng(SEED).permutation(len(prompts))
    chosen = {prompts[index] for index in order[: int(HELD_OUT * len(prompts))]}
    return np.array([texts[prompt] in chosen for prompt in table["prompt"]])


if __name__ == "__main__":
    main()
