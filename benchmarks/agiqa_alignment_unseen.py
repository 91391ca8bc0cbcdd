"""The packaged scorer ``agiqa-alignment`` on generators that it was not trained on: agreement and width.

    python benchmarks/agiqa_alignment_unseen.py CACHE            # rows beside the five folds, and widths
    python benchmarks/agiqa_alignment_unseen.py CACHE --all      # the rows for five folds over all prompts
    python benchmarks/agiqa_alignment_unseen.py CACHE --write    # widths; write the one for unseen generators

``--write`` adds the width to the metadata of the packaged file; its tensors, and so its scores, stay as they are.
Data, features and class names are those of ``benchmarks/agiqa_alignment.py``.
"""

import argparse
from pathlib import Path

import numpy as np
from agiqa_alignment import class_sentences, print_rows, read_examples, spread_aside, timm_folder
from agiqa_alignment_fit import Examples, Floats, Mask, fit_alignment, predict
from agiqa_scorer import FOLDS, Images, load, print_coverage
from numpy.typing import NDArray
from safetensors import safe_open
from safetensors.numpy import save_file

from beholder.models.alignment.packaged import FOLDER, HEAD

Generators = NDArray[np.str_]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cache", type=Path, metavar="CACHE")
    parser.add_argument("--names", type=Path, help="folder with imagenet_synsets.txt and the files beside it")
    parser.add_argument("--all", action="store_true", help="five folds over all prompts, those put aside included")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    images = load(arguments.cache)
    examples = read_examples(images, class_sentences(arguments.names or timm_folder()))
    generators = images.table["generator"].to_numpy().astype(np.str_)
    if arguments.all:
        print_beside_folds(images, spread_aside(images, examples), generators, images.fold >= -1)
        return
    with safe_open(FOLDER / HEAD, framework="numpy") as file:
        packaged = float(file.metadata()["conformal_width"])
    width = print_coverage(images, unseen_errors(images, examples, generators), packaged)
    if arguments.write:
        write_width(FOLDER / HEAD, width)
    else:
        print_beside_folds(images, examples, generators, images.development)


def print_beside_folds(images: Images, examples: Examples, generators: Generators, mask: Mask) -> None:
    """Print the agreement of heads that were trained on neither the prompt nor the generator of an image."""
    columns = {name: np.full(len(mask), np.nan) for name in ("alignment", "quality")}
    for fold in range(FOLDS):
        for generator in np.unique(generators):
            test = mask & (examples.fold == fold) & (generators == generator)
            train = mask & (examples.fold != fold) & (generators != generator)
            quality, head, _ = fit_alignment(examples.select(train))
            columns["alignment"][test] = predict(quality, head, examples.select(test))
            columns["quality"][test] = quality.scores(examples.vectors[test])
    print_rows(images, examples, {f"{name}, of unseen generators": part for name, part in columns.items()}, mask)


def unseen_errors(images: Images, examples: Examples, generators: Generators) -> Floats:
    """Errors of all images, each by heads that were trained on no image of its generator."""
    scores = np.full(len(generators), np.nan)
    for generator in np.unique(generators):
        test = generators == generator
        quality, head, _ = fit_alignment(examples.select(images.development & ~test))
        scores[test] = predict(quality, head, examples.select(test))
    return scores - examples.alignment


def write_width(path: Path, width: float) -> None:
    """Add the width to the metadata of the file."""
    with safe_open(path, framework="numpy") as file:
        metadata = dict(file.metadata())
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - no mapping
    save_file(tensors, path, {**metadata, "unseen_width": repr(width)})
    print(f"{path}: unseen_width {width!r}")


if __name__ == "__main__":
    main()
