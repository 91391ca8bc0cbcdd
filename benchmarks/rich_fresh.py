"""Trained rich-feedback models on a world that nothing was chosen on: its seed is drawn once, then used once.

    python benchmarks/rich_learn.py FOLDER --fresh

calls :func:`evaluate_fresh` after training. The seed is drawn by the operating system and written to
``FOLDER/fresh.json`` before anything is rendered, so that no disappointing world can be drawn again unnoticed.
Images whose prompt the training world has too are left out. Printed are the paper's four tables, the paired
differences of the first recipe to each other with confidence intervals over prompts, the F1 of misaligned
keywords by kind of word, and the calibration error.
"""

import csv
import json
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
from rich_world import make_world

from beholder.feedback.labels import MISSED
from beholder.feedback.predictions import read_predictions, write_predictions
from beholder.learn.data_loader import ImageCache
from beholder.learn.figures.figure import EvaluationSettings, Figure
from beholder.learn.rich.evaluate import Comparison
from beholder.learn.rich.examples import RichLabels, read_rich_labels
from beholder.learn.rich.ground_truth import NAME, ground_truth_feedback
from beholder.learn.rich.predict import predict_feedback, predictions_by_image
from beholder.learn.rich.statistics import RichPrediction
from beholder.learn.rich.tables import TABLES, Column, compared_row, flatten_rows
from beholder.learn.trained_models import MODELS_FOLDER
from beholder.models.weights.checkpoint import WEIGHTS, load_rich_checkpoint
from beholder.simulate.grammar import COLOURS, COUNT_WORDS, PLURALS
from beholder.stats.intervals.bootstrap import rater_weights
from beholder.stats.prediction.calibration_error import calibration_error
from beholder.study.words import split_words
from beholder.tables.provenance import file_hash
from beholder.tables.store import FEATURES_ROOM, Store

PROMPTS = 1_500
REPLICATES = 1_000
LOWER_IS_BETTER = ("heatmap-mse", "heatmap-mse-empty", "heatmap-kld")
KINDS = ("relation", "colour", "object", "size", "count")

Predictions = Mapping[str, RichPrediction]


def fresh_world(folder: Path, prompts: int) -> Path:
    """The folder of the fresh world of a study, made with a seed that is drawn now unless it was before."""
    record, world = folder / "fresh.json", folder.with_name(f"{folder.name}-fresh")
    if not record.is_file():
        drawn = {"seed": secrets.randbelow(2**31), "prompts": prompts, "drawn": time.strftime("%Y-%m-%d %H:%M:%S")}
        record.write_text(json.dumps(drawn, indent=1), encoding="utf-8")
    settings = json.loads(record.read_text(encoding="utf-8"))
    make_world(world, prompts=settings["prompts"], seed=settings["seed"])
    print(json.dumps(settings), flush=True)
    return world


def evaluate_fresh(folder: Path, groups: Mapping[str, Sequence[str]], prompts: int = PROMPTS) -> None:
    """Print all tables of models (row -> names below ``models/``) on the fresh world, and write every figure."""
    world = fresh_world(folder, prompts)
    labels = without_prompts(read_rich_labels(Store(world)), read_rich_labels(Store(folder)))
    names = [name for models in groups.values() for name in models]
    predictions = {name: predict(folder / MODELS_FOLDER / name, world, labels) for name in names}
    truth = ground_truth_feedback(Store(world), labels, list(labels.examples))
    rows = {**groups, NAME: [NAME]} if truth else groups
    everything = {**predictions, **({NAME: truth} if truth else {})}
    comparison = Comparison(labels, everything, EvaluationSettings(replicates=REPLICATES))
    unseen = len({example.prompt for example in labels.examples.values()})
    print(f"{len(labels.examples):,} images of {unseen:,} prompts that the training world does not have\n")
    table = [compared_row(row, comparison, models) for row, models in rows.items()]
    _write(world / "tables.csv", list(flatten_rows(table)))
    for each in TABLES:
        columns = [column for column in each.columns if any(row.cell(column) for row in table)]
        lines = [(row.name, *(_cell(row.cell(column)) for column in columns)) for row in table]
        print_table(each.title, ["model", *(column.heading for column in columns)], lines)
    print_differences(comparison, groups, world)
    _print_kinds(labels, groups, predictions)
    _print_calibration(labels, groups, predictions)


def without_prompts(labels: RichLabels, others: RichLabels) -> RichLabels:
    """The labels of images whose prompt is in no example of the others."""
    seen = {example.prompt for example in others.examples.values()}
    examples = {image: example for image, example in labels.examples.items() if example.prompt not in seen}
    paths = {image: labels.paths[image] for image in examples}
    return replace(labels, examples=examples, paths=paths)


def predict(model_folder: Path, world: Path, labels: RichLabels) -> dict[str, RichPrediction]:
    """Predictions of a model on the fresh world, computed once."""
    path = world / "predictions" / f"{model_folder.name}.npz"
    saved = read_predictions(path)
    weights = file_hash(model_folder / WEIGHTS)
    if saved is None or saved.weights != weights:
        model, _ = load_rich_checkpoint(model_folder)
        image_cache = ImageCache(labels.paths)
        image_cache.prepare_all(model, world / FEATURES_ROOM)
        saved = predict_feedback(model, image_cache, list(labels.examples.values()), weights)
        path.parent.mkdir(exist_ok=True)
        write_predictions(path, saved)
    return predictions_by_image(saved)


