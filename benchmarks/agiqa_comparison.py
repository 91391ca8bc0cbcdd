"""What the comparison of image and prompt in ``metric-transformer-tuned`` learns from, on AGIQA-3K.

    python benchmarks/agiqa_comparison.py CACHE            # five folds over the development prompts
    python benchmarks/agiqa_comparison.py CACHE --unseen   # one generator left out at a time; prompts are known

Only the kind that is fitted after the last step is fitted: Gaussian processes, and regressions on what they and
the comparison say. Each row is a regression with the recipe's settings on fewer features, or on what is not held
out. Prompts, folds and the fifth of the prompts that is put aside, which is not used, are those of
``benchmarks/agiqa_scorer.py``; features are stored in CACHE.
"""

import argparse
from pathlib import Path

import numpy as np
import torch
from agiqa_learn import TUNED
from agiqa_paired import difference_cells
from agiqa_scorer import FOLDS, SOURCE, Floats, Images, Mask, agreement, interval, load
from numpy.typing import NDArray

from beholder.images.sources import named_files
from beholder.learn.recipe import load_recipe
from beholder.models.alignment.classifier import load_classifier
from beholder.models.alignment.comparison import FEATURES, NetworkOutputs
from beholder.models.alignment.fit import fit_comparison
from beholder.models.alignment.packaged import load_class_names
from beholder.models.alignment.regression import fit_rank_regression
from beholder.models.encoders.catalogue import load_encoders
from beholder.models.encoders.encode import encode_by
from beholder.models.gaussian_process.process import GaussianProcess
from beholder.models.text.sentence_encoder import load_sentence_encoder
from beholder.models.tuned_metrics.comparison_head import LEAST_WEIGHT
from beholder.models.tuned_metrics.settings import ComparisonSettings, ProcessSettings, TunedSettings

PROCESSES = ("quality", "alignment")
COLUMNS = (*(f"process of {metric}" for metric in PROCESSES), *FEATURES)
SEEN = ("classes", "evidence", "mapped")
"""Features that compare the image with the prompt; the others describe the prompt."""
ALL = "all features: the comparison"
ROWS = {
    "both processes": COLUMNS[:2],
    "and what the prompt is like": tuple(name for name in COLUMNS if name not in SEEN),
    "both processes, and what of the prompt is seen": (*COLUMNS[:2], *SEEN),
    "all but the process of alignment": (COLUMNS[0], *FEATURES),
    ALL: COLUMNS,
}
IN_SAMPLE = "all features, scores and map not held out"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cache", type=Path, metavar="CACHE")
    parser.add_argument("--unseen", action="store_true")
    arguments = parser.parse_args()
    settings = TunedSettings.model_validate(load_recipe(TUNED).model_settings_of(arguments.cache, 1))
    if settings.process is None or settings.comparison is None:
        raise SystemExit(f"{TUNED} has no comparison")
    images = load(arguments.cache)
    generators = images.table["generator"].to_numpy()
    vectors, outputs = read_features(images, arguments.cache, settings.process, settings.comparison.network)
    scores = {
        name: np.full(len(generators), np.nan)
        for name in (*(f"process of {metric}" for metric in PROCESSES), *ROWS, IN_SAMPLE)
    }
    part_of, parts = (generators, np.unique(generators)) if arguments.unseen else (images.fold, range(FOLDS))
    for part in parts:
        test, train = images.development & (part_of == part), images.development & (part_of != part)
        by_row = fit_and_score(images, vectors, outputs, train, test, settings.process, settings.comparison)
        for name, held_out in by_row.items():
            scores[name][test] = held_out
    print_table(images, scores)


def read_features(
    images: Images, cache: Path, process: ProcessSettings, network: str
) -> tuple[NDArray[np.float32], NetworkOutputs]:
    """Vectors of the encoders of the processes, with the prompt's, and what the network says of the images."""
    names = images.table["name"].to_list()
    files = named_files(names, [SOURCE / "image" / name for name in names])
    encoded = encode_by(files, load_encoders((*process.encoders, network), {}), folder=cache).features
    text = load_sentence_encoder()
    sentences = text.encode(images.table["prompt"].to_list()).astype(np.float32) * text.dims**0.5
    vectors = np.concatenate([*(part.vectors for part in encoded[:-1]), sentences], axis=1)
    return vectors, load_classifier(network).classify(encoded[-1].vectors)


