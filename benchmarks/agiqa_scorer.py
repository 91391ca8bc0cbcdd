"""The packaged scorer ``agiqa-quality``: how it was chosen, trained and tested.

    python benchmarks/agiqa_scorer.py CACHE            # cross-validation on four fifths of the prompts
    python benchmarks/agiqa_scorer.py CACHE --write    # train on these four fifths, and write the packaged files
    python benchmarks/agiqa_scorer.py CACHE --open     # test the packaged files on the last fifth
    python benchmarks/agiqa_scorer.py CACHE --curve    # cross-validation with fewer training prompts
    python benchmarks/agiqa_scorer.py CACHE --unseen   # conformal widths for generators it was not trained on

Reads AGIQA-3K below ``BEHOLDER_SHARED`` (``../shared`` by default); features are stored in CACHE. A fifth of the
prompts is put aside before anything is chosen.
"""

import argparse
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl
from agiqa_scorer_fit import HeadSettings, fit_head, write_head
from numpy.typing import NDArray

from beholder.formats.agiqa import read
from beholder.images.sources import named_files
from beholder.measure.correlations import image_rows
from beholder.measure.joined import AgreementSettings
from beholder.models.encoders.catalogue import load_encoder
from beholder.models.encoders.encode import encode_by
from beholder.models.quality.packaged import CARD, ENCODERS, HEAD, identities, load_quality_model
from beholder.models.quality.training_set import DATA_SET, FOLDER, TRAINING_IMAGES
from beholder.models.training_images import TrainingImages
from beholder.stats.intervals.proportions import wilson
from beholder.stats.prediction.conformal import conformal_width

SOURCE = Path(os.environ.get("BEHOLDER_SHARED", Path(__file__).parents[2] / "shared")) / "data" / "agiqa-3k"
SEED, FOLDS, HELD_OUT = 52, 5, 0.2
ASIDE, COPY = -1, -2
RATERS = 21
CHOSEN = HeadSettings()
GRID = [
    HeadSettings(),
    *(HeadSettings(moments=moments, details=0) for moments in (992, 4192)),
    HeadSettings(moments=0),
    HeadSettings(dims=128),
    *(HeadSettings(gamma=gamma) for gamma in (0.5, 2.0)),
    *(HeadSettings(ridge=ridge) for ridge in (0.03, 0.3)),
]
CURVE = (1 / 8, 1 / 4, 1 / 2, 1.0)
"""Proportions of the training prompts."""
STATISTICS = ("spearman", "pearson", "spearman-within-generators", "pair-accuracy-micro")
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Images:
    """AGIQA-3K with its features and its split."""

    table: pl.DataFrame
    vectors: NDArray[np.float32]
    sha256: tuple[str, ...]
    fold: NDArray[np.int64]
    """Fold of the cross-validation; ``ASIDE`` for prompts put aside, ``COPY`` for a second copy of an image."""

    @property
    def held_out(self) -> Mask:
        """Images of the fifth of the prompts that was put aside."""
        return np.asarray(self.fold == ASIDE)

    @property
    def development(self) -> Mask:
        """Images of the other prompts."""
        return np.asarray(self.fold >= 0)

    @property
    def quality(self) -> Floats:
        return self.table["mos_quality"].to_numpy()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cache", type=Path, metavar="CACHE")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--open", action="store_true")
    parser.add_argument("--curve", action="store_true")
    parser.add_argument("--unseen", action="store_true")
    arguments = parser.parse_args()
    images = load(arguments.cache)
    if arguments.write:
        write(images)
    elif arguments.curve:
        learning_curve(images)
    elif arguments.unseen:
        unseen_generators(images)
    elif arguments.open:
        open_held_out(images)
    else:
        choose(images)


def load(cache: Path) -> Images:
    """Read the data, encode the images, and split the prompts."""
    table = read(SOURCE / "data.csv").sort("name")
    table = table.with_columns(generator=pl.col("name").str.extract(r"^(.*)_\d+\.jpg$"))
    files = named_files(table["name"].to_list(), [SOURCE / "image" / name for name in table["name"]])
    features = encode_by(files, [load_encoder(name) for name in ENCODERS], folder=cache).features
    fold_by_prompt = split_prompts(table["prompt"].unique())
    fold = np.array([fold_by_prompt[prompt] for prompt in table["prompt"]], np.int64)
    is_copy = pl.Series(features[0].sha256).is_first_distinct().not_().to_numpy()
    fold[is_copy] = COPY
    vectors = np.concatenate([by_encoder.vectors for by_encoder in features], axis=1)
    return Images(table, vectors, features[0].sha256, fold)


