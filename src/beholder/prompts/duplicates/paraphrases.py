"""Prompts that say the same in other words, by the cosine of their sentence embeddings.

Embeddings come from a :class:`SentenceEncoder`, such as
:class:`beholder.workers.sentences.WorkerSentenceEncoder`, a child process: this package loads no torch.
"""

from collections.abc import Collection, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from beholder.prompts.duplicates.find import PromptPair

LEAST_COSINE = 0.95
"""Cosine of two embeddings from which on prompts are reported as paraphrases."""
ROWS = 2048
"""Prompts whose cosines with all others are in memory at a time."""


class SentenceEncoder(Protocol):
    """Turns texts into vectors."""

    @property
    def identity(self) -> str:
        """Name and weights' hash, for the record."""
        ...

    def encode(self, sentences: Sequence[str]) -> NDArray[np.float32]:
        """Return one row per sentence."""
        ...


def find_paraphrases(
    texts: Sequence[str],
    encoder: SentenceEncoder,
    *,
    least_cosine: float = LEAST_COSINE,
    except_pairs: Collection[tuple[int, int]] = (),
) -> list[PromptPair]:
    """Find pairs of prompts with similar embeddings.

    They are reported, never dropped: a sentence encoder also places *a red car* close to *a blue car*.

    Args:
        texts: the prompts.
        encoder: computes their embeddings.
        least_cosine: from which cosine on a pair is reported.
        except_pairs: pairs of positions, the lower first, that have a relation already.

    Returns:
        The pairs by position, with the relation ``paraphrase`` and the cosine as similarity.
    """
    vectors = np.asarray(encoder.encode(texts), dtype=np.float32)  # (prompts, dims)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    related = set(except_pairs)
    pairs: list[PromptPair] = []
    for start in range(0, len(texts), ROWS):
        cosines = vectors[start : start + ROWS] @ vectors.T  # (rows, prompts)
        for row, column in np.argwhere(cosines >= least_cosine):
            first, second = start + int(row), int(column)
            if first < second and (first, second) not in related:
                cosine = min(float(cosines[row, column]), 1.0)
                pairs.append(PromptPair(first, second, "paraphrase", f"cosine of {encoder.identity}", cosine))
    return sorted(pairs, key=lambda pair: (pair.first, pair.second))
