"""Sentences as vectors: what transformers' own loading gives, and what they mean."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

from beholder.errors import WeightsError
from beholder.models.text.sentence_encoder import PACKAGE, SentenceEncoder, find_in_package

pytest.importorskip(PACKAGE, reason="the sentence encoder's package is not installed")


@pytest.fixture(scope="module")
def encoder() -> SentenceEncoder:
    return SentenceEncoder()


SENTENCES = ["a cat on a sofa", "a kitten lying on the couch", "the stock market fell sharply in the afternoon"]


def test_as_transformers_loads_it(encoder: SentenceEncoder) -> None:
    folder = find_in_package(PACKAGE)
    tokens = transformers.AutoTokenizer.from_pretrained(folder)(SENTENCES, padding=True, return_tensors="pt")
    with torch.inference_mode():
        words = transformers.AutoModel.from_pretrained(folder).eval()(**tokens).last_hidden_state
    counted = tokens["attention_mask"][..., None]
    expected = (words * counted).sum(1) / counted.sum(1)
    expected /= expected.norm(dim=1, keepdim=True)
    np.testing.assert_allclose(encoder.encode(SENTENCES), expected.numpy(), rtol=0, atol=1e-6)


def test_alike_sentences_point_the_same_way(encoder: SentenceEncoder) -> None:
    vectors = encoder.encode(SENTENCES)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    alike = vectors @ vectors.T
    assert alike[0, 1] > 0.6 > 0.2 > alike[0, 2]


def test_a_sentence_does_not_depend_on_its_company(encoder: SentenceEncoder) -> None:
    alone = SentenceEncoder().encode(SENTENCES[:1])
    np.testing.assert_allclose(encoder.encode(SENTENCES[::-1])[2], alone[0], rtol=0, atol=1e-6)


def test_long_prompts_are_cut(encoder: SentenceEncoder) -> None:
    first, second = encoder.encode(["cat " * 300, "cat " * 300 + "dog"])
    np.testing.assert_array_equal(first, second)


def test_a_folder_without_the_files(tmp_path: Path) -> None:
    shutil.copy(find_in_package(PACKAGE) / "config.json", tmp_path)
    with pytest.raises(WeightsError, match=r"lacks tokenizer.json, model.safetensors"):
        SentenceEncoder(tmp_path)


def test_a_package_that_is_not_installed() -> None:
    with pytest.raises(WeightsError, match=r"beholder\[text\]"):
        find_in_package("no_such_package")
