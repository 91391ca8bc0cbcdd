"""CLIP's two towers in plain torch: the tensors of ``transformers.CLIPModel``, their names and its arithmetic.

Importing transformers takes several seconds, scoring an image takes a fraction of one. Tests compare outputs,
gradients and random weights with transformers, to the last bit. Shapes: n images or prompts, t tokens or patches,
d dims.
"""

import math
from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional

from beholder.errors import WeightsError
from beholder.models.preference.clip_config import ClipConfig, ImageTower, TextTower, Tower

INITIAL_SCALE = 2.6592
"""Logarithm of the temperature that CLIP's training begins with."""

SPREAD = 0.02
"""Standard deviation of random embeddings."""

OLD_END = 2
"""In configurations from before 2023 the end token is called 2; the end of a prompt is then its largest token."""


def quick_gelu(x: torch.Tensor) -> torch.Tensor:
    """OpenAI's approximation of GELU: x σ(1.702 x)."""
    return x * torch.sigmoid(1.702 * x)


ACTIVATIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "gelu": functional.gelu,
    "quick_gelu": quick_gelu,
}
"""Name in a configuration -> function."""


class Clip(nn.Module):
    """Both towers with their projections, and the temperature; random weights as transformers draws them."""

    def __init__(self, config: ClipConfig) -> None:
        super().__init__()
        self.config = config
        self.text_model = TextModel(config.text_config)
        self.vision_model = VisionModel(config.vision_config)
        text, image = config.text_config.hidden_size, config.vision_config.hidden_size
        self.visual_projection = nn.Linear(image, config.projection_dim, bias=False)
        self.text_projection = nn.Linear(text, config.projection_dim, bias=False)
        self.logit_scale = nn.Parameter(torch.tensor(INITIAL_SCALE))
        _draw((self.visual_projection, 1.0), (self.text_projection, 1.0))
        _draw((self.text_projection, text**-0.5), (self.visual_projection, image**-0.5))

    def encode_text(self, tokens: torch.Tensor) -> torch.Tensor:
        """The vectors (n, d) of prompts as token ids (n, t), not normalised."""
        vectors: torch.Tensor = self.text_projection(self.text_model(tokens))
        return vectors

    def encode_image(self, pixels: torch.Tensor) -> torch.Tensor:
        """The vectors (n, d) of prepared images (n, 3, side, side), not normalised."""
        vectors: torch.Tensor = self.visual_projection(self.vision_model(pixels))
        return vectors


class TextModel(nn.Module):
    """From token ids (n, t) to the state of the last token (n, d); each token sees those before it."""

    def __init__(self, tower: TextTower) -> None:
        super().__init__()
        self.end = tower.eos_token_id
        self.embeddings = TextEmbeddings(tower)
        self.encoder = Encoder(tower)
        self.final_layer_norm = nn.LayerNorm(tower.hidden_size, eps=tower.layer_norm_eps)
        self.embeddings.draw()
        self.encoder.draw()

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """The tower."""
        states = self.final_layer_norm(self.encoder(self.embeddings(tokens), causal=True))
        ends = tokens.int() if self.end == OLD_END else (tokens == self.end).int()
        pooled: torch.Tensor = states[torch.arange(len(states), device=states.device), ends.argmax(dim=-1)]
        return pooled


class VisionModel(nn.Module):
    """From images (n, 3, side, side) to the state of the class token (n, d)."""

    def __init__(self, tower: ImageTower) -> None:
        super().__init__()
        self.embeddings = VisionEmbeddings(tower)
        self.pre_layrnorm = nn.LayerNorm(tower.hidden_size, eps=tower.layer_norm_eps)  # the name in every file
        self.encoder = Encoder(tower)
        self.post_layernorm = nn.LayerNorm(tower.hidden_size, eps=tower.layer_norm_eps)
        self.embeddings.draw()
        self.encoder.draw()

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        """The tower."""
        states = self.encoder(self.pre_layrnorm(self.embeddings(pixels)), causal=False)
        pooled: torch.Tensor = self.post_layernorm(states[:, 0, :])
        return pooled


class TextEmbeddings(nn.Module):
    """The vectors of tokens and of their positions, added."""

    def __init__(self, tower: TextTower) -> None:
        super().__init__()
        self.token_embedding = nn.Embedding(tower.vocab_size, tower.hidden_size)
        self.position_embedding = nn.Embedding(tower.max_position_embeddings, tower.hidden_size)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """The sum."""
        embedded: torch.Tensor = self.token_embedding(tokens) + self.position_embedding.weight[: tokens.shape[1]]
        return embedded

    def draw(self) -> None:
        """Draw the weights, twice as transformers does: a seed then gives the same network."""
        for _ in range(2):
            _draw((self.token_embedding, SPREAD), (self.position_embedding, SPREAD))


