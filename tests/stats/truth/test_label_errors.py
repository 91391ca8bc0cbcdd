import numpy as np
import pytest
from cleanlab.count import compute_confident_joint, get_confident_thresholds
from cleanlab.filter import find_label_issues
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from beholder.errors import StatisticsError
from beholder.stats.truth.dawid_skene import dawid_skene
from beholder.stats.truth.label_errors import confident_errors, likely_label_errors


def simulate(
    rng: np.random.Generator, items: int = 300, classes: int = 3, noise: float = 0.15
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    """Return noisy labels, probabilities, and the truth."""
    truth = rng.integers(0, classes, items)
    labels = np.where(rng.random(items) < noise, (truth + rng.integers(1, classes, items)) % classes, truth)
    scores = rng.normal(size=(items, classes)) + 2.5 * np.eye(classes)[truth]
    probabilities = np.exp(scores)
    return labels, probabilities / probabilities.sum(axis=1, keepdims=True), truth


def test_doubtful_by_hand() -> None:
    labels = [0, 0, 1, 1, -1]
    chances = [[0.9, 0.1], [0.3, 0.7], [0.8, 0.2], [0.5, 0.5], [0.5, 0.5]]
    errors = likely_label_errors(labels, chances)
    assert errors.items.tolist() == [2, 1]  # margins (.2 − .8 + 1)/2 = .2 and (.3 − .7 + 1)/2 = .3; a tie stays
    assert errors.labels.tolist() == [1, 0]
    assert errors.suggested.tolist() == [0, 1]
    assert errors.self_confidence == pytest.approx([0.2, 0.3])
    assert errors.margin == pytest.approx([0.2, 0.3])
    assert errors.joint.tolist() == [[1, 1], [1, 1]]


def test_confident_by_hand() -> None:
    # labelled 0: p₀ = .9 .8 .4, mean .7; labelled 1: p₁ = .6 .9 .3, mean .6
    # item 2 (label 0): p₁ = .6 reaches .6, p₀ = .4 is under .7: an error; item 5 (label 1): p₀ = .7 reaches .7
    labels = [0, 0, 0, 1, 1, 1]
    chances = [[0.9, 0.1], [0.8, 0.2], [0.4, 0.6], [0.4, 0.6], [0.1, 0.9], [0.7, 0.3]]
    errors = confident_errors(labels, chances)
    assert errors.thresholds == pytest.approx([0.7, 0.6])
    assert errors.items.tolist() == [5, 2]  # margins .3 and .4
    assert errors.suggested.tolist() == [0, 1]
    assert errors.joint.tolist() == [[2, 1], [1, 2]]


def test_below_its_threshold_nothing_is_an_error() -> None:
    # the last item is more probably 1 (.55), but 1 is usually given with .9: no confident error, only a likely one
    labels, chances = [0, 0, 1, 1, 0], [[0.9, 0.1], [0.9, 0.1], [0.1, 0.9], [0.1, 0.9], [0.45, 0.55]]
    assert len(confident_errors(labels, chances).items) == 0
    assert likely_label_errors(labels, chances).items.tolist() == [4]
    assert confident_errors(labels, chances).joint.sum() == 4  # the item counts nowhere


@pytest.mark.parametrize("classes", [2, 3, 6])
def test_against_cleanlab(classes: int) -> None:
    for seed in range(5):
        labels, chances, _ = simulate(np.random.default_rng(seed), classes=classes)
        errors = confident_errors(labels, chances)
        np.testing.assert_allclose(errors.thresholds, get_confident_thresholds(labels, chances), atol=1e-12)  # type: ignore[arg-type]
        joint = compute_confident_joint(labels, chances, calibrate=False)
        np.testing.assert_array_equal(errors.joint, joint)
        theirs = find_label_issues(
            labels, chances, filter_by="confident_learning", return_indices_ranked_by="normalized_margin", n_jobs=1
        )
        assert errors.items.tolist() == theirs.tolist()
        plain = find_label_issues(
            labels,
            chances,
            filter_by="predicted_neq_given",
            return_indices_ranked_by="normalized_margin",
            n_jobs=1,
        )
        assert likely_label_errors(labels, chances).items.tolist() == plain.tolist()


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=20, deadline=None)
def test_laws(seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels, chances, truth = simulate(rng)
    errors = confident_errors(labels, chances)
    wrong = labels != truth
    assert wrong[errors.items].mean() > 2 * wrong.mean()  # far more errors among those listed
    assert np.all(errors.labels != errors.suggested)
    assert np.all(np.diff(errors.margin) >= 0)
    assert set(errors.items) <= set(likely_label_errors(labels, chances).items)
    rows, names = rng.permutation(len(labels)), rng.permutation(3)
    moved = confident_errors(names[labels][rows], chances[rows][:, np.argsort(names)])
    assert rows[moved.items].tolist() == errors.items.tolist()
    assert moved.suggested.tolist() == names[errors.suggested].tolist()


def test_from_raters() -> None:
    """A published label that careful raters contradict is found by their confusion."""
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 100)
    published = truth.copy()
    published[:8] = 1 - truth[:8]
    who, what = (index.ravel() for index in np.indices((7, 100)))
    answers = np.where(rng.random((7, 100)) < 0.85, truth, 1 - truth).ravel()
    errors = likely_label_errors(published, dawid_skene(who, what, answers).posterior)
    assert set(range(8)) <= set(errors.items.tolist())
    assert len(errors.items) <= 12
    assert np.all(errors.suggested == 1 - errors.labels)


def test_degenerate_labels() -> None:
    unknown = np.full((2, 2), np.nan)
    assert len(likely_label_errors([0, 1], unknown).items) == 0
    assert len(confident_errors([0, 1], unknown).items) == 0
    single = confident_errors([1], [[0.9, 0.1]])  # one item: class 0 has no threshold, class 1 that of the item
    assert len(single.items) == 0
    assert np.isnan(single.thresholds[0])  # type: ignore[index]
    assert likely_label_errors([1], [[0.9, 0.1]]).items.tolist() == [0]
    agreed = confident_errors([0, 1], [[1, 0], [0, 1]])
    assert len(agreed.items) == 0
    assert len(likely_label_errors(np.zeros(0, int), np.zeros((0, 2))).items) == 0


def test_nonsense_is_refused() -> None:
    with pytest.raises(StatisticsError, match=r"found \(2,\), \(1, 2\)"):
        likely_label_errors([0, 1], [[0.5, 0.5]])
    with pytest.raises(StatisticsError, match="below 2, or −1"):
        confident_errors([2], [[0.5, 0.5]])
    with pytest.raises(StatisticsError, match="sum to 1"):
        confident_errors([1], [[0.5, 0.6]])
    with pytest.raises(StatisticsError, match="below 2, or −1"):
        likely_label_errors([0.5], [[0.5, 0.5]])
