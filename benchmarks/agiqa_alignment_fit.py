"""Fit the packaged head of alignment: features that are cross-fitted over prompts, and a linear head on them."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from agiqa_scorer_fit import HeadSettings, fit_head
from numpy.typing import NDArray
from safetensors.numpy import save_file

from beholder.models.alignment.comparison import (
    NetworkOutputs,
    as_unit,
    convex_combinations,
    tensors_of_comparison,
)
from beholder.models.alignment.fit import fit_reference
from beholder.models.alignment.head import FEATURES, NUMBERS, TENSORS, AlignmentHead, head_of_tensors
from beholder.models.alignment.regression import TENSORS as REGRESSION_TENSORS
from beholder.models.alignment.regression import fit_rank_regression
from beholder.models.components import signed_roots
from beholder.models.quality.head import KernelHead

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
RIDGE = 0.1
MAP_COMPONENTS, MAP_RIDGE, LEAST_WEIGHT = 200, 10_000.0, 0.05
WEIGHT_RIDGE = 30.0
HALF = ("names", "map", "logit_spread", "classes_spread", "mapped_spread")
"""Tensors that are stored in half precision."""


@dataclass(frozen=True, eq=False)
class Examples:
    """Images with their prompts, both as vectors, and raters' means."""

    vectors: NDArray[np.float32]  # (images, dims), of the encoders of quality
    outputs: NetworkOutputs
    prompts: tuple[str, ...]
    sentences: Floats  # (images, text dims)
    names: Floats  # (classes, text dims)
    quality: Floats
    alignment: Floats
    fold: NDArray[np.int64]

    def select(self, mask: Mask) -> "Examples":
        chosen = np.flatnonzero(mask)
        return Examples(
            self.vectors[mask],
            NetworkOutputs(self.outputs.features[mask], self.outputs.logits[mask]),
            tuple(self.prompts[index] for index in chosen),
            self.sentences[mask],
            self.names,
            self.quality[mask],
            self.alignment[mask],
            self.fold[mask],
        )


def fit_alignment(examples: Examples) -> tuple[KernelHead, AlignmentHead, Floats]:
    """Return the heads of quality and of alignment, and the cross-fitted features of the latter."""
    quality = fit_head(examples.vectors, examples.quality, HeadSettings())
    kernel = _kernel(quality)
    opinions = np.column_stack([examples.quality, examples.alignment])
    everywhere = np.ones(len(opinions), bool)
    unlabelled = _describe(examples)
    head = _unweighted(examples, unlabelled, everywhere, _solve(kernel, opinions[:, 1], everywhere))
    features = np.empty((len(opinions), len(FEATURES)))
    for fold in np.unique(examples.fold):
        train, test = examples.fold != fold, examples.fold == fold
        solved = [_solve(kernel, column, train) for column in opinions.T]
        image_scores = np.column_stack([mean + kernel[test] @ weights for weights, mean in solved])
        part, inner = examples.select(test), _unweighted(examples, unlabelled, train, solved[1])
        features[test] = inner.features(image_scores, part.outputs, part.prompts, part.sentences)
    return quality, weighted(head, features, examples.alignment), features


def predict(quality: KernelHead, head: AlignmentHead, examples: Examples) -> Floats:
    """Scores of alignment."""
    image_scores = np.column_stack([quality.scores(examples.vectors), _alone(quality, head, examples)])
    return head.scores(head.features(image_scores, examples.outputs, examples.prompts, examples.sentences))


def write_alignment(path: Path, head: AlignmentHead, about: dict[str, str]) -> None:
    """Write the head, with what it was trained on."""
    tensors = {
        name: tensor.astype(np.float16 if name in HALF else np.float32) for name, tensor in _tensors(head).items()
    }
    numbers = {name: repr(getattr(head, name)) for name in NUMBERS}
    save_file({name: np.ascontiguousarray(tensors[name]) for name in TENSORS}, path, {**about, **numbers})


def _alone(quality: KernelHead, head: AlignmentHead, examples: Examples) -> Floats:
    return quality.refitted(head.coefficients, head.intercept).scores(examples.vectors)