def fit_and_score(
    images: Images,
    vectors: NDArray[np.float32],
    outputs: NetworkOutputs,
    train: Mask,
    test: Mask,
    process: ProcessSettings,
    comparison: ComparisonSettings,
) -> dict[str, Floats]:
    """Scores of the test images by every row, fitted to the training images."""
    prompts = images.table["prompt"].to_numpy()
    prompt_of = np.unique(prompts[train], return_inverse=True)[1].astype(np.int64)
    opinions = np.column_stack([images.quality, images.table["mos_align"].to_numpy()])[train]
    standard = (opinions - opinions.mean(axis=0)) / opinions.std(axis=0)
    gaussian = GaussianProcess(group_sizes(process), len(PROCESSES))
    held_out = gaussian.fit(
        torch.from_numpy(vectors[train]),
        torch.from_numpy(standard).float(),
        torch.from_numpy(prompt_of),
        steps=process.steps,
        rate=process.rate,
    )
    sentences = (vectors[:, -load_sentence_encoder().dims :] / load_sentence_encoder().dims ** 0.5).astype(
        np.float64
    )
    weights = np.maximum(standard[:, 1] + 1, LEAST_WEIGHT)
    fitted, mapped = fit_comparison(
        load_class_names(), rows_of(outputs, train), sentences[train], weights, prompt_of, comparison.map_ridge
    )

    def features(mask: Mask, by_process: torch.Tensor, in_sentences: Floats | None) -> Floats:
        prompts_of_rows, image_scores = prompts[mask].tolist(), by_process.double().numpy()
        return fitted.features(
            image_scores, rows_of(outputs, mask), prompts_of_rows, sentences[mask], in_sentences
        )

    by_process = gaussian(torch.from_numpy(vectors[test]))
    training, testing = features(train, held_out, mapped), features(test, by_process, None)
    scores = {f"process of {metric}": by_process[:, place].numpy() for place, metric in enumerate(PROCESSES)}
    for name, columns in ROWS.items():
        places = [COLUMNS.index(column) for column in columns]
        regression = fit_rank_regression(training[:, places], standard[:, 1], comparison.ridge)
        scores[name] = regression.scores(testing[:, places])
    in_sample = features(train, gaussian(torch.from_numpy(vectors[train])), None)
    return scores | {IN_SAMPLE: fit_rank_regression(in_sample, standard[:, 1], comparison.ridge).scores(testing)}


def group_sizes(process: ProcessSettings) -> list[int]:
    encoders = load_encoders(process.encoders, {})
    sizes = [size for encoder in encoders for size in encoder.groups or (encoder.dims,)]
    return [*sizes, load_sentence_encoder().dims]


def rows_of(outputs: NetworkOutputs, mask: Mask) -> NetworkOutputs:
    return NetworkOutputs(outputs.features[mask], outputs.logits[mask])


def print_table(images: Images, scores: dict[str, Floats]) -> None:
    """Print agreement with raters' alignment, and the difference of each row to the first."""
    mask = images.development
    truth, prompts = images.table["mos_align"].to_numpy()[mask], images.table["prompt"].to_numpy()[mask].tolist()
    first = scores[COLUMNS[0]][mask]
    print("| regression on | SRCC | PLCC | SRCC within generators | SRCC less that of the process of quality |")
    print("|---|---|---|---|---|")
    for name, column in scores.items():
        rows = {row["statistic"]: row for row in agreement(images, column, mask, aspect="align")}
        cells = [interval(rows[key]) for key in ("spearman", "pearson", "spearman-within-generators")]
        gain = "–" if name == COLUMNS[0] else difference_cells(column[mask], first, truth, prompts)[0]
        print(f"| {name} | {' | '.join(cells)} | {gain} |", flush=True)


if __name__ == "__main__":
    main()
