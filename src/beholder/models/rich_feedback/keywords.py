"""Misaligned words as text: the prompt written again, with ``_0`` after each word that the image missed.

Decoding is constrained to the words of the prompt. The only choice is, after each word, whether the mark follows
or the next word does; it is made greedily from left to right, as the marks written before are part of what the
decoder has read. That does not take a pass of the decoder for each word: all marks are guessed, at first none, and
a pass tells every choice that would be made after them. Up to the first that differs from its guess they stand;
the others are the next guess. As few marks depend on others, two or three passes are mostly enough.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import expit

from beholder.models.rich_feedback.pieces import Pieces

IGNORED = -100

Leads = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]
"""From what was written (n, length), the number that would follow each place of it without a mark (n, length), and
the places of these n in the batch, to how far the mark's logit leads over that number's, (n, length)."""


@dataclass(frozen=True, eq=False)
class Written:
    """A prompt with marks, as numbers; ``after`` is where each word ends in them."""

    numbers: list[int]
    after: list[int]


def written(words: Sequence[tuple[int, ...]], marked: Sequence[bool], pieces: Pieces) -> Written:
    """The words in their order, the marked ones with the mark behind them, and the end."""
    numbers: list[int] = []
    after: list[int] = []
    for word, misaligned in zip(words, marked, strict=True):
        numbers += word
        after.append(len(numbers))
        if misaligned:
            numbers += pieces.mark
    return Written([*numbers, pieces.end], after)


def targets(texts: Sequence[Written], pieces: Pieces) -> tuple[torch.Tensor, torch.Tensor]:
    """What the decoder is given, (n, longest), and what it should write next at each place, -100 where nothing."""
    longest = max(len(text.numbers) for text in texts)
    given = torch.full((len(texts), longest), pieces.pad)
    wanted = torch.full((len(texts), longest), IGNORED)
    for row, text in enumerate(texts):
        length = len(text.numbers)
        given[row, 1:length] = torch.tensor(text.numbers[:-1])
        wanted[row, :length] = torch.tensor(text.numbers)
    return given, wanted


def following(words: Sequence[tuple[int, ...]], pieces: Pieces) -> list[int]:
    """What comes after each word if no mark does."""
    return [*(word[0] for word in words[1:]), pieces.end][: len(words)]


def misaligned_chances(
    words: Sequence[Sequence[tuple[int, ...]]], pieces: Pieces, leads: Leads
) -> list[NDArray[np.float64]]:
    """For each prompt the chance that each word is misaligned, given the choices before it."""
    choices = [_Choices(one, pieces) for one in words]
    rows = [row for row, one in enumerate(words) if one]
    while rows:
        texts = [choices[row].text() for row in rows]
        given, _ = targets(texts, pieces)
        unmarked = torch.full_like(given, pieces.end)
        for place, (row, text) in enumerate(zip(rows, texts, strict=True)):
            unmarked[place, text.after] = torch.tensor(following(words[row], pieces))
        found = leads(given, unmarked, torch.tensor(rows)).double().cpu().numpy()
        for place, (row, text) in enumerate(zip(rows, texts, strict=True)):
            choices[row].settle(found[place, text.after])
        rows = [row for row in rows if choices[row].settled < len(words[row])]
    return [one.chances for one in choices]


class _Choices:
    """The choices after each word of one prompt, made from left to right."""

    def __init__(self, words: Sequence[tuple[int, ...]], pieces: Pieces) -> None:
        self._words = words
        self._pieces = pieces
        self._marked = [False] * len(words)
        self.chances = np.full(len(words), np.nan)
        self.settled = 0
        """Words whose choice is made."""

    def text(self) -> Written:
        """The prompt with the marks that are settled or guessed."""
        return written(self._words, self._marked, self._pieces)

    def settle(self, leads: NDArray[np.float64]) -> None:
        """Take over the choices that ``leads`` tell, as far as the text that they were computed for was right."""
        told = leads > 0
        wrong = np.flatnonzero(told[self.settled :] != np.array(self._marked[self.settled :]))
        until = self.settled + int(wrong[0]) + 1 if len(wrong) else len(self._words)
        self.chances[self.settled : until] = expit(leads[self.settled : until])
        self._marked[self.settled :] = told[self.settled :].tolist()
        self.settled = until
