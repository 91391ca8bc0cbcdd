import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torchmetrics.image.inception import InceptionScore

from beholder.distances.inception_score import inception_score
from beholder.errors import StatisticsError


def test_by_hand() -> None:
    rng = np.random.default_rng(0)
    # sure of two classes, half each: KL from (½, ½) is ln 2, so IS = 2
    sure = np.array([[50.0, 0], [0, 50]] * 5)
    assert inception_score(sure, rng=rng, splits=1).value == pytest.approx(2)
    # (¾, ¼) and (¼, ¾): KL = ¾ ln 1.5 + ¼ ln ½
    half = np.log(np.array([[3.0, 1], [1, 3]]))
    assert inception_score(half, rng=rng).value == pytest.approx(np.exp(0.75 * np.log(1.5) + 0.25 * np.log(0.5)))
    assert inception_score(np.zeros((30, 7)), rng=rng).value == pytest.approx(1)


@pytest.mark.filterwarnings("ignore:Metric `InceptionScore`", "ignore:std")
def test_against_torchmetrics() -> None:
    logits = np.random.default_rng(1).normal(0, 2, (200, 12))
    theirs = InceptionScore(feature=torch.nn.Identity(), splits=1)
    theirs.update(torch.from_numpy(logits))
    ours = inception_score(logits, rng=np.random.default_rng(0), splits=1).value
    assert ours == pytest.approx(float(theirs.compute()[0]), rel=1e-6)


def test_splits_are_seeded_and_lower() -> None:
    logits = np.random.default_rng(2).normal(0, 2, (300, 50))
    ten = inception_score(logits, rng=np.random.default_rng(0))
    assert ten == inception_score(logits, rng=np.random.default_rng(0))
    assert ten.value < inception_score(logits, rng=np.random.default_rng(0), splits=1).value
    parts = np.array_split(np.random.default_rng(0).permutation(300), 10)
    each = [inception_score(logits[part], rng=np.random.default_rng(0), splits=1).value for part in parts]
    assert ten.value == pytest.approx(np.mean(each))


def test_interval() -> None:
    logits = np.random.default_rng(3).normal(0, 2, (80, 6))
    probabilities = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    divergence = (probabilities * np.log(probabilities / probabilities.mean(axis=0))).sum(axis=1)
    score = inception_score(logits, rng=np.random.default_rng(0), splits=1)
    error = divergence.std(ddof=1) / np.sqrt(80)
    assert score.low == pytest.approx(np.exp(divergence.mean() - 1.959964 * error), rel=1e-6)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=20)
def test_laws(seed: int) -> None:
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, 3, (40, 5))
    value = inception_score(logits, rng=rng, splits=1).value
    assert 1 <= value <= 5
    moved = logits[rng.permutation(40)][:, rng.permutation(5)] + rng.normal(size=(40, 1))
    assert inception_score(moved, rng=rng, splits=1).value == pytest.approx(value)


def test_what_is_not_defined() -> None:
    with pytest.raises(StatisticsError, match="1 generated images; needed are at least 2"):
        inception_score([[1.0, 2]], rng=np.random.default_rng(0))
    with pytest.raises(StatisticsError, match="at least one split"):
        inception_score([[1.0, 2.0], [2.0, 1.0]], rng=np.random.default_rng(0), splits=0)
