"""What a question kind declares: all that is particular to it, and how a rater would answer it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from beholder.study.kinds.coding import Coding
from beholder.study.kinds.traits import AdaptiveQuestion, MarkedQuestion, Scale, Traits, Viewing
from beholder.study.question import Question

if TYPE_CHECKING:
    import numpy as np  # the study server starts without it
    from numpy.typing import NDArray

MOST_MARKS = 200
"""The most marks that are accepted for one trial."""

Point = tuple[float, float]
"""A point in an image: fractions of its width and height, from the top left."""


@dataclass(frozen=True, slots=True)
class AspectAnswer:
    """An answer to one aspect: a choice, a number, or a rank for each image."""

    aspect: str
    choice: str | None = None
    value: float | None = None
    ranking: tuple[int, ...] | None = None

    @property
    def filled(self) -> list[str]:
        """The columns of ``answers`` that it fills."""
        return [name for name in ("choice", "value", "ranking") if getattr(self, name) is not None]

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
    """A rater's whole response to one trial: an answer to each aspect, and the marks."""

    answers: tuple[AspectAnswer, ...]
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, slots=True)
class Sensed:
    """What a rater perceives in the images of a trial, noise and habits included.

    ``generated`` is evidence that an image is generated, to be compared with the rater's ``criterion``;
    ``quality`` holds the perceived quality for each aspect, on a scale from 0 (bad) to 1 (good).
    """

    generated: NDArray[np.float64]  # (images,)
    quality: Mapping[str, NDArray[np.float64]]  # aspect -> (images,)
    criterion: float
    indifference: float
    """Differences in quality below this are perceived as a tie."""
    points: Mapping[str, tuple[tuple[Point, ...], ...]] = field(default_factory=dict)
    """aspect -> the flawed places noticed in each image"""
    words: tuple[int, ...] = ()
    """positions of the prompt's words that are perceived as misaligned"""


Q_contra = TypeVar("Q_contra", bound=Question, contravariant=True)


class Kind(Protocol, Generic[Q_contra]):
    """A kind of question. Adding one is a file with this shape and a line in ``catalogue.KINDS``.

    ``PlainKind`` has the methods that most kinds need not write.
    """

    @property
    def name(self) -> str:
        """As written in study files and tables."""

    @property
    def summary(self) -> str:
        """One line for the documentation."""

    @property
    def settings(self) -> type[Question]:
        """The settings of its questions; their ``kind`` is its name."""

    @property
    def traits(self) -> Traits:
        """What holds for all its questions: durations, items, gold, labels, rating method, page."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of ``answers`` it fills."""

    def shows(self, question: Q_contra) -> int:
        """How many images a trial shows."""

    def aspects(self, question: Q_contra) -> tuple[str, ...]:
        """What is judged: one row of ``answers`` for each aspect."""

    def coding(self, question: Q_contra) -> Coding:
        """How its answers become judgements of images."""

    def options(self, question: Q_contra) -> tuple[str, ...]:
        """The choices that the question offers; none where its answer is no choice."""

    def scale(self, question: Q_contra) -> Scale | None:
        """The scale on which it is answered."""

    def wording(self, question: Q_contra, aspect: str) -> str | None:
        """The words in which an aspect is asked for, where a question has several."""

    def ties(self, question: Q_contra) -> bool | None:
        """Whether ties are offered; nothing where every image is judged alone."""

    def least_seconds(self, question: Q_contra) -> float:
        """Median response time below which a rater cannot have looked."""

    def viewing(self, question: Q_contra, exposure_ms: float | None) -> Viewing | None:
        """How images are shown that do not stay; ``exposure_ms`` is what an adaptive question asked for."""

    def adaptive(self, question: Q_contra) -> AdaptiveQuestion | None:
        """The question itself, where its exposure follows the answers."""

    def marked(self, question: Q_contra) -> MarkedQuestion | None:
        """The question itself, where places and words are marked."""

    def answer_faults(self, question: Q_contra, answer: AspectAnswer) -> Iterator[str]:
        """What is wrong with the answer to an aspect."""

    def mark_faults(self, question: Q_contra, mark: Mark, words: int) -> Iterator[str]:
        """What is wrong with a mark; ``words`` is the number of words of the prompt that was shown."""

    def response_faults(self, question: Q_contra, response: Response) -> Iterator[str]:
        """What is wrong with the response as a whole, where each part is allowed."""

    def respond(self, question: Q_contra, sensed: Sensed, rng: np.random.Generator) -> Response:
        """The response of an honest rater who perceives this."""

    def guess(self, question: Q_contra, rng: np.random.Generator) -> Response:
        """The response of a rater who does not look."""

    def lazy(self, question: Q_contra) -> Response:
        """The response of a rater who always presses the same key."""

    def oppose(self, question: Q_contra, response: Response) -> Response:
        """The opposite of a response, for a malicious rater."""

    def obey(self, question: Q_contra, expected: str) -> Response:
        """The response that an attention check asks for."""

    def instruct(self, question: Q_contra, rng: np.random.Generator) -> str:
        """An answer that an attention check may ask for."""
