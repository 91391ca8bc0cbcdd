"""Bodies of the raters' requests, validated; unknown fields are refused."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from beholder.collect.session.prolific import TOKEN_PARAMETER
from beholder.study.kinds.kind import AspectAnswer, Mark, Response

NO_NUL = r"^[^\x00]*$"
"""Any text without NUL, which databases do not store."""

LONGEST_VALUE, LONGEST_TOKEN = 512, 4096
"""Longest value of a link's parameter, and of one that carries a signature."""

Short = Annotated[str, Field(max_length=64, pattern=NO_NUL)]
Token = Annotated[str, Field(min_length=8, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")]
Fraction = Annotated[float, Field(ge=0, le=1)]
Milliseconds = Annotated[float, Field(ge=0, le=3_600_000)]
Pixels = Annotated[int, Field(ge=0, le=100_000)]


class Message(BaseModel):
    """Base of all messages."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Enter(Message):
    """The link by which someone enters, and the language of the browser."""

    parameters: dict[Short, Annotated[str, Field(max_length=LONGEST_TOKEN, pattern=NO_NUL)]] = Field(
        default_factory=dict, max_length=20
    )
    path: str = Field("/", max_length=200, pattern=NO_NUL)
    language: Short = "en"

    @field_validator("parameters")
    @classmethod
    def _short(cls, parameters: dict[str, str]) -> dict[str, str]:
        if any(len(value) > LONGEST_VALUE for name, value in parameters.items() if name != TOKEN_PARAMETER):
            raise ValueError(f"a parameter has at most {LONGEST_VALUE} characters")
        return parameters


class Consent(Message):
    """Consent or refusal, and to which text."""

    agreed: bool
    hash: Short
    version: Short
    language: Short


class Check(Message):
    """Properties of screen and browser."""

    screen_width: Pixels
    screen_height: Pixels
    viewport_width: Pixels
    viewport_height: Pixels
    pixel_ratio: float = Field(ge=0, le=100)
    zoom: float = Field(ge=0, le=100)
    frame_ms: float = Field(gt=0, le=10_000)
    touch: bool
    user_agent: str = Field("", max_length=512, pattern=NO_NUL)


class AspectMessage(Message):
    """The answer to one aspect of a question."""

    aspect: Short
    choice: Short | None = None
    value: float | None = None
    ranking: Annotated[list[Annotated[int, Field(ge=1, le=100)]], Field(max_length=100)] | None = None


class MarkMessage(Message):
    """A point, word, key press or tag that the rater marked."""

    aspect: Short
    kind: Literal["point", "word", "press", "tag"]
    image: Annotated[int, Field(ge=0, le=100)] | None = None
    x: Fraction | None = None
    y: Fraction | None = None
    word: Annotated[int, Field(ge=0, le=10_000)] | None = None
    at_ms: Milliseconds | None = None


class Exposure(Message):
    """Exposure as the page measured it."""

    intended_ms: Milliseconds
    intended_frames: int = Field(ge=0, le=100_000)
    shown_ms: Milliseconds
    shown_frames: int = Field(ge=0, le=100_000)
    dropped_frames: int = Field(ge=0, le=100_000)
    frame_ms: Milliseconds
    onset_ms: float = 0.0
    offset_ms: float = 0.0
    blurred: bool = False
    pixel_ratio: float = Field(1.0, ge=0, le=100)
    viewport: tuple[Pixels, Pixels] = (0, 0)


class Answer(Message):
    """An answer to the current trial; by its ``key`` it is stored once however often it is sent."""

    trial: Token
    attempt: int = Field(ge=1, le=1000)
    key: Token
    aspects: list[AspectMessage] = Field(alias="said", max_length=20)
    marks: list[MarkMessage] = Field(default_factory=list, max_length=1000)
    seconds: float = Field(ge=0, le=86_400)
    exposure: Exposure | None = None
    spoiled: bool = False
    spoiled_reason: Short | None = None

    def response(self) -> Response:
        """Convert to the response type of the question kinds."""
        answers = tuple(
            AspectAnswer(a.aspect, a.choice, a.value, None if a.ranking is None else tuple(a.ranking))
            for a in self.aspects
        )
        marks = tuple(
            Mark(m.aspect, m.kind, m.image, None if m.x is None or m.y is None else (m.x, m.y), m.word, m.at_ms)
            for m in self.marks
        )
        return Response(answers, marks)


class Skip(Message):
    """A trial that the rater skips."""

    trial: Token
    attempt: int = Field(ge=1, le=1000)
    reason: Literal["disturbing", "broken", "other"]
    comment: str = Field("", max_length=2000, pattern=NO_NUL)
    end: bool = False
    """the rater knows that no paid skip is left, and that this ends the session"""


class ActiveTime(Message):
    """How long the rater was active since the page last said so; a pause counts for at most 30 s."""

    active: float = Field(0.0, ge=0, le=86_400)


class Debrief(Message):
    """Comments on the task, how long it took by the rater's own account, and the job survey."""

    minutes: Annotated[float, Field(gt=0, le=600)] | None = None
    job: dict[Short, Annotated[int, Field(ge=1, le=7)]] = Field(default_factory=dict, max_length=20)

    clear: Annotated[int, Field(ge=1, le=5)] | None = None
    fair: Annotated[int, Field(ge=1, le=5)] | None = None
    comment: str = Field("", max_length=5000, pattern=NO_NUL)


class Withdraw(Message):
    """Withdrawal, with or without deletion of the answers."""

    delete: bool = False


class Nothing(Message):
    """An empty body."""
