"""Labels of word detection: which words raters saw in which images."""

from collections.abc import Sequence

import torch


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
