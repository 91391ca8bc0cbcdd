"""Fit how images and prompts compare: what the references are, and the map from images to sentences."""

import numpy as np
import torch
from numpy.typing import NDArray

from beholder.models.alignment.comparison import (
    Comparison,
    Floats,
    NetworkOutputs,
    Reference,
    as_unit,
    convex_combinations,
)
from beholder.models.components import signed_roots
from beholder.models.gaussian_process.held_out import leave_prompts_out

SPREAD_COMPONENTS = 64
"""Principal components by which a reference keeps its covariance."""


def fit_comparison(
    names: Floats,
    outputs: NetworkOutputs,
    sentences: Floats,
    weights: Floats,
    prompt_of: NDArray[np.int64],
    ridge: float,
) -> tuple[Comparison, Floats]:
    """Fit a comparison to images with their prompts.

    The map from the features of an image to the vector of its prompt is a ridge regression, in which images that
    fit their prompt should count more.

    Args:
        names: Unit vectors of the class names, (classes, text dims).
        outputs: What the network says of the images.
        sentences: Unit vectors of their prompts, (images, text dims).
        weights: How much each image counts for the map, (images,), positive.
        prompt_of: Number of the prompt of each image, (images,).
        ridge: Of the map, per feature of an image.

    Returns:
        The comparison; and the images in the space of sentences, each by a map that was trained on no image of its
        prompt, (images, text dims).
    """
    values = signed_roots(outputs.features)
    map_mean, map_deviation = values.mean(axis=0), values.std(axis=0) + 1e-6
    scaled = (values - map_mean) / map_deviation
    centred = sentences - sentences.mean(axis=0)
    covariance = scaled @ scaled.T + np.diag(ridge * scaled.shape[1] / weights)
    inverse = np.linalg.inv(covariance)
    held_out = leave_prompts_out(*(torch.from_numpy(each) for each in (inverse, centred, prompt_of)))
    mapped = as_unit(held_out.numpy())
    logits, spread = outputs.logits, outputs.logits.std(axis=0) + 1e-6
    standard = (logits - logits.mean(axis=0)) / spread
    comparison = Comparison(
        names=names,
        logit_mean=logits.mean(axis=0),
        logit_deviation=spread,
        logits=Reference(np.zeros(len(names)), fit_reference(standard).spread),
        classes=fit_reference(convex_combinations(logits, names)),
        map_mean=map_mean,
        map_deviation=map_deviation,
        map=scaled.T @ (inverse @ centred),
        mapped=fit_reference(mapped),
    )
    return comparison, mapped


def fit_reference(vectors: Floats) -> Reference:
    """Mean and covariance R·Rᵀ of vectors (images, dims), by the first principal components of the covariance."""
    values, directions = np.linalg.eigh(np.cov(vectors.T))
    largest = np.sqrt(np.maximum(values[-SPREAD_COMPONENTS:], 0))
    return Reference(vectors.mean(axis=0), np.asarray(directions[:, -SPREAD_COMPONENTS:] * largest))
