"""Write a prompt for which a generator fails: the image is made while the rater waits, and then judged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from beholder.study.kinds.choosing import Choosing
from beholder.study.kinds.coding import ChoiceCoding
from beholder.study.kinds.kind import Mark, Response, Sensed
from beholder.study.kinds.traits import Traits
from beholder.study.question import Question, Words

if TYPE_CHECKING:
    import numpy as np  # the study server starts without it

FAILS, HOLDS = "fails", "holds"

MISSING = "missing-object"
"""The tag whose words are marked: what the prompt asks for and the image lacks."""

TAGS = (
    MISSING,
    "wrong-count",
    "wrong-colour",
    "wrong-place",
    "implausible",
    "wrong-text",
    "unsafe",
    "other-failure",
)
"""How an image can fail."""


class WritePromptQuestion(Question):
    """An example of the target, a prompt that the rater writes, and the image that comes back."""

    kind: Literal["write-prompt"] = "write-prompt"
    text: Words = "Write a prompt for which this generator fails."
    target: str = Field(
        "", description="the `[[generators]]` section that makes the images; or, with `fools`, a scorer"
    )
    fools: Literal["generator", "scorer"] = Field(
        "generator",
        description="`generator`: the rater writes prompts; `scorer`: the rater looks for a worse image of the "
        "same prompt that the scorer scores higher",
    )
    tries: int = Field(5, ge=1, le=50, description="results that a rater may ask for in one trial")
    most: int = Field(40, ge=1, le=1000, description="results that a rater may ask for in all")
    tags: tuple[str, ...] = Field(TAGS, description="the failures on offer", min_length=1)
    longest: int = Field(300, ge=10, le=2000, description="characters of a prompt at most")


class WritePrompt(Choosing[WritePromptQuestion]):
    """A claim that the image fails, with tags and the words it misses; or that it holds."""

    def respond(
        self,
        question: WritePromptQuestion,
        sensed: Sensed,
        rng: np.random.Generator,  # noqa: ARG002
    ) -> Response:
        """Whoever perceives a bad image claims it, and names the words that are perceived as misaligned."""
        if float(sensed.quality["overall"][0]) >= 0.5:
            return self.pick(HOLDS)
        if not sensed.words or MISSING not in question.tags:
            return self.pick(FAILS)
        words = tuple(Mark(MISSING, "word", word=word) for word in sensed.words)
        return Response(self.pick(FAILS).answers, (Mark(MISSING, "tag"), *words))

    def pick(self, choice: str) -> Response:
        """A claim needs a tag: by default that of other failures."""
        answers = super().pick(choice).answers
        return Response(answers, (Mark(TAGS[-1], "tag"),) if choice == FAILS else ())

    def mark_faults(self, question: WritePromptQuestion, mark: Mark, words: int) -> Iterator[str]:
        """Tags that are on offer, and words of the rater's own prompt."""
        if mark.kind == "tag":
            if mark.aspect not in (*question.tags, TAGS[-1]):
                yield f"a tag {mark.aspect!r}; expected one of {', '.join(question.tags)}"
        elif mark.kind == "word":
            if mark.aspect != MISSING or mark.word is None or not 0 <= mark.word < words:
                yield f"a word mark outside the {words} words of the prompt"
        else:
            yield f"a {mark.kind} mark; questions of kind {self.name} take tags and words"

    def response_faults(self, question: WritePromptQuestion, response: Response) -> Iterator[str]:  # noqa: ARG002
        """A claim without a tag says nothing that others could verify."""
        claims = any(answer.choice == FAILS for answer in response.answers)
        if claims and not any(mark.kind == "tag" for mark in response.marks):
            yield "a claim that the image fails, without a tag that says how"


WRITE_PROMPT = WritePrompt(
    name="write-prompt",
    summary="A prompt of one's own: does the generator fail on it?",
    settings=WritePromptQuestion,
    traits=Traits(
        seconds=60.0,
        answering=0.5,
        least_seconds=1.0,
        items="generated",
        page="write_prompt",
        rated_by="option-share",
        labelled_by=("plurality",),
        live=True,
    ),
    aspect="claim",
    choices=(FAILS, HOLDS),
    images=1,
    code=ChoiceCoding("category", {FAILS: 0.0, HOLDS: 1.0}, counted=(1.0,)),
)
