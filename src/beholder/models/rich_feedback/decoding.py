"""The decoder at work on a batch: what it makes of the encoder's states is made once, however often it writes."""

import torch
import transformers

from beholder.models.rich_feedback.network import Encoded, RichFeedbackNetwork


class Decoding:
    """Asked again and again about fewer and fewer rows of a batch."""

    def __init__(self, network: RichFeedbackNetwork, encoded: Encoded, mark: int) -> None:
        self._network = network
        self._encoded = encoded
        self._mark = mark
        self._rows = torch.arange(len(encoded.states))
        self._seen = transformers.DynamicCache()  # keys and values of the encoder's states, of all layers

    def leads(self, given: torch.Tensor, following: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        """How far the mark's logit lies above that of the number that would follow otherwise, (n, length).

        ``given`` is what n rows have written so far, ``following`` what would follow each place of it, both
        (n, length); ``rows`` are their places in the batch, in order and among those of the call before. Only
        these two logits are computed of a whole vocabulary.
        """
        self._keep(rows)
        device = self._encoded.states.device
        seen = transformers.EncoderDecoderCache(transformers.DynamicCache(), self._seen)
        states = self._network.decode(self._encoded, given.to(device), seen)
        weights: torch.Tensor = self._network.text.lm_head.weight
        return (states * (weights[self._mark] - weights[following.to(device)])).sum(-1)

    def _keep(self, rows: torch.Tensor) -> None:
        if torch.equal(rows, self._rows):
            return
        kept = torch.searchsorted(self._rows, rows)
        self._encoded = self._encoded.of(kept)
        self._seen.batch_select_indices(kept.to(self._encoded.states.device))
        self._rows = rows
