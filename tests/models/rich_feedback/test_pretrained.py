"""Pretrained weights: small random networks saved by transformers, put into the model."""

import json
import os

os.environ["HF_HUB_OFFLINE"] = "1"

from collections.abc import Callable
from pathlib import Path

import pytest
import tokenizers
import torch
import transformers
from tokenizers import models, pre_tokenizers

from beholder.errors import WeightsError
from beholder.models.rich_feedback.model import RichFeedbackModel
from beholder.models.rich_feedback.pretrained import load_pretrained
from beholder.models.rich_feedback.settings import Heads, ImageTower, RichFeedbackSettings, TextModel

LETTERS = "abcdefghijklmnopqrstuvwxyz_0"
SPARE = 5
"""Numbers of the saved T5 that its tokenizer has no piece for."""


@pytest.fixture(scope="module")
def vit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A classifier, as most are published: its tower stands below a prefix, beside a head that is not wanted."""
    folder = tmp_path_factory.mktemp("vit")
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    config = transformers.ViTConfig(image_size=32, patch_size=8, **sizes)
    transformers.ViTForImageClassification(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def t5(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("t5")
    vocabulary = ["<pad>", "</s>", "<unk>", "▁", *LETTERS, "▁cat"]
    tokenizer = tokenizers.Tokenizer(models.Unigram([(token, -1.0) for token in vocabulary], 2, False))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.save(str(folder / "tokenizer.json"))
    torch.manual_seed(1)
    sizes = {"d_model": 24, "d_kv": 8, "d_ff": 32, "num_layers": 1, "num_decoder_layers": 2, "num_heads": 3}
    config = transformers.T5Config(vocab_size=len(vocabulary) + SPARE, **sizes)
    transformers.T5ForConditionalGeneration(config).save_pretrained(folder)
    return folder


def settings(
    vit: Path | str | None = None, t5: Path | str | None = None, **changes: object
) -> RichFeedbackSettings:
    tower: dict[str, object] = {"weights": vit and str(vit), "side": 32, "patch": 8, "width": 16, "layers": 2}
    text: dict[str, object] = {"weights": t5 and str(t5), "width": 24, "head_width": 8, "heads": 3, "inner": 32}
    tower |= {"heads": 2} | {key: changes[key] for key in changes.keys() & ImageTower.model_fields.keys()}
    text |= {"layers": 1, "decoder_layers": 2}
    text |= {key.removeprefix("text_"): value for key, value in changes.items() if key.startswith("text_")}
    return RichFeedbackSettings(
        image=ImageTower.model_validate(tower),
        text=TextModel.model_validate(text),
        heads=Heads(heatmap=(8,), score=(4,), dense=()),
        words=("a", "cat"),
    )


def test_the_model_looks_and_writes_as_the_saved_networks_do(vit: Path, t5: Path) -> None:
    model = RichFeedbackModel(settings(vit, t5))
    load_pretrained(model)
    model.module.eval()
    tower = transformers.ViTModel.from_pretrained(vit, add_pooling_layer=False).eval()
    pixels = torch.randn(2, 3, 32, 32)
    text = transformers.T5ForConditionalGeneration.from_pretrained(t5).eval()
    token_ids = torch.tensor([[4, 5, 1]])
    with torch.no_grad():
        expected = tower(pixel_values=pixels).last_hidden_state[:, 1:]
        torch.testing.assert_close(model.module.tower(pixel_values=pixels).last_hidden_state[:, 1:], expected)
        logits = text(input_ids=token_ids, decoder_input_ids=token_ids).logits
        own = model.module.text(input_ids=token_ids, decoder_input_ids=token_ids).logits
    torch.testing.assert_close(own, logits[..., :-SPARE])


def test_positions_are_stretched_to_another_side(vit: Path) -> None:
    model = RichFeedbackModel(settings(vit, side=48))
    load_pretrained(model)
    tower = transformers.ViTModel.from_pretrained(vit, add_pooling_layer=False).eval()
    pixels = torch.randn(1, 3, 48, 48)
    with torch.no_grad():
        expected = tower(pixel_values=pixels, interpolate_pos_encoding=True).last_hidden_state
        torch.testing.assert_close(model.module.tower.eval()(pixel_values=pixels).last_hidden_state, expected)


def test_pieces_of_the_tokenizer(t5: Path) -> None:
    model = RichFeedbackModel(settings(None, t5))
    number = {letter: place for place, letter in enumerate(LETTERS, 4)}
    assert model.tokenizer.mark == (number["_"], number["0"])
    assert model.tokenizer.encode_word("cat") == (4 + len(LETTERS),)
    assert model.tokenizer.encode_word("ab") == (3, number["a"], number["b"])
    assert model.tokenizer.encode_word("ネコ")  # unknown, and something all the same
    assert model.tokenizer.vocabulary_size == 5 + len(LETTERS)
    assert [
        len(probabilities) for probabilities in model.feedback(torch.zeros(1, 3, 32, 32), ["a cat, ab"]).misaligned
    ] == [3]


def test_a_checkpoint_needs_the_folder_no_more(t5: Path, tmp_path: Path) -> None:
    config = RichFeedbackModel(settings(None, t5)).config
    gone = json.loads(json.dumps(config).replace(str(t5), str(tmp_path / "gone")))
    again = RichFeedbackModel(RichFeedbackSettings.model_validate(gone))
    assert again.tokenizer.encode_word("cat") == (4 + len(LETTERS),)


def test_without_weights_nothing_changes() -> None:
    model = RichFeedbackModel(settings())
    before = {name: value.clone() for name, value in model.module.state_dict().items()}
    load_pretrained(model)
    assert all(torch.equal(before[name], value) for name, value in model.module.state_dict().items())


def test_all_that_differs_is_told_at_once(vit: Path, t5: Path) -> None:
    other = settings(vit, t5, width=20, layers=3, text_inner=48)
    with pytest.raises(WeightsError) as raised:
        load_pretrained(RichFeedbackModel(other))
    message = str(raised.value)
    for line in (
        f"{vit}: not the network of the settings",
        "hidden_size is 16; set image.width to 16",
        "num_hidden_layers is 2; set image.layers to 2",
        "intermediate_size is 64; 80 is expected",
        f"{t5}: not the network of the settings",
        "d_ff is 32; set text.inner to 32",
    ):
        assert line in message


Change = Callable[[dict[str, object]], object]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda config: config.update(model_type="swin"), "holds a network of type swin; expected: vit"),
        (lambda config: config.update(hidden_act="relu"), "hidden_act is relu; gelu is expected"),
    ],
)
def test_other_towers_are_refused(vit: Path, tmp_path: Path, change: Change, message: str) -> None:
    config = json.loads((vit / "config.json").read_text())
    change(config)
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(WeightsError, match=message):
        load_pretrained(RichFeedbackModel(settings(tmp_path)))


def test_what_is_missing_is_told(vit: Path, tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match=r"nowhere: no such file or folder"):
        load_pretrained(RichFeedbackModel(settings(tmp_path / "nowhere")))
    with pytest.raises(WeightsError, match=r"could not be fetched from the hub .*tokenizer\.json"):
        RichFeedbackModel(settings(None, "someone/t5-tiny"))
    with pytest.raises(WeightsError, match=r"no tokenizer\.json there"):
        RichFeedbackModel(settings(None, vit))
    with pytest.raises(WeightsError, match=r"holds no config\.json; a vit saved by transformers is expected"):
        load_pretrained(RichFeedbackModel(settings(tmp_path)))
    with pytest.raises(WeightsError, match=r"image\.stem is convolutions, expected: patch"):
        load_pretrained(RichFeedbackModel(settings(vit, stem="convolutions")))
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(WeightsError, match="is no tokenizer"):
        RichFeedbackModel(settings(None, tmp_path))


def test_tensors_that_are_missing_are_not_filled_up(vit: Path, tmp_path: Path) -> None:
    config = json.loads((vit / "config.json").read_text()) | {"num_hidden_layers": 3}
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "model.safetensors").write_bytes((vit / "model.safetensors").read_bytes())
    with pytest.raises(WeightsError, match=r"these weights are not those of the network(\n.*)*lacks .*2"):
        load_pretrained(RichFeedbackModel(settings(tmp_path, layers=3)))
