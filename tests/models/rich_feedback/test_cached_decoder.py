import numpy as np
import pytest
import torch

from beholder.models.rich_feedback.cached_decoder import CachedDecoder
from beholder.models.rich_feedback.keywords import misaligned_probabilities
from beholder.models.rich_feedback.model import RichFeedbackModel
from beholder.models.rich_feedback.settings import Heads, ImageTower, RichFeedbackSettings, TextModel

WORDS = ("a", "b", "c", "d", "e")
SMALL = RichFeedbackSettings(
    image=ImageTower(side=16, patch=8, width=16, layers=1, heads=2),
    text=TextModel(width=24, head_width=8, heads=2, inner=32, layers=1, decoder_layers=2, dropout=0),
    heads=Heads(heatmap=(8,), score=(4,), dense=()),
    words=WORDS,
)
PROMPTS = ("a b c d e a b", "e", "", "d d d d", "c a")


@pytest.fixture
def model() -> RichFeedbackModel:
    torch.manual_seed(4)
    network = RichFeedbackModel(SMALL)
    with torch.no_grad():  # far apart, so that choices differ and marks matter for what follows
        network.module.text.shared.weight.mul_(3)
    network.module.eval()
    return network


def test_the_same_as_whole_passes_with_all_logits(model: RichFeedbackModel) -> None:
    network, tokenizer = model.module, model.tokenizer
    with torch.inference_mode():
        encoded_prompts = [tokenizer.encode_prompt(prompt, 64) for prompt in PROMPTS]
        longest = max(len(token_ids) for token_ids, _ in encoded_prompts)
        token_ids = torch.tensor(
            [prompt_ids + [0] * (longest - len(prompt_ids)) for prompt_ids, _ in encoded_prompts]
        )
        mask = torch.tensor(
            [[1] * len(prompt_ids) + [0] * (longest - len(prompt_ids)) for prompt_ids, _ in encoded_prompts]
        )
        pixels = torch.randn(len(PROMPTS), 3, 16, 16, generator=torch.Generator().manual_seed(0))
        encoded = network.encode(network.encode_images(pixels), token_ids, mask)

        def plain(decoder_ids: torch.Tensor, successors: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
            logits = network.next_token_logits(encoded.select(rows), decoder_ids)
            return logits[..., tokenizer.mark[0]] - logits.gather(-1, successors[..., None])[..., 0]

        words = [prompt_words for _, prompt_words in encoded_prompts]
        expected = misaligned_probabilities(words, tokenizer, plain)
        cached = misaligned_probabilities(
            words, tokenizer, CachedDecoder(network, encoded, tokenizer.mark[0]).mark_margins
        )
    for probabilities, other in zip(cached, expected, strict=True):
        np.testing.assert_allclose(probabilities, other, atol=1e-5)
    marks = [int((probabilities > 0.5).sum()) for probabilities in expected]
    assert sum(count > 1 for count in marks) >= 2  # several passes, with fewer and fewer rows
    assert min(marks) < max(marks)


def test_the_states_of_the_encoder_are_read_once(
    model: RichFeedbackModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys: torch.nn.Linear = model.module.text.decoder.block[0].layer[1].EncDecAttention.k
    calls: list[int] = []
    plain = keys.forward

    def counted(states: torch.Tensor) -> torch.Tensor:
        calls.append(len(states))
        return plain(states)

    monkeypatch.setattr(keys, "forward", counted)
    model.feedback(torch.randn(5, 3, 16, 16, generator=torch.Generator().manual_seed(0)), PROMPTS)
    assert calls == [4]  # the empty prompt is never asked about
