"""How answers become numbers about images: a question kind declares it, ``beholder.judgements`` carries it out."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

ValueKind = Literal["detection", "vote", "graded-vote", "rating", "rank", "credit", "category"]
"""What the value of a judgement means.

*detection*: 1 the image was called generated, 0 it was called real. *vote*: 1 the image was preferred to the
other, −1 the other to the image, 0 a tie. *graded-vote*: the same from −2 (the other is much better) to 2.
*rating*: a value on the question's scale. *rank*: the rank among the images shown, 1 the best, ties share one.
*credit*: from 0 to 1, how far key presses point at the image. *category*: the place of a named option among those
on offer, from 0; a name, not an amount.
"""


@dataclass(frozen=True, slots=True)
class ChoiceCoding:
    """Each choice is one number: about the image or, of votes, about the first of the two images as shown."""

    value_kind: ValueKind
    values: Mapping[str, float]
    slack: float = 0.0
    """A repeated trial is answered alike where the values differ by at most this much."""
    counted: tuple[float, ...] = ()
    """Of categories: the values whose proportion rates a generator."""


@dataclass(frozen=True, slots=True)
class NumberCoding:
    """The number that was given is the value."""

    slack: float
    value_kind: ValueKind = "rating"


@dataclass(frozen=True, slots=True)
class RankCoding:
    """Each image has its rank: from the column ``ranking``, or from what each choice says of the images shown."""

    choices: Mapping[str, tuple[int, ...]] | None = None
    slack: float = 0.0
    """Of the votes on every two images that a ranking implies."""
    value_kind: ValueKind = "rank"


@dataclass(frozen=True, slots=True)
class CreditCoding:
    """Each image of a rapid series has the credit of the key presses that it may have caused."""

    each_ms: float
    latency_ms: float
    latency_sd_ms: float
    value_kind: ValueKind = "credit"

    @property
    def slack(self) -> None:
        """Presses of two series cannot be compared."""
        return None


Coding = ChoiceCoding | NumberCoding | RankCoding | CreditCoding
"""One of four shapes; a new kind chooses one."""
