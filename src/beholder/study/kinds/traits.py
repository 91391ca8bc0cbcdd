"""What a question kind declares about itself as plain data; stages look it up and never test the kind.

Names such as ``rated_by`` are keys of a dictionary in the stage that does the work: ``METHODS`` in ``rank``,
``LABELLERS`` in ``consolidate``, ``POWER_MODELS`` in ``design``, ``EXPECTATIONS`` in ``simulate``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from beholder.study.question import Aspect

ItemType = Literal["real-and-generated", "series", "generated", "pairs", "rows"]
"""What a trial shows.

*real-and-generated*: one image, real or generated. *series*: many such images in rapid succession.
*generated*: one generated image. *pairs*: two images of one prompt by two generators. *rows*: several images of
one prompt.
"""

Gold = Literal["real-or-generated", "known-bad"]
"""Where the right answer of a gold trial comes from.

*real-or-generated*: it is known of every image. *known-bad*: a gold image, known to be bad, stands beside another
of its prompt.
"""

WITH_REAL_IMAGES: tuple[ItemType, ...] = ("real-and-generated", "series")
"""Items among which there are real images."""

COMPARED: tuple[ItemType, ...] = ("pairs", "rows")
"""Items that compare generators."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What holds for all questions of a kind."""

    seconds: float
    """How long a trial takes, all included: raters are told, sessions billed and simulated by it."""
    answering: float
    """The proportion of that time which passes between the images and the answer."""
    least_seconds: float
    """Median response time below which a rater cannot have looked."""
    items: ItemType
    page: str
    """Its module in ``collect/pages/kinds``, without the ending."""
    rated_by: str
    """The rating method."""
    labelled_by: tuple[str, ...]
    """The labels that are made of its judgements."""
    gold: Gold | None = None
    """Where right answers come from; by default there are none, and no gold trials."""
    agreement: tuple[str, ...] = ()
    """Measures of agreement besides those that every kind has."""
    power_model: str | None = None
    """How its power is simulated; by default it cannot be planned."""
    expected_by: str | None = None
    """How ratings that simulated raters should give are computed; by default there is no closed form."""
    jspsych: str = "html-button-response"
    """The nearest plugin of jsPsych."""
    shows_prompt: bool = True
    """Not where real images are shown: only generated ones have a prompt."""
    shows_words: bool = False
    """Whether the words of the prompt can be clicked."""
    flashes: bool = False
    """Whether images flash: raters are warned, and the screen must be fast enough."""
    live: bool = False
    """Whether a result is made for the rater within the trial, by a worker process."""
    any_number: bool = False
    """Whether imported trials may show another number of images than the question says."""

    @property
    def answer_seconds(self) -> float:
        """How long a rater takes from the images to the answer, in the median."""
        return self.seconds * self.answering

    @property
    def shows_real(self) -> bool:
        """Whether real images are shown among the generated ones."""
        return self.items in WITH_REAL_IMAGES

    @property
    def compares(self) -> bool:
        """Whether generators are compared on one screen."""
        return self.items in COMPARED


@dataclass(frozen=True, slots=True)
class Scale:
    """The scale of a question: its ends, and how many points it has; 0: continuous."""

    low: float
    high: float
    points: int

    @property
    def ends(self) -> tuple[float, float]:
        """Lowest and highest value."""
        return self.low, self.high


LENGTH_TOLERANCE = 0.05
"""Proportion by which a long view may be off (``glimpse.js``)."""

CROSS_MS = 500
"""The cross before a single image, where there is no countdown (``glimpse.js``, ``realism.js``)."""


@dataclass(frozen=True, slots=True)
class Viewing:
    """Images that are shown for a limited time, phase by phase, as the page has it."""

    intended_ms: float
    """how long all images of the trial are to be shown"""
    before: tuple[float, ...] = (CROSS_MS,)
    """phases before the images, in ms"""
    after: tuple[float, ...] = ()
    """phases between the images and the answer, in ms"""
    images: int = 1
    """images that must each be drawn in that time"""
    exact: bool = False
    """whether every frame counts"""
    answered_meanwhile: bool = False
    """whether the time for the answer runs with the images, not after them"""


class AdaptiveQuestion(Protocol):
    """A question whose exposure follows the rater's answers."""

    @property
    def name(self) -> str:
        """Name of the question."""

    @property
    def shortest_ms(self) -> int:
        """No exposure is shorter."""

    @property
    def longest_ms(self) -> int:
        """No exposure is longer."""

    def target(self) -> float:
        """Return the proportion of correct answers to which the exposure converges."""

    def rule(self) -> str:
        """The rule in words."""

    def exposure_after(self, past_exposures: Sequence[float], right: Sequence[bool]) -> float:
        """Return a run's next exposure, given its past exposures and whether each answer was correct."""


class MarkedQuestion(Protocol):
    """A question on which raters mark places of the image and words of the prompt, and rate it."""

    @property
    def name(self) -> str:
        """Name of the question."""

    @property
    def aspects(self) -> tuple[Aspect, ...]:
        """What is rated."""

    @property
    def radius(self) -> float:
        """Of a point's disk, as a proportion of the image height."""

    def scale(self) -> tuple[float, float]:
        """Lowest and highest value."""
