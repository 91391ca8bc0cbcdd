"""Features and head of alignment: hand-worked values, and standardising against the images themselves."""

import numpy as np
import pytest

from beholder.errors import WeightsError
from beholder.models.alignment.head import (
    LIKELIEST,
    NUMBERS,
    TENSORS,
    AlignmentHead,
    NetworkOutputs,
    Reference,
    convex_combinations,
    difficulties,
    head_of_tensors,
    read_alignment_head,
)

CLASSES, TEXT, IMAGE = 12, 4, 3


def make_head(**changes: np.ndarray) -> AlignmentHead:
    """A head whose features can be worked out by hand: references of mean 0 and spread 1."""
    tensors: dict[str, np.ndarray] = {name: np.zeros(12) for name in TENSORS}
    tensors |= {"names": np.eye(CLASSES)[:, :TEXT], "logit_mean": np.zeros(CLASSES)}
    tensors |= {"logit_deviation": np.ones(CLASSES), "logit_spread": np.eye(CLASSES)}
    tensors |= {"classes_mean": np.zeros(TEXT), "classes_spread": np.eye(TEXT)}
    tensors |= {"mapped_mean": np.zeros(TEXT), "mapped_spread": np.eye(TEXT)}
    tensors |= {"map_mean": np.zeros(IMAGE), "map_deviation": np.ones(IMAGE), "map": np.eye(IMAGE, TEXT)}
    tensors |= {"feature_deviation": np.ones(12), "scale_from": np.array([-9.0, 9.0])}
    tensors |= {"scale_to": np.array([-9.0, 9.0])}
    return head_of_tensors(tensors | changes, dict.fromkeys(NUMBERS, 0.0))


def test_features_worked_by_hand() -> None:
    logits = np.full((1, CLASSES), -50.0)
    logits[0, 1] = 50.0  # the network sees class 1 and nothing else
    outputs = NetworkOutputs(np.array([[0.0, 9.0, 16.0]]), logits)
    prompt = np.array([[0.0, 0.6, 0.8, 0.0]])
    features = make_head().features(np.array([[2.0, 3.0]]), outputs, ["a cat, side view"], prompt)[0]
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
    evidence = make_head().features(np.zeros((1, 2)), outputs, ["x"], prompt)[0, 3]
    assert evidence == pytest.approx(logits[0, 0], rel=1e-3)


def test_scores_follow_the_weighted_sum_and_its_scale() -> None:
    head = make_head(weights=np.eye(12)[0], scale_from=np.array([0.0, 1.0]), scale_to=np.array([1.0, 3.0]))
    features = np.zeros((3, 12))
    features[:, 0] = [-5.0, 0.5, 5.0]
    assert head.scores(features).tolist() == [1.0, 2.0, 3.0]


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


def test_a_file_that_is_no_head(tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "x.safetensors").write_bytes(b"no")
    with pytest.raises(WeightsError, match="not a head of alignment"):
        read_alignment_head(tmp_path / "x.safetensors")
