"""The decoder on a batch, with cached cross-attention keys and values of the encoder's states."""

import torch
import transformers

from beholder.models.rich_feedback.network import Encoded, RichFeedbackNetwork


class CachedDecoder:
    """Runs the decoder repeatedly on fewer and fewer rows of a batch."""

    def __init__(self, network: RichFeedbackNetwork, encoded: Encoded, mark: int) -> None:
        self._network = network
        self._encoded = encoded
        self._mark = mark
        self._rows = torch.arange(len(encoded.states))
        self._cross_attention = transformers.DynamicCache()  # keys and values of all layers

    def mark_margins(
        self, decoder_ids: torch.Tensor, successors: torch.Tensor, rows: torch.Tensor
    ) -> torch.Tensor:
        """The logit of the mark minus that of the token that would follow otherwise, (n, length).

        ``decoder_ids`` are the tokens of n rows so far, ``successors`` those that would follow each position, both
        (n, length); ``rows`` are their indices in the batch, in order and among those of the previous call. Only
        these two logits of the vocabulary are computed.
        """
        self._select_rows(rows)
        device = self._encoded.states.device
        cache = transformers.EncoderDecoderCache(transformers.DynamicCache(), self._cross_attention)
        states = self._network.decode(self._encoded, decoder_ids.to(device), cache)
        weights: torch.Tensor = self._network.text.lm_head.weight
        return (states * (weights[self._mark] - weights[successors.to(device)])).sum(-1)

    def _select_rows(self, rows: torch.Tensor) -> None:
        if torch.equal(rows, self._rows):
            return
        positions = torch.searchsorted(self._rows, rows)
        self._encoded = self._encoded.select(positions)
        self._cross_attention.batch_select_indices(positions.to(self._encoded.states.device))
        self._rows = rows
