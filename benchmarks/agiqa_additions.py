"""What a score of alignment adds to the quality of the image, and to the packaged head of alignment.

Everything is by cross-validation on the development prompts of AGIQA-3K: the scores to test are not trained on it,
the head that they are added to as a further feature is trained on the other folds.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from agiqa_alignment_fit import Examples, Floats, Mask, fit_alignment, weighted
from agiqa_paired import REPLICATES, SEED
from agiqa_scorer import FOLDS, Images, agreement, interval, number
from scipy.stats import rankdata

Statistic = Callable[[Floats, Floats, Floats], float]
"""Of the scores, the other scores and raters' alignment of the same images."""


@dataclass(frozen=True, eq=False)
class Fold:
    """The packaged recipe, trained on the other folds."""

    train: Mask
    test: Mask
    quality: Floats  # (images of the test,)
    features: Floats  # (training images, features): cross-fitted
    tested: Floats  # (images of the test, features)
    plain: Floats  # (images of the test,): scores without additions
    refit: Callable[[Floats, Floats], Floats]
    """Scores of the test by two further columns: of the training images and of the test."""


def fit_folds(examples: Examples, development: Mask) -> list[Fold]:
    """Train the packaged recipe once for each fold."""
    return [_fit_fold(examples, development, fold) for fold in range(FOLDS)]


def _fit_fold(examples: Examples, development: Mask, fold: int) -> Fold:
    train, test = development & (examples.fold != fold), development & (examples.fold == fold)
    quality, head, features = fit_alignment(examples.select(train))
    part = examples.select(test)
    scores = quality.scores(part.vectors)
    alone = quality.refitted(head.coefficients, head.intercept).scores(part.vectors)
    tested = head.features(np.column_stack([scores, alone]), part.outputs, part.prompts, part.sentences)

    def refit(added: Floats, added_test: Floats) -> Floats:
        wider = weighted(head, np.column_stack([features, added]), examples.alignment[train])
        return wider.scores(np.column_stack([tested, added_test]))

    return Fold(train, test, scores, features, tested, head.scores(tested), refit)


def held_out(folds: list[Fold], count: int) -> tuple[Floats, Floats]:
    """Scores of quality and alignment without additions; nan outside of the development prompts."""
    quality, alignment = np.full((2, count), np.nan)
    for fold in folds:
        quality[fold.test], alignment[fold.test] = fold.quality, fold.plain
    return quality, alignment


def extended(folds: list[Fold], additions: Floats) -> Floats:
    """Scores of alignment with additions (images, columns) as further features."""
    scores = np.full(len(additions), np.nan)
    for fold in folds:
        scores[fold.test] = fold.refit(additions[fold.train], additions[fold.test])
    return scores


def print_alone(images: Images, quality: Floats, columns: Mapping[str, Floats], mask: Mask) -> None:
    """Print how each column agrees with raters' alignment, and how much of it the quality does not explain."""
    print("| scores | SRCC | SRCC within generators | partial, given quality | images | prompts |")
    print("|---|---|---|---|---|---|")
    alignment, prompts = images.table["mos_align"].to_numpy(), images.table["prompt"].to_numpy()
    for name, scores in columns.items():
        rows = {row["statistic"]: row for row in agreement(images, scores, mask, aspect="align")}
        cells = [interval(rows[key]) for key in ("spearman", "spearman-within-generators")]
        partial = "–"
        if name != "quality":
            partial = bootstrapped(partial_spearman, (scores, quality, alignment), prompts, mask)
        number_of_prompts = len(np.unique(prompts[mask]))
        print(f"| {name} | {' | '.join(cells)} | {partial} | {mask.sum():,} | {number_of_prompts} |", flush=True)


def print_gains(images: Images, plain: Floats, columns: Mapping[str, Floats], mask: Mask) -> None:
    """Print what the head gains by each addition: the paired difference of SRCC."""
    print("| head of alignment with | SRCC | difference |\n|---|---|---|")
    alignment, prompts = images.table["mos_align"].to_numpy(), images.table["prompt"].to_numpy()
    for name, scores in {"no addition": plain, **columns}.items():
        value = bootstrapped(spearman, (scores, plain, alignment), prompts, mask)
        gain = bootstrapped(gain_of_spearman, (scores, plain, alignment), prompts, mask)
        print(f"| {name} | {value} | {gain if name in columns else '–'} |", flush=True)


def bootstrapped(
    statistic: Statistic, columns: tuple[Floats, Floats, Floats], prompts: np.ndarray, mask: Mask
) -> str:
    """The statistic with the percentile interval of a bootstrap over prompts."""
    draws = np.array(list(_draws(statistic, columns, prompts, mask)))
    low, high = np.nanquantile(draws[1:], (0.025, 0.975))
    return f"{number(float(draws[0]))} [{number(float(low))}, {number(float(high))}]"


def _draws(
    statistic: Statistic, columns: tuple[Floats, Floats, Floats], prompts: np.ndarray, mask: Mask
) -> Iterator[float]:
    """The value over all images, then one for each bootstrap replicate."""
    where = np.flatnonzero(mask)
    codes = np.unique(prompts[where], return_inverse=True)[1]
    by_prompt = [where[codes == code] for code in range(codes.max() + 1)]
    rng = np.random.default_rng(SEED)
    for replicate in range(REPLICATES + 1):
        drawn = rng.integers(0, len(by_prompt), len(by_prompt)) if replicate else np.arange(len(by_prompt))
        rows = np.concatenate([by_prompt[prompt] for prompt in drawn])
        yield statistic(*(column[rows] for column in columns))


def spearman(scores: Floats, _: Floats, alignment: Floats) -> float:
    """SRCC of the scores with alignment."""
    return _correlation(rankdata(scores), rankdata(alignment))


def gain_of_spearman(scores: Floats, other: Floats, alignment: Floats) -> float:
    """SRCC of the scores minus that of the others."""
    return spearman(scores, other, alignment) - spearman(other, scores, alignment)


def partial_spearman(scores: Floats, other: Floats, alignment: Floats) -> float:
    """Partial rank correlation of the scores with alignment, given the other scores."""
    first, given, truth = (rankdata(column) for column in (scores, other, alignment))
    with_truth, with_given, of_given = (
        _correlation(first, truth),
        _correlation(first, given),
        _correlation(given, truth),
    )
    return (with_truth - with_given * of_given) / np.sqrt((1 - with_given**2) * (1 - of_given**2))  # type: ignore[no-any-return]


def _correlation(first: Floats, second: Floats) -> float:
    return float(np.corrcoef(first, second)[0, 1])
