"""A projection trained on clip art and its titles, as a scorer of alignment.

    python benchmarks/clip_art_titles.py CACHE --pictures FOLDER --names FOLDER --choose
    python benchmarks/clip_art_titles.py CACHE --pictures FOLDER --names FOLDER

Pictures and titles are Debian's ``openclipart-png`` and ``openclipart-svg``; FOLDER is ``usr/share/openclipart``
of the unpacked packages. Titles are split into training (60 %), choice of settings (20 %) and test (20 %). With
``--choose``, settings are compared by retrieval on the second part. Without, the settings that are written below
are tested by retrieval on the third; then a projection that is trained on all pairs is tested on the development
prompts of AGIQA-3K, which nothing was chosen on. Data and split of AGIQA-3K are those of
``benchmarks/agiqa_scorer.py``.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from agiqa_additions import extended, fit_folds, held_out, print_alone, print_gains
from agiqa_alignment import class_sentences, read_examples, timm_folder
from agiqa_scorer import SOURCE, Images, load
from clip_art_contrast import ContrastSettings, Pairs, Projection, Vectors, recalls, train_projection
from clip_art_pairs import Pair, read_pairs

from beholder.images.background import DEFAULT_BACKGROUND
from beholder.images.sources import ImageSource, named_files
from beholder.models.alignment.classifier import load_classifier
from beholder.models.alignment.comparison import Reference, as_unit, convex_combinations, rowwise
from beholder.models.components import signed_roots
from beholder.models.encoders.catalogue import load_encoder
from beholder.models.encoders.efficientnet_lite import SIZES
from beholder.models.encoders.encode import encode_by
from beholder.models.encoders.stage_features import head_means
from beholder.models.text.sentence_encoder import load_sentence_encoder

SEED, SEEDS = 61, 3
WHITE = "#ffffff"
MOMENTS, LITE2 = "efficientnet-lite0-moments", "efficientnet-lite2"
FEATURES = ("lite0", "lite0, all stages", "lite0 and lite2")
CHOSEN_FEATURES = "lite0"
CHOSEN = ContrastSettings(frozen_text=True)
GRID = [
    ContrastSettings(),
    *(ContrastSettings(dims=dims) for dims in (64, 384)),
    *(ContrastSettings(hidden=hidden) for hidden in (256, 1024)),
    ContrastSettings(frozen_text=True),
    *(ContrastSettings(dropout=dropout) for dropout in (0.2, 0.8)),
    *(ContrastSettings(decay=decay) for decay in (0.01, 1.0)),
    *(ContrastSettings(epochs=epochs) for epochs in (20, 180)),
    ContrastSettings(keywords=True),
]
RIDGE = 1e4
SIDES = ("train", "choose", "test")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cache", type=Path, metavar="CACHE")
    parser.add_argument("--pictures", type=Path, required=True, help="folder with png and svg")
    parser.add_argument("--names", type=Path, help="folder with imagenet_synsets.txt and the files beside it")
    parser.add_argument("--choose", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    pairs = readable(arguments.cache, read_pairs(arguments.pictures))
    sides = split(pairs)
    print(f"{len(pairs):,} pictures, {len({pair.group for pair in pairs}):,} titles")
    if arguments.choose:
        for features in FEATURES:
            choose(picture_vectors(arguments.cache, pairs, features), pairs, sides, features)
        return
    sentences = class_sentences(arguments.names or timm_folder())
    vectors = picture_vectors(arguments.cache, pairs, CHOSEN_FEATURES)
    test_retrieval(arguments.cache, vectors, pairs, sides, sentences)
    test_alignment(arguments.cache, vectors, pairs, sentences)


def readable(cache: Path, pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs whose pictures can be decoded."""
    encoded = encode_by(_files(pairs), [load_encoder(MOMENTS)], background=WHITE, folder=cache, skip_broken=True)
    names = set(encoded.features[0].names)
    return [pair for pair in pairs if str(pair.file) in names]