def split_prompts(prompts: Iterable[str]) -> dict[str, int]:
    """Prompt -> its fold, or ``ASIDE``; the same split for the same prompts in any order."""
    names = sorted(prompts)
    order = np.random.default_rng(SEED).permutation(len(names))
    aside = int(HELD_OUT * len(names))
    put_aside = {names[index]: ASIDE for index in order[:aside]}
    return put_aside | {names[index]: rank % FOLDS for rank, index in enumerate(order[aside:])}


def choose(images: Images) -> None:
    """Print the cross-validated correlations of every setting, over the prompts that were not put aside."""
    development = images.development
    print("| moments | details | components | γ | λ | SRCC | PLCC | within generators |")
    print("|---|---|---|---|---|---|---|---|")
    for settings in GRID:
        scores = cross_validated(images, settings)[0]
        cells = [f"{row['value']:.4f}" for row in agreement(images, scores, development, quick=True)]
        sizes = f"{settings.moments} | {settings.details} | {settings.dims}"
        print(f"| {sizes} | {settings.gamma:g} | {settings.ridge:g} | {' | '.join(cells)} |", flush=True)


def cross_validated(images: Images, settings: HeadSettings) -> tuple[Floats, Floats]:
    """Scores and shifts of the development images, each by a head trained on the other folds; nan elsewhere."""
    scores, shifts = np.full((2, len(images.fold)), np.nan)
    for fold in range(FOLDS):
        train, test = images.development & (images.fold != fold), images.fold == fold
        head = fit_head(images.vectors[train], images.quality[train], settings)
        scores[test], shifts[test] = head.scores(images.vectors[test]), head.shifts(images.vectors[test])
    return scores, shifts


def learning_curve(images: Images) -> None:
    """Print the cross-validated correlations by the number of training prompts."""
    print("| training prompts | SRCC | PLCC | within generators |\n|---|---|---|---|")
    prompts = images.table["prompt"].to_numpy()
    rng = np.random.default_rng(SEED)
    for part in CURVE:
        scores, counts = np.full(len(images.fold), np.nan), []
        for fold in range(FOLDS):
            of_others = np.unique(prompts[images.development & (images.fold != fold)])
            counts.append(round(part * len(of_others)))
            chosen = rng.choice(of_others, counts[-1], replace=False)
            train, test = images.development & np.isin(prompts, chosen), images.fold == fold
            settings = replace(CHOSEN, dims=min(CHOSEN.dims, int(train.sum())))
            head = fit_head(images.vectors[train], images.quality[train], settings)
            scores[test] = head.scores(images.vectors[test])
        cells = [f"{row['value']:.4f}" for row in agreement(images, scores, images.development, quick=True)]
        print(f"| {np.mean(counts):.0f} | {' | '.join(cells)} |", flush=True)


def write(images: Images) -> None:
    """Train on all prompts that were not put aside; the width and the unit of shift are cross-validated."""
    scores, shifts = cross_validated(images, CHOSEN)
    development = images.development
    head = fit_head(
        images.vectors[development],
        images.quality[development],
        CHOSEN,
        shift_unit=float(np.quantile(shifts[development], 0.95)),
        conformal_width=conformal_width((scores - images.quality)[development]),
    )
    write_head(FOLDER / HEAD, head, identities(load_encoder(name) for name in ENCODERS))
    hashes = [sha256 for sha256, used in zip(images.sha256, development, strict=True) if used]
    (FOLDER / TRAINING_IMAGES).write_bytes(TrainingImages.of_hashes(DATA_SET, hashes).content)
    print(f"{FOLDER / HEAD}, {TRAINING_IMAGES}: {len(hashes)} images; the card {CARD} is written by hand")


def open_held_out(images: Images) -> None:
    """Print the agreement with raters on the prompts that were put aside, by the packaged files."""
    model, aside = load_quality_model(), images.held_out
    print("| trained on | tested on | statistic | value | generator-mean baseline | human ceiling | images |")
    print("|---|---|---|---|---|---|---|")
    trials: list[tuple[str, Floats, Mask]] = [("four fifths", model.head.scores(images.vectors), aside)]
    trials.append(("the other nine generators", leave_one_generator_out(images), aside))
    for label, scores, mask in trials:
        for aspect in ("quality", "align"):
            for row in agreement(images, scores, mask, aspect=aspect):
                print(
                    f"| {label} | {aspect} | {row['statistic']} | {interval(row)} | {number(row['floor'])} "
                    f"| {number(row.get('ceiling'))} | {row['items']} |"
                )
    shifts, errors = model.head.shifts(images.vectors[aside]), model.head.scores(images.vectors[aside])
    for name, hits in (
        ("farther than the unit of shift", shifts > 1),
        ("within the conformal width", np.abs(errors - images.quality[aside]) <= model.head.conformal_width),
    ):
        low, high = wilson(hits.sum(), len(hits))
        print(f"\n{name}: {hits.mean():.3f} [{low:.3f}, {high:.3f}] of {len(hits)} held-out images")


