"""One of several named options, each with a swatch or an image where it has one; *cannot tell* and *several*."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, model_validator

from beholder.study.kinds.choosing import Choosing
from beholder.study.kinds.coding import ChoiceCoding
from beholder.study.kinds.kind import Response, Sensed
from beholder.study.kinds.traits import Traits
from beholder.study.question import FileOfStudy, Question, Settings, Slug, Words

if TYPE_CHECKING:
    import numpy as np  # the study server starts without it

CANNOT_TELL, SEVERAL = "cannot-tell", "several"

FIRST_OPTION_FILE = 50
"""Number of the first option's image among the files of a question (``choice.js``); examples have those before."""

Colour = Annotated[str, Field(pattern=r"^#[0-9a-f]{6}$")]
"""Such as ``#a07e56``."""


class Option(Settings):
    """One of the answers on offer."""

    name: Slug = Field(description="as the tables have it")
    text: Words = Field(description="as the button has it")
    colour: Colour | None = Field(None, description="a swatch beside the text, such as `#a07e56`")
    image: FileOfStudy | None = Field(None, description="an image file of the study folder, beside the text")


LIGHT_TONES = ("#f6ede4", "#f3e7db", "#f7ead0", "#eadaba", "#d7bd96")
DARK_TONES = ("#a07e56", "#825c43", "#604134", "#3a312a", "#292420")

MONK_TONES = tuple(
    Option(name=f"tone-{number}", text=f"Tone {number}", colour=tone)
    for number, tone in enumerate(LIGHT_TONES + DARK_TONES, start=1)
)
"""All ten tones of the Monk Skin Tone scale (Monk, 2019; CC BY 4.0), to be offered as swatches."""


class ChoiceQuestion(Question):
    """One image and several named options, of which one is chosen; *cannot tell* and *several* where allowed."""

    kind: Literal["choice"] = "choice"
    text: Words = "Does the image show what the text says?"
    offered: tuple[Option, ...] = Field(
        (Option(name="yes", text="Yes"), Option(name="no", text="No")),
        min_length=2,
        max_length=20,
        description="the options: one section `[[questions.offered]]` each",
    )
    cannot_tell: bool = Field(True, description="offer *cannot tell* as well")
    several: bool = Field(False, description="offer *several of these* as well")
    counted: tuple[Slug, ...] = Field(
        (), description="the options whose proportion of all answers rates a generator; by default the first"
    )
    show_prompt: bool = Field(True, description="show the prompt; not where it would give the answer away")

    @model_validator(mode="after")
    def _sound(self) -> ChoiceQuestion:
        names = [option.name for option in self.offered]
        if len(set(names)) < len(names):
            raise ValueError(f"offered must name each option once; found: {', '.join(names)}")
        if reserved := {CANNOT_TELL, SEVERAL} & set(names):
            raise ValueError(f"{', '.join(sorted(reserved))}: set cannot_tell or several instead of offering it")
        if unknown := [name for name in self.counted if name not in self.names]:
            raise ValueError(f"counted: {', '.join(unknown)}: expected some of {', '.join(self.names)}")
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """All choices: the options, then *several* and *cannot tell* where offered."""
        options = tuple(option.name for option in self.offered)
        return options + (SEVERAL,) * self.several + (CANNOT_TELL,) * self.cannot_tell

    @property
    def words(self) -> dict[str, str]:
        """The texts of the options, unless a label says otherwise."""
        return {option.name: option.text for option in self.offered} | self.labels

    @property
    def files(self) -> dict[int, str]:
        """Also the images of options."""
        places = enumerate(self.offered, FIRST_OPTION_FILE)
        return super().files | {number: option.image for number, option in places if option.image is not None}


class Choice(Choosing[ChoiceQuestion]):
    """The answer is the name of an option; as a judgement it is the number of the option, from 0."""

    def options(self, question: ChoiceQuestion) -> tuple[str, ...]:
        """As the question offers them."""
        return question.names

    def coding(self, question: ChoiceQuestion) -> ChoiceCoding:
        """The place of each option; which of them count is said beside them."""
        values = {name: float(place) for place, name in enumerate(question.names)}
        counted = question.counted or question.names[:1]
        return ChoiceCoding("category", values, counted=tuple(values[name] for name in counted))

    def respond(self, question: ChoiceQuestion, sensed: Sensed, rng: np.random.Generator) -> Response:  # noqa: ARG002
        """Options stand for equal parts of the perceived quality, the first for the best.

        Who cannot tell is within half of the indifference threshold of a boundary between two options, where that
        answer is offered; each part of the quality is taken as 1 wide.
        """
        parts = len(question.offered)
        place = parts * (1.0 - min(max(float(sensed.quality["overall"][0]), 0.0), 1.0))
        boundary = round(place)
        if question.cannot_tell and 0 < boundary < parts and abs(place - boundary) < sensed.indifference / 2:
            return self.pick(CANNOT_TELL)
        return self.pick(question.offered[min(int(place), parts - 1)].name)


CHOICE = Choice(
    name="choice",
    summary="One image: one of several named options.",
    settings=ChoiceQuestion,
    traits=Traits(
        seconds=6.0,
        answering=0.5,
        least_seconds=0.3,
        items="generated",
        page="choice",
        rated_by="option-share",
        labelled_by=("plurality",),
    ),
    aspect="choice",
    choices=(),
    images=1,
    code=ChoiceCoding("category", {}),
)
