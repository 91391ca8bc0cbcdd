"""The packaged scorer ``agiqa-alignment``: how it was trained and tested.

    python benchmarks/agiqa_alignment.py CACHE            # cross-validation on four fifths of the prompts
    python benchmarks/agiqa_alignment.py CACHE --write    # train on these, and write the packaged file
    python benchmarks/agiqa_alignment.py CACHE --open     # test the packaged file on the last fifth

Rows of unseen generators are in ``benchmarks/agiqa_alignment_unseen.py``, which adds their width to the file.
Data, features, folds and the fifth of the prompts that is put aside are those of ``benchmarks/agiqa_scorer.py``.
Names and definitions of ImageNet's classes are read from the package ``timm``, or from the folder ``--names``; the
packaged file contains their vectors.
"""

import argparse
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from agiqa_alignment_fit import Examples, Floats, Mask, fit_alignment, predict, write_alignment
from agiqa_paired import SEED, difference_cells
from agiqa_scorer import FOLDS, Images, agreement, interval, load, number
from scipy.stats import pearsonr, spearmanr

from beholder.models.alignment.classifier import load_classifier
from beholder.models.alignment.packaged import FOLDER, HEAD, load_alignment_model
from beholder.models.quality.packaged import ENCODERS, load_quality_model
from beholder.models.text.sentence_encoder import load_sentence_encoder
from beholder.stats.intervals.proportions import wilson
from beholder.stats.prediction.conformal import conformal_width


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cache", type=Path, metavar="CACHE")
    parser.add_argument("--names", type=Path, help="folder with imagenet_synsets.txt and the files beside it")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--open", action="store_true")
    parser.add_argument("--all", action="store_true", help="five folds over all prompts, those put aside included")
    arguments = parser.parse_args()
    images = load(arguments.cache)
    examples = read_examples(images, class_sentences(arguments.names or timm_folder()))
    if arguments.write:
        write(images, examples)
    elif arguments.open:
        open_held_out(images, examples)
    else:
        cross_validate(images, examples, over_all=arguments.all)


def timm_folder() -> Path:
    spec = find_spec("timm")
    if spec is None or spec.origin is None:
        raise SystemExit("class names: install timm, or give --names")
    return Path(spec.origin).parent / "data" / "_info"


def class_sentences(folder: Path) -> list[str]:
    """Return the first name of each class with its definition in WordNet."""
    names, definitions = (
        dict(line.split("\t") for line in (folder / f"imagenet_synset_to_{part}.txt").read_text().splitlines())
        for part in ("lemma", "definition")
    )
    synsets = (folder / "imagenet_synsets.txt").read_text().split()
    return [f"{names[synset].split(',')[0]}: {definitions[synset]}" for synset in synsets]


def read_examples(images: Images, classes: list[str]) -> Examples:
    """Return the images with the vectors of prompts and classes."""
    encoder = load_sentence_encoder()
    prompts = tuple(images.table["prompt"])
    return Examples(
        images.vectors,
        load_classifier(ENCODERS[0]).classify(images.vectors),
        prompts,
        encoder.encode(prompts).astype(np.float64),
        encoder.encode(classes).astype(np.float64),
        images.quality,
        images.table["mos_align"].to_numpy(),
        images.fold,
    )


def cross_validate(images: Images, examples: Examples, *, over_all: bool) -> dict[str, Floats]:
    """Print the agreement of held-out scores of alignment, quality and single features; return the scores."""
    examples, mask = (
        (spread_aside(images, examples) if over_all else examples),
        images.fold >= (-1 if over_all else 0),
    )
    columns = held_out_scores(examples, mask)
    generators = images.table["generator"].to_numpy()
    columns["generator-mean baseline"] = generator_means(examples, generators, mask)
    print_rows(images, examples, columns, mask)
    print_differences(examples, columns, mask)
    return columns


def spread_aside(images: Images, examples: Examples) -> Examples:
    """Deal the prompts that were put aside over the folds."""
    fold = images.fold.copy()
    names = sorted({examples.prompts[index] for index in np.flatnonzero(images.held_out)})
    order = np.random.default_rng(SEED).permutation(len(names))
    for index in np.flatnonzero(images.held_out):
        fold[index] = order[names.index(examples.prompts[index])] % FOLDS
    everywhere = examples.select(np.ones(len(fold), bool))
    object.__setattr__(everywhere, "fold", fold)
    return everywhere


def held_out_scores(examples: Examples, mask: Mask) -> dict[str, Floats]:
    """Scores by heads that were trained on no image of the prompt; nan outside of the mask."""
    count = len(examples.fold)
    columns = {name: np.full(count, np.nan) for name in ("alignment", "quality", "classes", "evidence", "mapped")}
    for fold in range(FOLDS):
        train, test = mask & (examples.fold != fold), mask & (examples.fold == fold)
        quality, head, _ = fit_alignment(examples.select(train))
        part = examples.select(test)
        columns["alignment"][test] = predict(quality, head, part)
        columns["quality"][test] = quality.scores(part.vectors)
        scores = np.zeros((len(part.prompts), 2))
        features = head.features(scores, part.outputs, part.prompts, part.sentences)
        for place, name in ((2, "classes"), (3, "evidence"), (4, "mapped")):
            columns[name][test] = features[:, place]
    return columns


