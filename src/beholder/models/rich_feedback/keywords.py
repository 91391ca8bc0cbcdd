"""Misaligned words as text: the prompt written again, with ``_0`` after each word that the image missed.

Decoding is constrained to the words of the prompt. The only choice is, after each word, whether the mark follows
or the next word does; it is made greedily from left to right, as the marks written before are part of what the
decoder has read. That takes one pass of the decoder for each mark and one more, not one for each word: the choices
after the last mark can all be read off a single pass, and those before it stand.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from beholder.models.rich_feedback.pieces import Pieces

IGNORED = -100

Decode = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
"""From what was written (n, length), and the places of these n in the batch, to logits (n, length, size)."""


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


def misaligned_chances(
    words: Sequence[Sequence[tuple[int, ...]]], pieces: Pieces, decode: Decode
) -> list[NDArray[np.float64]]:
    """For each prompt the chance that each word is misaligned, given the choices before it."""
    chances = [np.full(len(one), np.nan) for one in words]
    marked = [[False] * len(one) for one in words]
    settled = [0] * len(words)
    open_rows = [row for row, one in enumerate(words) if one]
    while open_rows:
        texts = [written(words[row], marked[row], pieces) for row in open_rows]
        given, _ = targets(texts, pieces)
        logits = decode(given, torch.tensor(open_rows)).double().cpu()
        still_open = []
        for place, (row, text) in enumerate(zip(open_rows, texts, strict=True)):
            if _settle(row, words[row], text, logits[place], pieces, chances, marked, settled):
                still_open.append(row)
        open_rows = still_open
    return chances


def _settle(
    row: int,
    words: Sequence[tuple[int, ...]],
    text: Written,
    logits: torch.Tensor,
    pieces: Pieces,
    chances: list[NDArray[np.float64]],
    marked: list[list[bool]],
    settled: list[int],
) -> bool:
    """Read choices off one pass up to the next mark; whether there are words after it."""
    following = [*(word[0] for word in words[1:]), pieces.end]
    for word in range(settled[row], len(words)):
        at = text.after[word]  # the numbers before it were given, and the first given one is the pad
        lead = logits[at, pieces.mark[0]] - logits[at, following[word]]
        chances[row][word] = float(torch.sigmoid(lead))
        if lead > 0:
            marked[row][word] = True
            settled[row] = word + 1
            return word + 1 < len(words)
    settled[row] = len(words)
    return False
