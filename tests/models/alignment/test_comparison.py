"""How image and prompt compare: hand-worked values, and standardising against the images themselves."""

import numpy as np
import pytest

from beholder.models.alignment.comparison import (
    FEATURES,
    LIKELIEST,
    TENSORS,
    Comparison,
    NetworkOutputs,
    Reference,
    comparison_of_tensors,
    convex_combinations,
    difficulties,
    tensors_of_comparison,
)

CLASSES, TEXT, IMAGE = 12, 4, 3


def make_comparison() -> Comparison:
    """One whose features can be worked out by hand: references of mean 0 and spread 1."""
    return comparison_of_tensors(
        {
            "names": np.eye(CLASSES)[:, :TEXT],
            "logit_mean": np.zeros(CLASSES),
            "logit_deviation": np.ones(CLASSES),
            "logit_spread": np.eye(CLASSES),
            "classes_mean": np.zeros(TEXT),
            "classes_spread": np.eye(TEXT),
            "map_mean": np.zeros(IMAGE),
            "map_deviation": np.ones(IMAGE),
            "map": np.eye(IMAGE, TEXT),
            "mapped_mean": np.zeros(TEXT),
            "mapped_spread": np.eye(TEXT),
        }
    )


def test_features_worked_by_hand() -> None:
    logits = np.full((1, CLASSES), -50.0)
    logits[0, 1] = 50.0  # the network sees class 1 and nothing else
    outputs = NetworkOutputs(np.array([[0.0, 9.0, 16.0]]), logits)
    prompt = np.array([[0.0, 0.6, 0.8, 0.0]])
    features = make_comparison().features(np.array([[2.0, 3.0]]), outputs, ["a cat, side view"], prompt)[0]
    # the combination is the name of class 1, whose cosine with the prompt is .6; the prompt's spread is 1
    assert features[2] == pytest.approx(0.6)
    # signed roots (0, 3, 4), at length 1 (0, .6, .8): the cosine is .6·.6 + .8·.8
    assert features[4] == pytest.approx(1.0)
    # the most similar class is class 2
    assert features[5] == pytest.approx(0.8)
    assert features[[0, 1, 6, 7, 8, 9]].tolist() == [2, 3, 4, 1, 1, 0]


def test_evidence_is_the_mean_logit_of_similar_classes() -> None:
    prompt = np.array(
        [[1.0, 0.0, 0.0, 0.0]]
    )  # similar to class 0 alone: softmax of 20·(1, 0, …) is nearly 1 there
    logits = np.arange(CLASSES, dtype=np.float64)[None, ::-1].copy()
    outputs = NetworkOutputs(np.ones((1, IMAGE)), logits)
    evidence = make_comparison().features(np.zeros((1, 2)), outputs, ["x"], prompt)[0, 3]
    assert evidence == pytest.approx(logits[0, 0], rel=1e-3)


def test_standardising_is_that_of_the_reference_images() -> None:
    rng = np.random.default_rng(0)
    images, directions = rng.normal(size=(400, TEXT)) @ rng.normal(size=(TEXT, TEXT)), rng.normal(size=(5, TEXT))
    values, vectors = np.linalg.eigh(np.cov(images.T))
    reference = Reference(images.mean(axis=0), vectors * np.sqrt(values))
    products = images[:5] @ directions.T
    of_images = images @ directions.T
    expected = (np.diag(products) - of_images.mean(axis=0)) / of_images.std(axis=0, ddof=1)
    np.testing.assert_allclose(reference.standardise(np.diag(products), directions), expected, rtol=1e-9)


def test_only_the_likeliest_classes_count() -> None:
    logits = np.zeros((1, LIKELIEST + 1))
    logits[0, 0] = -1e-3  # the least likely of eleven
    combined = convex_combinations(logits, np.eye(LIKELIEST + 1))
    assert combined[0, 0] == 0
    np.testing.assert_allclose(combined[0, 1:], 1 / np.sqrt(LIKELIEST))


def test_difficulty_of_no_prompts() -> None:
    assert difficulties([]).shape == (0, 6)
    assert difficulties(["a review of shots"])[0, 2] == 0  # whole words


def test_images_that_are_mapped_already_are_taken_as_they_are() -> None:
    outputs = NetworkOutputs(np.ones((1, IMAGE)), np.zeros((1, CLASSES)))
    prompt = np.array([[0.0, 0.6, 0.8, 0.0]])
    mapped = np.array([[0.0, 1.0, 0.0, 0.0]])
    features = make_comparison().features(np.zeros((1, 0)), outputs, ["x"], prompt, mapped)
    assert features.shape == (1, len(FEATURES))
    assert features[0, FEATURES.index("mapped")] == pytest.approx(0.6)


def test_it_is_what_its_tensors_say() -> None:
    comparison = make_comparison()
    tensors = tensors_of_comparison(comparison)
    assert tuple(tensors) == TENSORS
    again = tensors_of_comparison(comparison_of_tensors(tensors))
    assert all(np.array_equal(again[name], tensors[name]) for name in TENSORS)