def _kernel(head: KernelHead) -> Floats:
    squares = (head.centres**2).sum(axis=1)
    return np.asarray(
        np.exp(-head.gamma * np.maximum(squares[:, None] + squares - 2 * head.centres @ head.centres.T, 0))
    )


def _solve(kernel: Floats, opinions: Floats, train: Mask) -> tuple[Floats, float]:
    """Coefficients of all images, 0 where they are not trained on, and the intercept."""
    mean, coefficients = float(opinions[train].mean()), np.zeros(len(opinions))
    part = kernel[np.ix_(train, train)] + RIDGE * np.eye(int(train.sum()))
    coefficients[train] = np.linalg.solve(part, opinions[train] - mean)
    return coefficients, mean


@dataclass(frozen=True, eq=False)
class _Unlabelled:
    """What is computed from images without their opinions and prompts, once for all folds."""

    tensors: dict[str, Floats]
    components: Floats  # (image dims, components)
    points: Floats  # (images, components)


def _describe(examples: Examples) -> _Unlabelled:
    logits, values = examples.outputs.logits, signed_roots(examples.outputs.features)
    logit_mean, logit_deviation = logits.mean(axis=0), logits.std(axis=0)
    classes = fit_reference(convex_combinations(logits, examples.names))
    map_mean, map_deviation = values.mean(axis=0), values.std(axis=0) + 1e-6
    scaled = (values - map_mean) / map_deviation
    components = np.linalg.eigh(scaled.T @ scaled)[1][:, ::-1][:, :MAP_COMPONENTS]
    tensors = {
        "names": examples.names,
        "logit_mean": logit_mean,
        "logit_deviation": logit_deviation,
        "logit_spread": fit_reference((logits - logit_mean) / logit_deviation).spread,
        "classes_mean": classes.mean,
        "classes_spread": classes.spread,
        "map_mean": map_mean,
        "map_deviation": map_deviation,
    }
    return _Unlabelled(tensors, components, scaled @ components)


def _unweighted(
    examples: Examples, unlabelled: _Unlabelled, train: Mask, alone: tuple[Floats, float]
) -> AlignmentHead:
    """The head without the weights of its regression."""
    solved = _map(unlabelled.points[train], examples.select(train))
    mapped = fit_reference(as_unit(unlabelled.points[train] @ solved))
    tensors = unlabelled.tensors | {
        "coefficients": alone[0],
        "map": unlabelled.components @ solved,
        "mapped_mean": mapped.mean,
        "mapped_spread": mapped.spread,
        "feature_mean": np.zeros(len(FEATURES)),
        "feature_deviation": np.ones(len(FEATURES)),
        "weights": np.zeros(len(FEATURES)),
        "scale_from": np.array([0.0, 1.0]),
        "scale_to": np.array([0.0, 1.0]),
    }
    return head_of_tensors(tensors, {**dict.fromkeys(NUMBERS, 0.0), "intercept": alone[1]})


def _map(points: Floats, part: Examples) -> Floats:
    """Ridge regression of the prompt's vector on the image's; images that fit their prompt count more."""
    weights = np.maximum(part.alignment - 1, LEAST_WEIGHT)[:, None]
    centred = part.sentences - part.sentences.mean(axis=0)
    products = points.T @ (points * weights) + MAP_RIDGE * np.eye(points.shape[1])
    return np.asarray(np.linalg.solve(products, points.T @ (centred * weights)))


def weighted(head: AlignmentHead, features: Floats, alignment: Floats) -> AlignmentHead:
    """Ridge regression of the ranks of raters' means, then a logistic curve to the means."""
    return replace(head, regression=fit_rank_regression(features, alignment, WEIGHT_RIDGE))


def _tensors(head: AlignmentHead) -> dict[str, Floats]:
    regression = {name: getattr(head.regression, name) for name in REGRESSION_TENSORS}
    return {"coefficients": head.coefficients, **tensors_of_comparison(head.comparison), **regression}
