"""Scorers of an encoder's vectors: one forward pass for several of them, and for distances as well."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from beholder.images.sources import ArrayImage
from beholder.models.encoders.encode import encode
from beholder.models.encoders.encoder import Encoder, Vectors
from beholder.models.encoders.preprocessing import Preprocessing
from beholder.scorers.score import score
from beholder.scorers.scorer import Scorer, ScorerInput, by_vectors


class CountingEncoder:
    """An encoder whose vectors are the mean colour, then that of red alone; it counts the images it encodes."""

    def __init__(self) -> None:
        self.images = 0
        self.encoder = Encoder(
            "wide", "w" * 64, 4, Preprocessing("exact", 2, "box"), self.network, parts={"narrow": slice(0, 3)}
        )

    def network(self, prepared: NDArray[np.float32]) -> Vectors:
        self.images += len(prepared)
        means = prepared.mean((2, 3))
        return np.concatenate([means, means[:, :1]], axis=1).astype(np.float32)


def narrow_network(_: NDArray[np.float32]) -> Vectors:
    raise AssertionError("its vectors are part of those that a scorer has computed")


def pictures(*numbers: int) -> list[ArrayImage]:
    return [ArrayImage(f"i{number}", np.full((4, 4, 3), number, np.uint8)) for number in numbers]


def scorer_of(encoder: Encoder, name: str) -> Scorer:
    def of_vectors(vectors: Vectors, prompts: Sequence[str | None]) -> NDArray[np.float64]:
        return np.asarray(vectors.sum(axis=1, dtype=np.float64) + [len(prompt or "") for prompt in prompts])

    return by_vectors(name, f"{name}@1", (encoder,), of_vectors)


def test_one_forward_pass_for_scorers_and_the_encoder_within(tmp_path: Path) -> None:
    counting = CountingEncoder()
    narrow = replace(counting.encoder, name="narrow", dims=3, network=narrow_network, parts={})
    scorers = [scorer_of(counting.encoder, name) for name in ("first", "second")]
    scores = score(pictures(0, 51, 255), ["a", None, "abc"], scorers, encoders=[narrow], features=tmp_path)
    assert counting.images == 3
    np.testing.assert_allclose(scores.values["first"], [1, 4 * 0.2, 4 + 3], rtol=1e-6)
    np.testing.assert_array_equal(scores.values["first"], scores.values["second"])
    np.testing.assert_allclose(scores.features[0].vectors, np.repeat([[0], [0.2], [1]], 3, axis=1), rtol=1e-6)
    assert encode(pictures(51), narrow, folder=tmp_path).vectors.shape == (1, 3)  # stored: nothing is computed


def test_what_is_stored_is_not_scored_again(tmp_path: Path) -> None:
    counting = CountingEncoder()
    for numbers in ((1, 2), (1, 2, 3)):
        score(pictures(*numbers), [None] * len(numbers), [scorer_of(counting.encoder, "first")], cache=tmp_path)
    assert counting.images == 3


def test_an_image_too_narrow_for_the_network_has_no_score() -> None:
    counting = CountingEncoder()
    encoder = replace(counting.encoder, preprocessing=Preprocessing("shortest", 500, "box", 500))
    narrow = ArrayImage("narrow", np.zeros((1, 2000, 3), np.uint8))
    scores = score([narrow, *pictures(255)], [None, None], [scorer_of(encoder, "first")])
    assert np.isnan(scores.values["first"][0])
    assert scores.values["first"][1] == pytest.approx(4)


def test_in_memory_and_from_files_are_the_same() -> None:
    counting = CountingEncoder()
    scorer = scorer_of(counting.encoder, "first")
    pixels = np.full((4, 4, 3), 51, np.uint8)
    from_files = score([ArrayImage("i", pixels)], ["ab"], [scorer]).values["first"]
    np.testing.assert_array_equal(scorer(pixels, "ab"), from_files)
    with pytest.raises(ValueError, match="need at least one array"):
        scorer.score([ScorerInput(None, "ab")])
