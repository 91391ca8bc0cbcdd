"""The search for the settings of both similarity baselines of rich feedback, on a development world alone.

    python benchmarks/rich_search.py FOLDER [--recipe NAME …]

makes the first 2,300 prompts of the development world of ``benchmarks/rich_learn.py``, trains every trial on
10,000 of its images with seed 0, and prints the mean PLCC of the four scores on 1,000 others. The best trial is
then trained with two more seeds, as is the former setting, and both are compared on every row, paired by prompt.
Models that exist already are not trained again.
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from rich_fresh import REPLICATES, print_differences, print_table
from rich_world import make_world

from beholder.learn.figures.figure import EvaluationSettings
from beholder.learn.recipe import load_recipe
from beholder.learn.rich.evaluate import Comparison
from beholder.learn.rich.held_out import predict_held_out
from beholder.learn.rich.tables import SCORED
from beholder.learn.stage import run
from beholder.learn.trained_models import MODELS_FOLDER
from beholder.models.weights.checkpoint import read_record

PROMPTS, JUDGED, VALIDATED = 2_300, 200, 100
"""Of the development world; held out to judge; held out for validation. Each has five images."""
SEEDS = (0, 1, 2)

TRIALS = 5
"""As many as the model and the convolutions had."""
RATES = (1e-3, 2e-3)
"""Learning rates of the first two trials, with one epoch; both are those of the recipes before."""
EPOCHS = 2.5
"""Of the further trials: as many as the model has."""
FORMER = {"tiny-rich-similarity-tuned": 1, "tiny-rich-similarity": 0}
"""Recipe -> the trial (from 0) whose setting was tested on a fresh world before this search."""
BATCHES = {"tiny-rich-similarity-tuned": 16, "tiny-rich-similarity": 64}
"""Recipe -> the batch of the last trial; the second is trained by comparing the images of a batch."""

Trial = Mapping[str, float]
"""Setting of ``[training]`` -> value; all else is as in the recipe."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--recipe", action="append", choices=list(FORMER), help="search only this one")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    make_world(arguments.folder, prompts=PROMPTS)
    for recipe in arguments.recipe or FORMER:
        search(arguments.folder, recipe)


def search(folder: Path, recipe: str) -> None:
    """Train and judge every trial of a recipe, then the seeds of the best and of the former setting."""
    trials: list[Trial] = []
    means: list[float] = []
    while len(trials) < TRIALS:
        trials.append(next_trial(recipe, trials, means))
        means.append(mean_plcc(folder, train(folder, recipe, trials, len(trials) - 1)))
    names = [model_name(recipe, number) for number in range(TRIALS)]
    lines = [
        (name, _described(trial), f"{mean:.3f}", f"{minutes(folder, name):.1f}")
        for name, trial, mean in zip(names, trials, means, strict=True)
    ]
    print_table(f"Trials of {recipe}", ["model", "settings", "mean PLCC of four scores", "minutes"], lines)
    best = int(np.argmax(means))
    groups = {
        f"trial {number + 1}": [train(folder, recipe, trials, number, seed) for seed in SEEDS]
        for number in dict.fromkeys((best, FORMER[recipe]))
    }
    by_seed = [(row, *(f"{mean_plcc(folder, name):.3f}" for name in models)) for row, models in groups.items()]
    print_table("Mean PLCC by seed", ["trial", *(f"seed {seed}" for seed in SEEDS)], by_seed)
    if len(groups) > 1:
        held_out = predict_held_out(folder, [name for models in groups.values() for name in models])
        comparison = Comparison(held_out.rich_labels, held_out.by_model, EvaluationSettings(replicates=REPLICATES))
        print_differences(comparison, groups, folder)


def next_trial(recipe: str, trials: Sequence[Trial], means: Sequence[float]) -> Trial:
    """The next trial, by a fixed rule: each changes one setting of the best so far.

    First two learning rates; then more epochs with the better rate; then a rate beyond it; then another batch.
    """
    if len(trials) < len(RATES):
        return {"learning_rate": RATES[len(trials)], "epochs": 1}
    best = trials[int(np.argmax(means))]
    if len(trials) == len(RATES):
        return {**best, "epochs": EPOCHS}
    if len(trials) == len(RATES) + 1:
        rate = trials[-1]["learning_rate"]
        return {"learning_rate": 2 * rate if rate == max(RATES) else rate / 2, "epochs": EPOCHS}
    return {**best, "batch": BATCHES[recipe]}


def train(folder: Path, recipe: str, trials: Sequence[Trial], number: int, seed: int = 0) -> str:
    """Return the name of the model of a trial, trained now unless it was before."""
    changes = [f"training.{key}={value}" for key, value in trials[number].items()]
    split = [f"split.test={JUDGED / PROMPTS}", f"split.validation={VALIDATED / (PROMPTS - JUDGED)}"]
    settings = load_recipe(recipe, [*changes, *split, f"training.seed={seed}"])
    run(folder, settings, name=model_name(recipe, number, seed), resume=True)
    return model_name(recipe, number, seed)


def model_name(recipe: str, number: int, seed: int = 0) -> str:
    """The name of the model of a trial, which is counted from 0."""
    return f"{recipe}-trial-{number + 1}-seed-{seed}"


def mean_plcc(folder: Path, name: str) -> float:
    """Mean PLCC of the four scores of a model, on the images held out to judge it."""
    held_out = predict_held_out(folder, [name])
    comparison = Comparison(held_out.rich_labels, held_out.by_model, EvaluationSettings(replicates=2))
    figures = {(mean.figure.aspect, mean.figure.statistic): mean.figure.value for mean in comparison.means([name])}
    return float(np.mean([figures[aspect, "pearson"] for aspect in SCORED]))


def minutes(folder: Path, name: str) -> float:
    """Wall-clock time of a model's training."""
    return float(str(read_record(folder / MODELS_FOLDER / name).about["seconds"])) / 60


def _described(trial: Trial) -> str:
    return ", ".join(f"{key.replace('_', ' ')} {value:g}" for key, value in trial.items())


if __name__ == "__main__":
    main()
