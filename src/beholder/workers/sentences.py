"""Embeddings of sentences from a worker process, so that the program that needs them does not load torch."""

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from beholder.errors import WorkerError
from beholder.workers.bundled import bundled_command
from beholder.workers.child import ChildConnection
from beholder.workers.client import Worker
from beholder.workers.connection import Connection, Limits
from beholder.workers.messages import Vectors

BATCH = 512
"""Sentences per request."""


class WorkerSentenceEncoder:
    """Encodes sentences as unit vectors by MiniLM in a child process, or by any worker that can ``embed``.

    Needs the extra ``text`` (or a folder with weights) where the worker runs. Example::

        with WorkerSentenceEncoder() as encoder:
            vectors = encoder.encode(["a red ball", "a ball that is red"])
            similarity = vectors[0] @ vectors[1]
    """

    def __init__(
        self, connection: Connection | None = None, *, folder: Path | None = None, limits: Limits | None = None
    ) -> None:
        """By the bundled MiniLM, by the weights in a folder, or through a connection; nothing is started yet."""
        arguments = [] if folder is None else [str(folder)]
        self._worker = Worker(connection or ChildConnection(bundled_command("minilm", *arguments), limits=limits))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def identity(self) -> str:
        """Name and weights, as results record them."""
        return str(self._worker.identity)

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Return unit vectors (sentences, dims) of at least one sentence; each distinct one is sent once.

        A worker that crashed is started again, and the request is repeated once.
        """
        if not sentences:
            raise ValueError("at least one sentence is needed")
        order = {sentence: row for row, sentence in enumerate(dict.fromkeys(sentences))}
        distinct = list(order)
        batches = [self._embed(distinct[first : first + BATCH]) for first in range(0, len(distinct), BATCH)]
        vectors: Vectors = np.concatenate(batches)[[order[sentence] for sentence in sentences]]
        return vectors

    def close(self) -> None:
        """Let the worker end."""
        self._worker.close()

    def _embed(self, sentences: Sequence[str]) -> Vectors:
        identity = self._worker.identity  # a worker that cannot start fails here, once
        try:
            return self._worker.embed(sentences)
        except WorkerError:
            if self._worker.identity != identity:
                raise
            return self._worker.embed(sentences)