def generator_means(examples: Examples, generators: np.ndarray, mask: Mask) -> Floats:
    """Mean alignment of the generator's images of other folds."""
    means = np.full(len(examples.fold), np.nan)
    for fold in range(FOLDS):
        for generator in np.unique(generators):
            by_generator = mask & (generators == generator)
            means[by_generator & (examples.fold == fold)] = examples.alignment[
                by_generator & (examples.fold != fold)
            ].mean()
    return means


def print_rows(images: Images, examples: Examples, columns: dict[str, Floats], mask: Mask) -> None:
    print("| scores | SRCC | PLCC | SRCC within generators | images |\n|---|---|---|---|---|")
    for name, scores in columns.items():
        scored = mask & np.isfinite(scores)
        if name == "generator-mean baseline":
            truth = examples.alignment[scored]
            cells = [
                number(float(spearmanr(scores[scored], truth)[0])),
                number(float(pearsonr(scores[scored], truth)[0])),
            ]
            print(f"| {name} | {cells[0]} | {cells[1]} | .000 | {scored.sum():,} |", flush=True)
            continue
        rows = {row["statistic"]: row for row in agreement(images, scores, scored, aspect="align")}
        cells = [interval(rows[key]) for key in ("spearman", "pearson", "spearman-within-generators")]
        print(f"| {name} | {' | '.join(cells)} | {scored.sum():,} |", flush=True)


def print_differences(examples: Examples, columns: dict[str, Floats], mask: Mask) -> None:
    """Print paired differences of SRCC with percentile intervals of a bootstrap over prompts."""
    print("\n| alignment minus | difference of SRCC | of PLCC |\n|---|---|---|")
    rows = np.flatnonzero(mask & np.isfinite(columns["alignment"]))
    prompts = [examples.prompts[row] for row in rows]
    for other in ("generator-mean baseline", "quality"):
        cells = difference_cells(
            columns["alignment"][rows], columns[other][rows], examples.alignment[rows], prompts
        )
        print(f"| {other} | {' | '.join(cells)} |", flush=True)


def write(images: Images, examples: Examples) -> None:
    """Train on all prompts that were not put aside; the conformal width is cross-validated."""
    development = images.development
    columns = cross_validate(images, examples, over_all=False)
    _, head, _ = fit_alignment(examples.select(development))
    object.__setattr__(
        head, "conformal_width", conformal_width((columns["alignment"] - examples.alignment)[development])
    )
    about = {"quality": load_quality_model().sha256, "sentences": load_sentence_encoder().identity}
    write_alignment(FOLDER / HEAD, head, {**about, "aspect": "alignment", "data_set": "AGIQA-3K"})
    weights = head.regression.weights.round(3).tolist()
    print(f"{FOLDER / HEAD}: {(FOLDER / HEAD).stat().st_size:,} bytes; weights {weights}")


def open_held_out(images: Images, examples: Examples) -> None:
    """Print the agreement on the prompts that were put aside, by the packaged file."""
    model, aside = load_alignment_model(), images.held_out
    part = examples.select(aside)
    columns = {name: np.full(len(aside), np.nan) for name in ("alignment", "quality", "class-words")}
    columns["alignment"][aside] = model.scores(part.vectors, part.prompts)
    columns["quality"][aside] = model.quality.head.scores(part.vectors)
    columns["class-words"][aside] = model.class_similarities(part.vectors, part.prompts)
    generators = images.table["generator"].to_numpy()
    means = {
        name: examples.alignment[images.development & (generators == name)].mean()
        for name in np.unique(generators)
    }
    columns["generator-mean baseline"] = np.array([means[name] for name in generators])
    columns["alignment, of unseen generators"] = np.full(len(aside), np.nan)
    for generator in np.unique(generators):
        quality, head, _ = fit_alignment(examples.select(images.development & (generators != generator)))
        test = aside & (generators == generator)
        columns["alignment, of unseen generators"][test] = predict(quality, head, examples.select(test))
    print_rows(images, examples, columns, aside)
    print_differences(examples, columns, aside)
    close = np.abs(columns["alignment"] - examples.alignment)[aside] <= model.head.conformal_width
    low, high = wilson(close.sum(), len(close))
    print(
        f"\nwithin ±{model.head.conformal_width:.2f}: {close.mean():.3f} [{low:.3f}, {high:.3f}] of {len(close)}"
    )


if __name__ == "__main__":
    main()
