"""What a generator is, whatever stands behind it."""

from typing import Protocol

from beholder.workers.identity import Identity
from beholder.workers.messages import ImageReply, ImageRequest


class Generator(Protocol):
    """Makes an image from a prompt."""

    @property
    def identity(self) -> Identity:
        """Who it is: name, hash of the weights, settings. A worker is started for that."""
        ...

    @property
    def seeded(self) -> bool:
        """Whether a seed is sent to it; images that exist already have none."""
        ...

    @property
    def concurrency(self) -> int:
        """How many images may be requested at the same time."""
        ...

    def generate(self, request: ImageRequest) -> ImageReply:
        """Return the image as the bytes of a file, unchecked.

        Raises:
            RefusalError: it declines the prompt, by its own rules.
            WorkerError: it failed; the next call may succeed.
        """
        ...

    def close(self) -> None:
        """Let go of processes and connections."""
        ...