class VisionEmbeddings(nn.Module):
    """A class token and the patches of an image, with the vectors of their positions added."""

    def __init__(self, tower: ImageTower) -> None:
        super().__init__()
        width, side = tower.hidden_size, tower.patch_size
        self.class_embedding = nn.Parameter(torch.randn(width))
        self.patch_embedding = nn.Conv2d(tower.num_channels, width, side, side, bias=False)
        self.position_embedding = nn.Embedding((tower.image_size // side) ** 2 + 1, width)

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        """The sum."""
        patches = self.patch_embedding(pixels).flatten(2).transpose(1, 2)
        first = self.class_embedding.expand(len(pixels), 1, -1)
        embedded: torch.Tensor = torch.cat([first, patches], dim=1) + self.position_embedding.weight
        return embedded

    def draw(self) -> None:
        """Draw the weights in the order of transformers."""
        _draw((self.patch_embedding, SPREAD), (self.position_embedding, SPREAD))
        if not self.class_embedding.is_meta:
            nn.init.normal_(self.class_embedding, std=len(self.class_embedding) ** -0.5)
        _draw((self.patch_embedding, SPREAD), (self.position_embedding, SPREAD))


class Encoder(nn.Module):
    """The blocks of a tower."""

    def __init__(self, tower: Tower) -> None:
        super().__init__()
        self.layers = nn.ModuleList([Block(tower) for _ in range(tower.num_hidden_layers)])

    def forward(self, states: torch.Tensor, *, causal: bool) -> torch.Tensor:
        """All blocks, one after the other."""
        for block in self.layers:
            states = block(states, causal=causal)
        return states

    def draw(self) -> None:
        """Draw the weights of all blocks."""
        for block in self.layers:
            if isinstance(block, Block):
                block.draw(len(self.layers))


class Block(nn.Module):
    """Attention and a feed-forward network, each after a norm and added to its input."""

    def __init__(self, tower: Tower) -> None:
        super().__init__()
        width = tower.hidden_size
        self.self_attn = Attention(width, tower.num_attention_heads, tower.attention_dropout)
        self.layer_norm1 = nn.LayerNorm(width, eps=tower.layer_norm_eps)
        self.mlp = FeedForward(width, tower.intermediate_size, tower.hidden_act)
        self.layer_norm2 = nn.LayerNorm(width, eps=tower.layer_norm_eps)

    def forward(self, states: torch.Tensor, *, causal: bool) -> torch.Tensor:
        """The block."""
        states = states + self.self_attn(self.layer_norm1(states), causal=causal)
        out: torch.Tensor = states + self.mlp(self.layer_norm2(states))
        return out

    def draw(self, depth: int) -> None:
        """Draw the weights; those that add to the residual stream shrink with the depth."""
        attention, mlp, width = self.self_attn, self.mlp, self.self_attn.width
        into, out = width**-0.5 * (2 * depth) ** -0.5, width**-0.5
        keys, values, queries, output = attention.k_proj, attention.v_proj, attention.q_proj, attention.out_proj
        _draw((keys, SPREAD), (values, SPREAD), (queries, SPREAD), (output, SPREAD))
        _draw((queries, into), (keys, into), (values, into), (output, out))
        _draw((mlp.fc1, SPREAD), (mlp.fc2, SPREAD))
        _draw((mlp.fc1, (2 * width) ** -0.5), (mlp.fc2, into))


class Attention(nn.Module):
    """Self-attention with several heads."""

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.width, self.head, self.dropout = width, width // heads, dropout
        self.k_proj = nn.Linear(width, width)
        self.v_proj = nn.Linear(width, width)
        self.q_proj = nn.Linear(width, width)
        self.out_proj = nn.Linear(width, width)

    def forward(self, states: torch.Tensor, *, causal: bool) -> torch.Tensor:
        """From (n, t, d) to (n, t, d)."""
        count, length, _ = states.shape
        queries, keys, values = (
            project(states).view(count, length, -1, self.head).transpose(1, 2)
            for project in (self.q_proj, self.k_proj, self.v_proj)
        )
        attended = functional.scaled_dot_product_attention(
            queries,
            keys,
            values,
            dropout_p=self.dropout if self.training else 0.0,
            is_causal=causal and length > 1,
            scale=1 / math.sqrt(self.head),
        )
        out: torch.Tensor = self.out_proj(attended.transpose(1, 2).reshape(count, length, -1))
        return out


class FeedForward(nn.Module):
    """Two layers with an activation between them."""

    def __init__(self, width: int, inner: int, activation: str) -> None:
        super().__init__()
        if activation not in ACTIVATIONS:
            raise WeightsError(f"activation '{activation}' is not known; known: {', '.join(ACTIVATIONS)}")
        self.activation = ACTIVATIONS[activation]
        self.fc1 = nn.Linear(width, inner)
        self.fc2 = nn.Linear(inner, width)

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """From (n, t, d) to (n, t, d)."""
        out: torch.Tensor = self.fc2(self.activation(self.fc1(states)))
        return out


def _draw(*layers: tuple[nn.Linear | nn.Conv2d | nn.Embedding, float]) -> None:
    """Normal weights of the given standard deviation, and biases of 0; nothing is drawn on the device ``meta``."""
    for layer, std in layers:
        if layer.weight.is_meta:
            continue
        nn.init.normal_(layer.weight, std=std)
        if not isinstance(layer, nn.Embedding) and layer.bias is not None:
            nn.init.zeros_(layer.bias)
