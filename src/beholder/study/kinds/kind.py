"""What a question kind declares: what it shows, what it writes, and how a person would answer it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from beholder.study.kinds.coding import Coding
from beholder.study.question import Question

if TYPE_CHECKING:
    import numpy as np  # the study server starts without it
    from numpy.typing import NDArray

Point = tuple[float, float]
"""A place in an image: shares of its width and height, from the top left."""


@dataclass(frozen=True, slots=True)
class Said:
    """An answer to one aspect: a choice, a number, or a rank for each image."""

    aspect: str
    choice: str | None = None
    value: float | None = None
    ranking: tuple[int, ...] | None = None

    @property
    def text(self) -> str:
        """The answer as one word, as ``trials.expected`` holds it."""
        if self.choice is not None:
            return self.choice
        if self.value is not None:
            return f"{self.value:g}"
        return " ".join(str(rank) for rank in self.ranking or ())


@dataclass(frozen=True, slots=True)
class Mark:
    """A point on an image, a word of the prompt, or a key press."""

    aspect: str
    kind: str
    image: int | None = None
    point: Point | None = None
    word: int | None = None
    at_ms: float | None = None


@dataclass(frozen=True, slots=True)
class Response:
    """All that a person gives on one screen."""

    said: tuple[Said, ...]
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, slots=True)
class Sensed:
    """What a person makes of the images before them, noise and habits included.

    ``generated`` is evidence that an image is generated, to be compared with the person's ``criterion``;
    ``quality`` holds, for each aspect, what the person feels on a scale from 0 (bad) to 1 (good).
    """

    generated: NDArray[np.float64]  # (images,)
    quality: Mapping[str, NDArray[np.float64]]  # aspect -> (images,)
    criterion: float
    indifference: float
    """Differences in quality below this are felt as a tie."""
    points: Mapping[str, tuple[tuple[Point, ...], ...]] = field(default_factory=dict)
    """aspect -> the flawed places noticed in each image"""
    words: tuple[int, ...] = ()
    """positions of the prompt's words that the image is felt to contradict"""


Q_contra = TypeVar("Q_contra", bound=Question, contravariant=True)


class Kind(Protocol, Generic[Q_contra]):
    """A kind of question. Adding one is a file with this shape and a line in ``catalogue.KINDS``."""

    @property
    def name(self) -> str:
        """As written in study files and tables."""

    @property
    def summary(self) -> str:
        """One line for the documentation."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of ``answers`` it fills."""

    def shows(self, question: Q_contra) -> int:
        """How many images a trial shows."""

    def aspects(self, question: Q_contra) -> tuple[str, ...]:
        """What is judged: a row of ``answers`` each."""

    def coding(self, question: Q_contra) -> Coding:
        """How its answers become judgements of images."""

    def respond(self, question: Q_contra, sensed: Sensed, rng: np.random.Generator) -> Response:
        """What an honest person answers who sensed this."""

    def guess(self, question: Q_contra, rng: np.random.Generator) -> Response:
        """What someone answers who does not look."""

    def lazy(self, question: Q_contra) -> Response:
        """What someone answers who always presses the same key."""

    def oppose(self, question: Q_contra, response: Response) -> Response:
        """The contrary of a response, for someone who means harm."""

    def obey(self, question: Q_contra, expected: str) -> Response:
        """The response that an attention check asks for."""

    def instruct(self, question: Q_contra, rng: np.random.Generator) -> str:
        """An answer that an attention check may ask for."""