def split(pairs: Sequence[Pair]) -> np.ndarray:
    """Return the side of each pair, 0 to 2 as in ``SIDES``; pairs of one title are on one side."""
    groups = sorted({pair.group for pair in pairs})
    order = np.random.default_rng(SEED).permutation(len(groups))
    side = {
        groups[index]: int(np.searchsorted((0.6, 0.8), rank / len(groups), "right"))
        for rank, index in enumerate(order)
    }
    return np.array([side[pair.group] for pair in pairs])


def picture_vectors(cache: Path, pairs: Sequence[Pair], features: str) -> Vectors:
    """Features of the pictures on white."""
    return _vectors(cache, _files(pairs), features, WHITE)


def _files(pairs: Sequence[Pair]) -> list[ImageSource]:
    return named_files([str(pair.file) for pair in pairs], [pair.file for pair in pairs])


def _vectors(cache: Path, files: Sequence[ImageSource], features: str, background: str) -> Vectors:
    names = (MOMENTS, LITE2) if features == "lite0 and lite2" else (MOMENTS,)
    encoders = [load_encoder(name) for name in names]
    encoded = encode_by(files, encoders, folder=cache, background=background)
    first, *others = (each.vectors for each in encoded.features)
    if features == "lite0, all stages":
        return signed_roots(first).astype(np.float32)
    return np.concatenate([first[:, head_means(SIZES["lite0"])], *others], axis=1)


def text_pairs(vectors: Vectors, pairs: Sequence[Pair], *, keywords: bool) -> Pairs:
    """The pairs as tensors."""
    texts = [", ".join((pair.title, *pair.keywords)) if keywords else pair.title for pair in pairs]
    codes = np.unique([pair.group for pair in pairs], return_inverse=True)[1]
    sentences = load_sentence_encoder().encode(texts)
    return Pairs(torch.from_numpy(vectors), torch.from_numpy(sentences).float(), torch.from_numpy(codes))


def one_per_title(pairs: Sequence[Pair], mask: np.ndarray) -> torch.Tensor:
    """The first picture of each title."""
    first: dict[str, int] = {}
    for index in np.flatnonzero(mask).tolist():
        first.setdefault(pairs[index].group, index)
    return torch.tensor(list(first.values()))


def choose(vectors: Vectors, pairs: Sequence[Pair], sides: np.ndarray, features: str) -> None:
    """Print the retrieval of every setting on titles that it was not trained on."""
    training = torch.from_numpy(np.flatnonzero(sides == 0))
    chosen = one_per_title(pairs, sides == 1)
    plain = text_pairs(vectors, pairs, keywords=False)
    wordy = text_pairs(vectors, pairs, keywords=True)
    for settings in GRID if features == CHOSEN_FEATURES else [CHOSEN]:
        part = (wordy if settings.keywords else plain).select(training)
        rows = [recalls(train_projection(part, settings, seed), plain.select(chosen)) for seed in range(SEEDS)]
        cells = " | ".join(f"{np.mean([row[name] for row in rows]):.3f}" for name in rows[0])
        changed = {name: value for name, value in vars_of(settings).items() if value != vars_of(GRID[0])[name]}
        print(f"| {features} | {changed or 'as written'} | {cells} |", flush=True)


def vars_of(settings: ContrastSettings) -> dict[str, object]:
    return {name: getattr(settings, name) for name in settings.__dataclass_fields__}


def test_retrieval(
    cache: Path, vectors: Vectors, pairs: Sequence[Pair], sides: np.ndarray, sentences: list[str]
) -> None:
    """Print the retrieval on titles that neither training nor choice has seen, beside other maps."""
    training = torch.from_numpy(np.flatnonzero(sides < 2))
    test = one_per_title(pairs, sides == 2)
    part = text_pairs(vectors, pairs, keywords=CHOSEN.keywords).select(training)
    tested = text_pairs(vectors, pairs, keywords=False).select(test)
    rows = [recalls(train_projection(part, CHOSEN, seed), tested) for seed in range(SEEDS)]
    names = list(rows[0])
    print(f"retrieval among {len(test)} titles\n| | {' | '.join(names)} |\n|---|---|---|---|---|")
    print(f"| contrastive | {' | '.join(f'{np.mean([row[name] for row in rows]):.3f}' for name in names)} |")
    titles = tested.texts.numpy().astype(np.float64)
    moments = _moments(cache, [pairs[index] for index in test])
    network = load_classifier(MOMENTS).classify(moments)
    classes = load_sentence_encoder().encode(sentences).astype(np.float64)
    print_recalls("class names", convex_combinations(network.logits, classes), titles)
    mapped = ridge_map(part, tested)
    print_recalls("ridge regression", mapped, titles - part.texts.numpy().mean(0))
    print(f"| by chance | {' | '.join(f'{k / len(test):.3f}' for _ in ('title', 'picture') for k in (1, 10))} |")


