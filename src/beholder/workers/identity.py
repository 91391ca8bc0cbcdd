"""The greeting of a worker: which protocol it speaks, who it is, and what it can do."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from beholder.errors import WorkerError
from beholder.workers.frames import Frame, Header

PROTOCOL = 1
"""The version of the wire protocol; it grows when an older client could misread a frame."""

Task = Literal["generate", "inpaint", "score", "features", "embed"]
"""Prompt, seed and size to an image; images, masks and prompts to images; images and prompts to scores; images to
features; texts to embeddings."""


class Identity(BaseModel):
    """Who a worker is: equal identities mean equal outputs for equal requests."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)

    name: str = Field(min_length=1, max_length=500)
    tasks: tuple[Task, ...] = Field(min_length=1)
    weights: str | None = Field(None, max_length=500)
    """Hash of the weights' files; ``None`` where there are none."""
    settings: dict[str, Any] = Field(default_factory=dict)
    """All that changes its outputs beside the weights: versions, precision, steps …"""
    heartbeat: float | None = Field(None, gt=0)
    """Seconds between two signs of life while it works; ``None`` where it gives none."""

    def __str__(self) -> str:
        return f"{self.name}@{self.weights[:12]}" if self.weights else self.name


def greeting(identity: Identity) -> Frame:
    """Return the first frame of a worker.

    >>> greeting(Identity(name="painter", tasks=("generate",))).header["beholder_worker"]
    1
    """
    return Frame({"beholder_worker": PROTOCOL, **identity.model_dump(mode="json", exclude_none=True)})


def read_greeting(header: Header, worker: str) -> Identity:
    """Return the identity in a greeting; a ``WorkerError`` says what is wrong with it."""
    version = header.get("beholder_worker")
    if version is None:
        raise WorkerError(
            f"{worker}: a greeting with 'beholder_worker', 'name' and 'tasks' is expected first; found the keys: "
            f"{', '.join(header) or 'none'}"
        )
    if version != PROTOCOL:
        raise WorkerError(
            f"{worker}: speaks version {version!r} of the protocol; this beholder speaks version {PROTOCOL}. "
            "Install the same version of beholder on both sides"
        )
    try:
        return Identity.model_validate(dict(header))
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors())
        raise WorkerError(f"{worker}: its greeting is not valid: {faults}") from error
