"""CLIP in plain torch against transformers: random weights, outputs and gradients, to the last bit."""

from typing import Any

import pytest
import torch
import transformers

from beholder.errors import WeightsError
from beholder.models.preference.clip import Clip, quick_gelu
from beholder.models.preference.clip_config import clip_config_of, plain_config

TOKENS = torch.tensor([[2, 7, 8, 3, 0], [2, 9, 3, 0, 0]])


def sizes(activation: str = "gelu", dropout: float = 0.0, end: int = 3) -> dict[str, Any]:
    tower = {
        **{"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 3, "num_attention_heads": 4},
        **{"hidden_act": activation, "attention_dropout": dropout},
    }
    words = {
        "vocab_size": 50,
        "max_position_embeddings": 12,
        "bos_token_id": 2,
        "eos_token_id": end,
        "pad_token_id": 0,
    }
    return {
        "text_config": {**tower, **words},
        "vision_config": {**tower, "image_size": 32, "patch_size": 8},
        "projection_dim": 16,
    }


def both(content: dict[str, Any]) -> tuple[Clip, Any]:
    torch.manual_seed(5)
    peer = transformers.CLIPModel(transformers.CLIPConfig(**content))
    torch.manual_seed(5)
    return Clip(clip_config_of(content)), peer


def test_random_weights_are_those_of_transformers() -> None:
    ours, peer = both(sizes())
    state, expected = ours.state_dict(), peer.state_dict()
    assert list(state) == list(expected)
    assert [name for name in state if not torch.equal(state[name], expected[name])] == []


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize(
    ("activation", "dropout", "end"), [("gelu", 0.0, 3), ("quick_gelu", 0.1, 3), ("gelu", 0.0, 2)]
)
def test_outputs_and_gradients_are_those_of_transformers(
    activation: str, dropout: float, end: int, *, training: bool
) -> None:
    ours, peer = both(sizes(activation, dropout, end))
    pixels = torch.randn(4, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    tokens = TOKENS if end == 3 else TOKENS * 2
    torch.manual_seed(1)
    text = peer.train(training).text_projection(peer.text_model(input_ids=tokens).pooler_output)
    image = peer.visual_projection(peer.vision_model(pixel_values=pixels).pooler_output)
    torch.manual_seed(1)
    our_text, our_image = ours.train(training).encode_text(tokens), ours.encode_image(pixels)
    assert torch.equal(our_text, text)
    assert torch.equal(our_image, image)
    (text.pow(2).sum() + image.sum().pow(2)).backward()
    (our_text.pow(2).sum() + our_image.sum().pow(2)).backward()  # type: ignore[no-untyped-call]
    expected = {name: parameter.grad for name, parameter in peer.named_parameters() if parameter.grad is not None}
    gradients = {name: parameter.grad for name, parameter in ours.named_parameters() if parameter.grad is not None}
    assert gradients.keys() == expected.keys()
    assert [name for name in gradients if not torch.equal(gradients[name], expected[name])] == []


def test_sizes_that_are_left_out_are_those_of_transformers() -> None:
    ours, peer = plain_config(clip_config_of({})), transformers.CLIPConfig()
    for tower in ("text_config", "vision_config"):
        table = ours[tower]
        assert isinstance(table, dict)
        assert table == {key: getattr(getattr(peer, tower), key) for key in table}
    assert ours["projection_dim"] == peer.projection_dim


def test_tables_of_older_files_count() -> None:
    content = {"text_config": {"hidden_size": 64}, "text_config_dict": {"num_hidden_layers": 3}}
    ours, peer = clip_config_of(content), transformers.CLIPConfig.from_dict(content)
    assert ours.text_config.num_hidden_layers == 3
    assert ours.text_config.hidden_size == peer.text_config.hidden_size


def test_quick_gelu_by_hand() -> None:
    # 1 · 1/(1 + e^−1.702) = 1/1.182318 = .845796
    assert quick_gelu(torch.tensor(1.0)).item() == pytest.approx(0.845796, abs=1e-6)


def test_an_unknown_activation() -> None:
    with pytest.raises(WeightsError, match="activation 'swish' is not known; known: gelu, quick_gelu"):
        Clip(clip_config_of(sizes("swish")))
