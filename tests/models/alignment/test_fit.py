"""Fitting how images and prompts compare: held out by prompt, and references that standardise."""

import numpy as np
import pytest

from beholder.models.alignment.comparison import NetworkOutputs, as_unit
from beholder.models.alignment.fit import fit_comparison, fit_reference
from beholder.models.components import signed_roots

IMAGES, CLASSES, TEXT, IMAGE = 24, 6, 5, 7
RIDGE = 0.3


@pytest.fixture
def examples() -> tuple[np.ndarray, NetworkOutputs, np.ndarray, np.ndarray, np.ndarray]:
    """Names, outputs, sentences, weights and prompts of 24 images of 8 prompts."""
    rng = np.random.default_rng(0)
    prompt_of = np.repeat(np.arange(8), 3)
    outputs = NetworkOutputs(rng.normal(size=(IMAGES, IMAGE)), rng.normal(size=(IMAGES, CLASSES)))
    sentences = as_unit(rng.normal(size=(8, TEXT)))[prompt_of]
    return as_unit(rng.normal(size=(CLASSES, TEXT))), outputs, sentences, rng.uniform(0.1, 2, IMAGES), prompt_of


def weighted_ridge(points: np.ndarray, targets: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(XᵀWX + λ·dims·I)⁻¹ XᵀWY."""
    products = points.T @ (points * weights[:, None]) + RIDGE * points.shape[1] * np.eye(points.shape[1])
    return np.linalg.solve(products, points.T @ (targets * weights[:, None]))


def test_the_map_is_weighted_ridge_regression(examples) -> None:  # type: ignore[no-untyped-def]
    names, outputs, sentences, weights, prompt_of = examples
    comparison, _ = fit_comparison(names, outputs, sentences, weights, prompt_of, RIDGE)
    values = signed_roots(outputs.features)
    scaled = (values - values.mean(0)) / (values.std(0) + 1e-6)
    expected = weighted_ridge(scaled, sentences - sentences.mean(0), weights)
    np.testing.assert_allclose(comparison.map, expected, atol=1e-10)


def test_an_image_is_mapped_by_images_of_other_prompts(examples) -> None:  # type: ignore[no-untyped-def]
    names, outputs, sentences, weights, prompt_of = examples
    _, mapped = fit_comparison(names, outputs, sentences, weights, prompt_of, RIDGE)
    values = signed_roots(outputs.features)
    scaled, centred = (values - values.mean(0)) / (values.std(0) + 1e-6), sentences - sentences.mean(0)
    for prompt in range(8):
        own = prompt_of == prompt
        again = weighted_ridge(scaled[~own], centred[~own], weights[~own])
        np.testing.assert_allclose(mapped[own], as_unit(scaled[own] @ again), atol=1e-10)


def test_references_are_those_of_the_images(examples) -> None:  # type: ignore[no-untyped-def]
    names, outputs, sentences, weights, prompt_of = examples
    comparison, mapped = fit_comparison(names, outputs, sentences, weights, prompt_of, RIDGE)
    prompt = sentences[:1]
    cosines = mapped @ prompt[0]
    expected = (cosines - cosines.mean()) / cosines.std(ddof=1)
    np.testing.assert_allclose(
        comparison.mapped.standardise(cosines, np.repeat(prompt, IMAGES, 0)), expected, atol=1e-9
    )


def test_a_reference_keeps_mean_and_covariance() -> None:
    vectors = np.random.default_rng(1).normal(size=(50, 4)) @ np.diag([1.0, 2.0, 3.0, 4.0])
    reference = fit_reference(vectors)
    np.testing.assert_allclose(reference.spread @ reference.spread.T, np.cov(vectors.T), atol=1e-10)
    np.testing.assert_allclose(reference.mean, vectors.mean(0))
