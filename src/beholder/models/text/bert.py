"""BERT's encoder in plain torch, under the names of its published tensors.

Importing ``transformers`` takes seconds, as long as a thousand sentences; the states are the same.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional

from beholder.errors import WeightsError

SUPPORTED = {"hidden_act": "gelu", "position_embedding_type": "absolute"}
"""Settings whose other values would need other code."""


@dataclass(frozen=True, slots=True)
class BertSizes:
    """Numbers of a ``config.json``, under its names."""

    hidden_size: int
    intermediate_size: int
    num_attention_heads: int
    num_hidden_layers: int
    max_position_embeddings: int
    vocab_size: int
    type_vocab_size: int
    layer_norm_eps: float


def read_sizes(path: Path) -> BertSizes:
    """Return the sizes that a ``config.json`` gives."""
    config = json.loads(path.read_text())
    faults = [
        f"{name} is {config[name]!r}"
        for name, supported in SUPPORTED.items()
        if config.get(name, supported) != supported
    ]
    faults += [f"{name} is missing" for name in BertSizes.__dataclass_fields__ if name not in config]
    if faults:
        raise WeightsError(f"{path}: not a BERT that can be read: {'; '.join(faults)}")
    return BertSizes(**{name: config[name] for name in BertSizes.__dataclass_fields__})


class Bert(nn.Module):
    """From token ids (n, tokens) and a mask that is 1 where there is a token to states (n, tokens, width)."""

    def __init__(self, sizes: BertSizes) -> None:
        super().__init__()
        self.embeddings = Embeddings(sizes)
        self.encoder = nn.ModuleDict(
            {"layer": nn.ModuleList(Layer(sizes) for _ in range(sizes.num_hidden_layers))}
        )

    def forward(self, token_ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """The states of the last layer."""
        states: torch.Tensor = self.embeddings(token_ids)
        attended = mask[:, None, None, :].bool()  # (n, 1, 1, tokens)
        for layer in self.encoder["layer"]:  # type: ignore[attr-defined]
            states = layer(states, attended)
        return states


class Embeddings(nn.Module):
    """Words, positions and the first kind of segment."""

    def __init__(self, sizes: BertSizes) -> None:
        super().__init__()
        self.word_embeddings = nn.Embedding(sizes.vocab_size, sizes.hidden_size)
        self.position_embeddings = nn.Embedding(sizes.max_position_embeddings, sizes.hidden_size)
        self.token_type_embeddings = nn.Embedding(sizes.type_vocab_size, sizes.hidden_size)
        self.LayerNorm = nn.LayerNorm(sizes.hidden_size, sizes.layer_norm_eps)

    def forward(self, token_ids: torch.Tensor) -> torch.Tensor:
        """The first states."""
        positions = self.position_embeddings.weight[: token_ids.shape[1]]
        both = self.word_embeddings(token_ids) + self.token_type_embeddings.weight[0] + positions
        normed: torch.Tensor = self.LayerNorm(both)
        return normed


class Layer(nn.Module):
    """Attention and a feed-forward network, each followed by a norm."""

    def __init__(self, sizes: BertSizes) -> None:
        super().__init__()
        width = sizes.hidden_size
        self.heads = sizes.num_attention_heads
        projections = {name: nn.Linear(width, width) for name in ("query", "key", "value")}
        self.attention = nn.ModuleDict({"self": nn.ModuleDict(projections), "output": _output(sizes, width)})
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(width, sizes.intermediate_size)})
        self.output = _output(sizes, sizes.intermediate_size)

    def forward(self, states: torch.Tensor, attended: torch.Tensor) -> torch.Tensor:
        """The next states (n, tokens, width)."""
        count, length, width = states.shape
        query, key, value = (
            projection(states).view(count, length, self.heads, width // self.heads).transpose(1, 2)
            for projection in self.attention["self"].values()  # type: ignore[operator]
        )
        mixed = functional.scaled_dot_product_attention(query, key, value, attended)
        states = _add(self.attention["output"], mixed.transpose(1, 2).flatten(2), states)
        return _add(self.output, functional.gelu(self.intermediate["dense"](states)), states)


def _output(sizes: BertSizes, inner: int) -> nn.ModuleDict:
    norm = nn.LayerNorm(sizes.hidden_size, sizes.layer_norm_eps)
    return nn.ModuleDict({"dense": nn.Linear(inner, sizes.hidden_size), "LayerNorm": norm})


def _add(output: nn.Module, inner: torch.Tensor, states: torch.Tensor) -> torch.Tensor:
    if not isinstance(output, nn.ModuleDict):
        raise TypeError(f"a projection with its norm is expected, not {output!r}")
    added: torch.Tensor = output["LayerNorm"](output["dense"](inner) + states)
    return added