def print_differences(comparison: Comparison, groups: Mapping[str, Sequence[str]], world: Path) -> None:
    """Differences of the first row to each other, so that positive is better, column by column."""
    first, *others = groups
    by_row = {
        other: {
            (figure.aspect, figure.statistic): _oriented(figure)
            for figure in comparison.differences(groups[first], groups[other])
        }
        for other in others
    }
    columns = [column for table in TABLES for column in table.columns]
    lines = []
    for column in columns:
        cells = [by_row[other].get((column.aspect, column.statistic)) for other in others]
        if any(cells):
            lines.append((_called(column), *(_difference(figure) for figure in cells)))
    title = f"{first} minus the others; the sign is turned where less is better, and bold excludes 0"
    print_table(title, ["figure", *others], lines)
    records = [
        {"row": other, **asdict(figure)} for other, figures in by_row.items() for figure in figures.values()
    ]
    _write(world / "differences.csv", records)


def _oriented(figure: Figure) -> Figure:
    if figure.statistic not in LOWER_IS_BETTER:
        return figure
    return replace(figure, value=-figure.value, low=-figure.high, high=-figure.low)


def _called(column: Column) -> str:
    return column.heading if column.aspect in column.heading else f"{column.aspect} {column.heading}"


def _print_kinds(
    labels: RichLabels, groups: Mapping[str, Sequence[str]], predictions: Mapping[str, Predictions]
) -> None:
    """F1 of misaligned keywords by kind of word, model by model."""
    lines = []
    for name in (name for models in groups.values() for name in models):
        by_kind = keyword_f1_by_kind(labels, predictions[name])
        if by_kind:
            lines.append((name, *(f"{by_kind[kind]:.3f}" for kind in ("all", *KINDS))))
    print_table("F1 of misaligned keywords by kind of word", ["model", "all words", *KINDS], lines)


def keyword_f1_by_kind(labels: RichLabels, predicted: Predictions) -> dict[str, float]:
    """Kind of word -> pooled F1; empty where a model predicts no words."""
    counts = {kind: np.zeros(3) for kind in ("all", "other", *KINDS)}  # hits, false alarms, misses
    for image, prediction in predicted.items():
        example = labels.examples[image]
        if prediction.misaligned is None or example.misaligned is None:
            continue
        for word, flag, chance in zip(
            split_words(example.prompt), example.misaligned, prediction.misaligned, strict=True
        ):
            marked = bool(chance > MISSED)
            for kind in ("all", word_kind(word)):
                counts[kind] += (marked and flag, marked and not flag, flag and not marked)
    if not counts["all"].any():
        return {}
    return {kind: 2 * hits / max(2 * hits + alarms + misses, 1) for kind, (hits, alarms, misses) in counts.items()}


def word_kind(word: str) -> str:
    """What a word of the synthetic world's prompts states."""
    lower = word.lower()
    kinds = {
        "relation": ("above", "below", "left", "right", "of"),
        "colour": COLOURS,
        "object": (*PLURALS, *PLURALS.values()),
        "size": ("small", "large"),
        "count": (*COUNT_WORDS, "an"),
    }
    return next((kind for kind, words in kinds.items() if lower in words), "other")


def _print_calibration(
    labels: RichLabels, groups: Mapping[str, Sequence[str]], predictions: Mapping[str, Predictions]
) -> None:
    """Expected calibration error of the keyword probabilities and of the scores, by model."""
    prompts = sorted({example.prompt for example in labels.examples.values()})
    number = {prompt: index for index, prompt in enumerate(prompts)}
    weights = rater_weights(np.zeros(len(prompts), np.int64), 200, np.random.default_rng(0))
    aspects = ("plausibility", "aesthetics", "alignment", "overall")
    lines = []
    for name in (name for models in groups.values() for name in models):
        cells = []
        predicted = predictions[name]
        of_words = [
            (chance, flag, number[labels.examples[image].prompt])
            for image, prediction in predicted.items()
            if prediction.misaligned is not None
            for chance, flag in zip(prediction.misaligned, labels.examples[image].misaligned or (), strict=False)
        ]
        cells.append(_calibration(of_words, weights))
        for aspect in aspects:
            pairs = [
                (
                    prediction.scores[aspect],
                    labels.examples[image].scores[aspect],
                    number[labels.examples[image].prompt],
                )
                for image, prediction in predicted.items()
                if aspect in prediction.scores and aspect in labels.examples[image].scores
            ]
            cells.append(_calibration(pairs, weights))
        lines.append((name, *cells))
    print_table("Expected calibration error", ["model", "keywords", *aspects], lines)


def _calibration(labelled: Sequence[tuple[float, float, int]], weights: np.ndarray) -> str:
    if not labelled:
        return ""
    predicted, observed, clusters = map(np.array, zip(*labelled, strict=True))
    error = calibration_error(
        predicted.astype(float), observed.astype(float), np.ones(len(predicted)), weights, clusters=clusters
    )
    return f"{error.value:.3f}"


def _cell(cell: object) -> str:
    if cell is None:
        return ""
    figure, spread = cell.figure, cell.spread  # type: ignore[attr-defined]
    digits = 4 if "mse" in figure.statistic else 3
    around = f" ± {spread:.{digits}f}" if np.isfinite(spread) else ""
    return f"{figure.value:.{digits}f}{around} [{figure.low:.{digits}f}, {figure.high:.{digits}f}]"


def _difference(figure: Figure | None) -> str:
    if figure is None:
        return ""
    digits = 4 if "mse" in figure.statistic else 3
    text = f"{figure.value:+.{digits}f} [{figure.low:+.{digits}f}, {figure.high:+.{digits}f}]"
    return f"**{text}**" if figure.low > 0 or figure.high < 0 else text


def print_table(title: str, columns: Sequence[str], lines: Sequence[Sequence[str]]) -> None:
    """One table as Markdown."""
    print(f"### {title}\n\n| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    for line in lines:
        if any(line[1:]):
            print(f"| {' | '.join(line)} |")
    print(flush=True)


def _write(path: Path, records: Sequence[Mapping[str, object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(records[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(records)
