"""Labels of word detection: which words raters saw in which images."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from beholder.models.rich_feedback.trainable import RichBatch

EncodeWords = Callable[[str], Sequence[tuple[int, ...]]]
"""Returns the token ids of each word of a prompt."""


@dataclass(frozen=True, slots=True, eq=False)
class NamingTask:
    """The words that the images of a batch could show, and whether each of its images shows them."""

    vocabulary: list[int]
    """Token ids of the words of all prompts, also of the other parts of the batch."""
    labels: torch.Tensor
    """(images, ids); nan where it is unknown."""
    weight: float
    """Of the mean over the labels: 1 for a complete batch."""


def naming_task(batch: RichBatch, encode_words: EncodeWords) -> NamingTask:
    """Return what is to be detected in the images of a batch, or of its part."""
    division = batch.division
    complete = batch if division is None else division.batch_labels
    vocabulary, labels = naming_labels([encode_words(prompt) for prompt in complete.prompts], complete.misaligned)
    if division is None:
        return NamingTask(vocabulary, labels, 1.0)
    labels_of_part = labels[division.rows]
    labelled, labelled_in_part = (float((~each.isnan()).sum()) for each in (labels, labels_of_part))
    weight = labelled_in_part * division.parts / labelled if labelled else 0.0
    return NamingTask(vocabulary, labels_of_part, weight)


def naming_labels(
    prompts: Sequence[Sequence[tuple[int, ...]]], misaligned: Sequence[Sequence[bool] | None]
) -> tuple[list[int], torch.Tensor]:
    """The token ids that occur in prompts, and whether each image shows each, (images, ids).

    Prompts are given as the token ids of their words. An image shows the words of its prompt that raters did not
    mark, and none of the other prompts' words; misaligned words, and all words of unlabelled images, are nan.
    """
    vocabulary = sorted({token_id for words in prompts for word in words for token_id in word})
    columns = {token_id: column for column, token_id in enumerate(vocabulary)}
    labels = torch.zeros(len(prompts), len(vocabulary))
    for row, (words, marked) in enumerate(zip(prompts, misaligned, strict=True)):
        flags = (True,) * len(words) if marked is None else marked
        flagged = [
            (columns[token_id], flag) for word, flag in zip(words, flags, strict=False) for token_id in word
        ]
        labels[row, [column for column, flag in flagged if flag]] = torch.nan
        labels[row, [column for column, flag in flagged if not flag]] = 1  # one aligned occurrence is enough
    return vocabulary, labels