def leave_one_generator_out(images: Images) -> Floats:
    """Scores of the images put aside, each by a head that was trained on no image of its generator either."""
    scores = np.full(len(images.fold), np.nan)
    generators = images.table["generator"].to_numpy()
    for generator in np.unique(generators):
        train = images.development & (generators != generator)
        test = images.held_out & (generators == generator)
        scores[test] = fit_head(images.vectors[train], images.quality[train], CHOSEN).scores(images.vectors[test])
    return scores


def unseen_generators(images: Images) -> None:
    """Print how often widths cover raters' means of unseen generators: the packaged one, and one made for them."""
    scores = np.full(len(images.fold), np.nan)
    generators = images.table["generator"].to_numpy()
    for generator in np.unique(generators):
        train, test = images.development & (generators != generator), generators == generator
        scores[test] = fit_head(images.vectors[train], images.quality[train], CHOSEN).scores(images.vectors[test])
    print_coverage(images, scores - images.quality, load_quality_model().head.conformal_width)


def print_coverage(images: Images, errors: Floats, packaged: float) -> float:
    """Print how often two widths cover errors of held-out images; return the width by errors of all generators.

    ``errors`` are of heads that were trained on no image of the generator; the widths are the packaged one, and
    one by the errors of the other generators.
    """
    generators = images.table["generator"].to_numpy()
    width = conformal_width(errors[images.development])
    print(f"width for unseen generators: {width:.3f}")
    print("| generator | packaged width | width by the other nine |\n|---|---|---|")
    covered = np.zeros((len(errors), 2), bool)
    for generator in np.unique(generators):
        others = images.development & (generators != generator)
        test = images.held_out & (generators == generator)
        widths = np.array([packaged, conformal_width(errors[others])])
        covered[test] = np.abs(errors[test, None]) <= widths
        rates = " | ".join(f"{rate:.3f}" for rate in covered[test].mean(axis=0))
        print(f"| {generator} | {rates} (±{widths[1]:.2f}) |", flush=True)
    for column in covered[images.held_out].T:
        low, high = wilson(column.sum(), len(column))
        print(f"all: {column.mean():.3f} [{low:.3f}, {high:.3f}] of {len(column)}")
    return width


def agreement(
    images: Images, scores: Floats, mask: Mask, *, aspect: str = "quality", quick: bool = False
) -> Iterator[dict[str, object]]:
    """Rows of agreement with raters, as ``beholder measure`` computes them."""
    chosen = images.table.filter(mask)
    error = pl.col(f"std_{aspect}") / np.sqrt(RATERS)
    opinions = chosen.select("prompt", "generator", item="name", value=f"mos_{aspect}", error=error)
    metrics = as_metric(chosen.select(item="name", value=pl.Series(scores[mask])))
    settings = AgreementSettings(draws=10 if quick else 2000)
    rows = image_rows(as_opinions(opinions, aspect), metrics, settings).correlations
    by_statistic = {row["statistic"]: row for row in rows}
    for statistic in STATISTICS[:3] if quick else STATISTICS:
        yield by_statistic[statistic]


def as_opinions(items: pl.DataFrame, aspect: str) -> pl.DataFrame:
    """Items with ``value`` and ``error`` as the opinions that ``beholder measure`` compares metrics with."""
    return items.with_columns(
        question=pl.lit("rating"),
        aspect=pl.lit(aspect),
        method=pl.lit("published-mean"),
        slice=pl.lit("all"),
        raters=pl.lit(RATERS),
    )


def as_metric(items: pl.DataFrame) -> pl.DataFrame:
    """Items with ``value`` as a metric that is compared with opinions."""
    return items.with_columns(
        metric=pl.lit("agiqa-quality"),
        encoder=pl.lit(None, pl.String),
        reference=pl.lit(None, pl.String),
        better=pl.lit("higher"),
        question=pl.lit(None, pl.String),
        slice=pl.lit("all"),
    )


def interval(row: dict[str, object]) -> str:
    return f"{number(row['value'])} [{number(row['low'])}, {number(row['high'])}]"


def number(value: object) -> str:
    return f"{value:.3f}".replace("0.", ".", 1) if isinstance(value, float) else "–"


if __name__ == "__main__":
    main()
