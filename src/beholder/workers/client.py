"""A worker as the program that uses it sees it: one method per task."""

import itertools
import threading
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from beholder.errors import RefusalError, WorkerError
from beholder.workers.connection import Connection
from beholder.workers.frames import Frame, FrameError
from beholder.workers.identity import Identity, Task
from beholder.workers.messages import (
    ImageReply,
    ImageRequest,
    Vectors,
    read_image,
    read_images,
    read_scores,
    read_vectors,
)

Content = TypeVar("Content")
"""What a reply holds."""


class Worker:
    """A worker that generates, inpaints, scores or encodes; one request at a time, from any thread.

    Example::

        with Worker(ChildConnection(["python", "-m", "beholder.simulate.painter_worker", "aurora"])) as painter:
            reply = painter.generate(ImageRequest(prompt="a red ball, in the snow, photo", seed=1))
    """

    def __init__(self, connection: Connection) -> None:
        """Nothing is started before the first request."""
        self._connection = connection
        self._numbers = itertools.count(1)
        self._turn = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def identity(self) -> Identity:
        """Who the worker is; it is started for that."""
        with self._turn:
            return self._connection.open()

    def generate(self, request: ImageRequest) -> ImageReply:
        """Return the image for a prompt.

        Raises:
            RefusalError: the generator declines the prompt.
            WorkerError: it failed; the next call starts it again.
        """
        header = request.model_dump(mode="json", exclude_none=True)
        reply = self._ask("generate", header)
        return self._understood(lambda: read_image(reply))

    def inpaint(
        self, images: Sequence[bytes], masks: Sequence[bytes], prompts: Sequence[str], seeds: Sequence[int]
    ) -> tuple[bytes, ...]:
        """Return each image (the bytes of a file) with the white part of its mask painted again."""
        if len({len(images), len(masks), len(prompts), len(seeds)}) != 1:
            raise ValueError(
                f"{len(images)} images need as many masks, prompts and seeds; found {len(masks)} masks, "
                f"{len(prompts)} prompts, {len(seeds)} seeds"
            )
        reply = self._ask("inpaint", {"prompts": list(prompts), "seeds": list(seeds)}, [*images, *masks])
        return self._understood(lambda: read_images(reply, len(images)))

    def score(self, images: Sequence[bytes], prompts: Sequence[str | None]) -> NDArray[np.float64]:
        """Return one score per image (the bytes of a file) with its prompt."""
        if len(images) != len(prompts):
            raise ValueError(f"{len(images)} images need as many prompts, or None; found {len(prompts)}")
        reply = self._ask("score", {"prompts": list(prompts)}, images)
        return self._understood(lambda: read_scores(reply, len(images)))

    def features(self, images: Sequence[bytes]) -> Vectors:
        """Return one vector per image: (images, dims)."""
        reply = self._ask("features", {}, images)
        return self._understood(lambda: read_vectors(reply, len(images)))

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one vector per text: (texts, dims)."""
        reply = self._ask("embed", {"texts": list(texts)})
        return self._understood(lambda: read_vectors(reply, len(texts)))

    def close(self) -> None:
        """Let the worker end."""
        with self._turn:
            self._connection.close()

    def _ask(self, task: Task, header: dict[str, Any], blobs: Sequence[bytes] = ()) -> Frame:
        with self._turn:
            label = self._connection.label
            tasks = self._connection.open().tasks
            if task not in tasks:
                raise WorkerError(f"{label}: cannot {task}; its tasks are: {', '.join(tasks)}")
            number = next(self._numbers)
            reply = self._connection.exchange(Frame({"id": number, "task": task, **header}, tuple(blobs)))
        if "refused" in reply.header:
            raise RefusalError(str(reply.header["refused"]) or "no reason was stated")
        if "error" in reply.header:
            raise WorkerError(f"{label}: {reply.header['error']}")
        return reply

    def _understood(self, read: Callable[[], Content]) -> Content:
        """Read a reply; what the protocol does not allow is an error of the worker."""
        try:
            return read()
        except (FrameError, ValidationError) as fault:
            message = f"{self._connection.label}: not a reply: {fault}"
            raise WorkerError(message, fault="not-a-reply") from fault
