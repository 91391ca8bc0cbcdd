"""Misaligned words as text: the prompt written again, with ``_0`` after each misaligned word.

Decoding is constrained to the words of the prompt. The only choice is, after each word, whether the mark or the
next word follows; it is made greedily from left to right, as the decoder is conditioned on the marks written
before. That does not take one decoder pass per word: all marks are guessed, at first none, and one pass gives
every choice conditioned on the guess. The choices up to the first that differs from its guess are final; the
others are the next guess. As few marks depend on others, two or three passes are mostly enough.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import expit

from beholder.models.rich_feedback.tokenizer import PromptTokenizer

IGNORED = -100

MarkMargins = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]
"""From token ids written so far (n, length), the token that would follow each position without a mark (n, length),
and the rows of these n in the batch, to the logit of the mark minus that of this token, (n, length)."""


@dataclass(frozen=True, eq=False)
class MarkedPrompt:
    """A prompt with marks, as token ids; ``word_ends`` are the positions after each word."""

    token_ids: list[int]
    word_ends: list[int]


def mark_prompt(
    words: Sequence[tuple[int, ...]], marked: Sequence[bool], tokenizer: PromptTokenizer
) -> MarkedPrompt:
    """The words in order, the marked ones followed by the mark, and the end token."""
    token_ids: list[int] = []
    word_ends: list[int] = []
    for word, misaligned in zip(words, marked, strict=True):
        token_ids += word
        word_ends.append(len(token_ids))
        if misaligned:
            token_ids += tokenizer.mark
    return MarkedPrompt([*token_ids, tokenizer.end], word_ends)


def decoder_targets(
    texts: Sequence[MarkedPrompt], tokenizer: PromptTokenizer
) -> tuple[torch.Tensor, torch.Tensor]:
    """The decoder's input, (n, longest), and the next token at each position, -100 where there is none."""
    longest = max(len(text.token_ids) for text in texts)
    decoder_ids = torch.full((len(texts), longest), tokenizer.pad)
    target_ids = torch.full((len(texts), longest), IGNORED)
    for row, text in enumerate(texts):
        length = len(text.token_ids)
        decoder_ids[row, 1:length] = torch.tensor(text.token_ids[:-1])
        target_ids[row, :length] = torch.tensor(text.token_ids)
    return decoder_ids, target_ids


def unmarked_successors(words: Sequence[tuple[int, ...]], tokenizer: PromptTokenizer) -> list[int]:
    """The token that follows each word without a mark."""
    return [*(word[0] for word in words[1:]), tokenizer.end][: len(words)]


def misaligned_probabilities(
    words: Sequence[Sequence[tuple[int, ...]]], tokenizer: PromptTokenizer, mark_margins: MarkMargins
) -> list[NDArray[np.float64]]:
    """For each prompt the probability that each word is misaligned, given the choices before it."""
    marks = [_GreedyMarks(prompt_words, tokenizer) for prompt_words in words]
    rows = [row for row, prompt_words in enumerate(words) if prompt_words]
    while rows:
        texts = [marks[row].text() for row in rows]
        decoder_ids, _ = decoder_targets(texts, tokenizer)
        unmarked = torch.full_like(decoder_ids, tokenizer.end)
        for index, (row, text) in enumerate(zip(rows, texts, strict=True)):
            unmarked[index, text.word_ends] = torch.tensor(unmarked_successors(words[row], tokenizer))
        margins = mark_margins(decoder_ids, unmarked, torch.tensor(rows)).double().cpu().numpy()
        for index, (row, text) in enumerate(zip(rows, texts, strict=True)):
            marks[row].settle(margins[index, text.word_ends])
        rows = [row for row in rows if marks[row].settled < len(words[row])]
    return [prompt_marks.probabilities for prompt_marks in marks]


class _GreedyMarks:
    """The marks of one prompt, decided greedily from left to right."""

    def __init__(self, words: Sequence[tuple[int, ...]], tokenizer: PromptTokenizer) -> None:
        self._words = words
        self._tokenizer = tokenizer
        self._marked = [False] * len(words)
        self.probabilities = np.full(len(words), np.nan)
        self.settled = 0
        """Number of words whose mark is decided."""

    def text(self) -> MarkedPrompt:
        """The prompt with the marks that are decided or guessed."""
        return mark_prompt(self._words, self._marked, self._tokenizer)

    def settle(self, margins: NDArray[np.float64]) -> None:
        """Decide the marks by the signs of ``margins``, up to the first that differs from its guess."""
        decided = margins > 0
        wrong = np.flatnonzero(decided[self.settled :] != np.array(self._marked[self.settled :]))
        until = self.settled + int(wrong[0]) + 1 if len(wrong) else len(self._words)
        self.probabilities[self.settled : until] = expit(margins[self.settled : until])
        self._marked[self.settled :] = decided[self.settled :].tolist()
        self.settled = until