def _moments(cache: Path, pairs: Sequence[Pair]) -> Vectors:
    return encode_by(_files(pairs), [load_encoder(MOMENTS)], folder=cache, background=WHITE).features[0].vectors


def ridge_map(training: Pairs, tested: Pairs) -> np.ndarray:
    """Unit vectors of pictures in the space of sentences, by ridge regression on the training pairs."""
    images, texts = training.images.double().numpy(), training.texts.double().numpy()
    mean, deviation = images.mean(0), images.std(0) + 1e-6
    scaled = (images - mean) / deviation
    solved = np.linalg.solve(
        scaled.T @ scaled + RIDGE * np.eye(scaled.shape[1]), scaled.T @ (texts - texts.mean(0))
    )
    return as_unit((tested.images.double().numpy() - mean) / deviation @ solved)


def print_recalls(name: str, images: np.ndarray, texts: np.ndarray) -> None:
    products = images @ as_unit(texts).T
    own = np.diag(products)
    ranks = [(products > own[:, None]).sum(1), (products > own[None]).sum(0)]
    print(f"| {name} | {' | '.join(f'{(rank < k).mean():.3f}' for rank in ranks for k in (1, 10))} |", flush=True)


def test_alignment(cache: Path, vectors: Vectors, pairs: Sequence[Pair], sentences: list[str]) -> None:
    """Print the agreement with raters on the development prompts, by itself and in the head."""
    images = load(cache)
    examples = read_examples(images, sentences)
    part = text_pairs(vectors, pairs, keywords=CHOSEN.keywords)
    projections = [train_projection(part, CHOSEN, seed) for seed in range(SEEDS)]
    plain, standard = alignment_scores(cache, images, examples.sentences, projections)
    development = images.development
    folds = fit_folds(examples, development)
    quality, alignment = held_out(folds, len(development))
    combined = convex_combinations(examples.outputs.logits, examples.names)
    reference = _reference(combined[development])
    words = rowwise(combined, examples.sentences)
    columns = {
        "clip art and titles": plain,
        "the same, standardised by prompt": standard,
        "class names": words,
        "class names, standardised by prompt": reference.standardise(words, examples.sentences),
        "quality": quality,
    }
    print_alone(images, quality, columns, development)
    random = np.random.default_rng(SEED).standard_normal(len(development))
    additions = {"clip art and titles": standard, "noise, for comparison": random}
    gains = {name: extended(folds, column[:, None]) for name, column in additions.items()}
    print_gains(images, alignment, gains, development)


def alignment_scores(
    cache: Path, images: Images, sentences: np.ndarray, projections: Sequence[Projection]
) -> tuple[np.ndarray, np.ndarray]:
    """Cosine of images with their prompts, and the same standardised by prompt; means over the projections."""
    files = named_files(images.table["name"].to_list(), [SOURCE / "image" / name for name in images.table["name"]])
    vectors = torch.from_numpy(_vectors(cache, files, CHOSEN_FEATURES, DEFAULT_BACKGROUND))
    scores = []
    for projection in projections:
        with torch.inference_mode():
            projected = projection.project_images(vectors).double().numpy()
            prompts = projection.project_texts(torch.from_numpy(sentences).float()).double().numpy()
        products = rowwise(projected, prompts)
        scores.append((products, _reference(projected[images.development]).standardise(products, prompts)))
    plain, standard = np.mean(scores, axis=0)
    return plain, standard


def _reference(vectors: np.ndarray) -> Reference:
    values, directions = np.linalg.eigh(np.cov(vectors.T))
    return Reference(vectors.mean(axis=0), directions * np.sqrt(np.maximum(values, 0)))


if __name__ == "__main__":
    main()
