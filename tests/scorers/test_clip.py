"""CLIPScore and aesthetic heads, on a small random CLIP: equal to what transformers and torch compute."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from PIL import Image

from beholder.errors import WeightsError
from beholder.scorers.aesthetic import as_linear_map
from beholder.scorers.catalogue import load_scorer
from beholder.scorers.clip_score import clip_score
from beholder.scorers.scorer import ScorerInput

SMALL = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
WORDS = ["<|startoftext|>", "<|endoftext|>", *(f"{letter}</w>" for letter in "abcdefg"), *"abcdefg"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    clip_folder = tmp_path_factory.mktemp("clip")
    torch.manual_seed(0)
    text = {"vocab_size": len(WORDS), "max_position_embeddings": 8, **SMALL}
    ends = {"bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 1}
    vision = {"image_size": 32, "patch_size": 8, **SMALL}
    config = transformers.CLIPConfig(text_config=text | ends, vision_config=vision, projection_dim=12)
    transformers.CLIPModel(config).save_pretrained(clip_folder)
    (clip_folder / "vocab.json").write_text(json.dumps({word: place for place, word in enumerate(WORDS)}))
    (clip_folder / "merges.txt").write_text("#version: 0.2\n")
    special = {"bos_token": WORDS[0], "eos_token": WORDS[1], "pad_token": WORDS[1], "unk_token": WORDS[1]}
    (clip_folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "CLIPTokenizer", **special}))
    return clip_folder


@pytest.fixture(scope="module")
def inputs() -> list[ScorerInput]:
    rng = np.random.default_rng(0)
    images = [Image.fromarray(rng.integers(0, 256, (32, 32, 3), dtype=np.uint8)) for _ in range(3)]
    return [ScorerInput(image, prompt) for image, prompt in zip(images, ("a b", "c d e", "g"), strict=True)]


def test_by_hand() -> None:
    # cosines 0.6, −1 and 1
    images, texts = np.array([[3.0, 4], [1, 0], [0, 2]]), np.array([[1.0, 0], [-1, 0], [0, 5]])
    assert clip_score(images, texts) == pytest.approx([1.5, 0, 2.5])


def test_it_equals_the_whole_network(folder: Path, inputs: list[ScorerInput]) -> None:
    scorer = load_scorer("clip-score", {"clip": str(folder)})
    model = transformers.CLIPModel.from_pretrained(folder)
    processor = transformers.CLIPImageProcessorPil(
        size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}, resample=3
    )
    pixels = processor([scorer_input.image for scorer_input in inputs], return_tensors="pt")["pixel_values"]
    expected = []
    for index, scorer_input in enumerate(inputs):
        ids = [0, *(WORDS.index(f"{word}</w>") for word in (scorer_input.prompt or "").split()), 1]
        with torch.inference_mode():
            out = model(input_ids=torch.tensor([ids]), pixel_values=pixels[index : index + 1])
            cosine = float(out.logits_per_image / model.logit_scale.exp())
        expected.append(2.5 * max(cosine, 0))
    assert scorer.score(inputs) == pytest.approx(expected, abs=1e-5)
    assert scorer.identity.startswith("clip-score@")


def test_a_long_prompt_is_cut(folder: Path, inputs: list[ScorerInput]) -> None:
    scorer = load_scorer("clip-score", {"clip": str(folder)})
    long = [ScorerInput(inputs[0].image, "a b c d e f " * 20)]
    assert np.isfinite(scorer.score(long)).all()


def test_the_chain_of_layers_is_one_map(folder: Path, inputs: list[ScorerInput], tmp_path: Path) -> None:
    torch.manual_seed(1)
    sizes = (12, 7, 5, 1)
    layers = [torch.nn.Linear(width, next_width) for width, next_width in pairwise(sizes)]
    names = ("layers.0", "layers.2", "layers.10")  # ten comes after two
    state = {f"{n}.{key}": getattr(layer, key).detach() for n, layer in zip(names, layers, strict=True)
             for key in ("weight", "bias")}  # fmt: skip
    torch.save(state, tmp_path / "head.pth")
    scorer = load_scorer("aesthetic", {"aesthetic": str(tmp_path / "head.pth"), "clip": str(folder)})

    model = transformers.CLIPModel.from_pretrained(folder)
    processor = transformers.CLIPImageProcessorPil(
        size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}, resample=3
    )
    pixels = processor([width.image for width in inputs], return_tensors="pt")["pixel_values"]
    with torch.inference_mode():
        vision = model.vision_model(pixel_values=pixels).pooler_output
        vectors = torch.nn.functional.normalize(model.visual_projection(vision), dim=1)
        expected = torch.nn.Sequential(*layers)(vectors)[:, 0].numpy()
    assert scorer.score(inputs) == pytest.approx(expected, abs=1e-5)


def test_a_linear_probe() -> None:
    weight, bias = as_linear_map({"weight": torch.tensor([[1.0, 2.0]]), "bias": torch.tensor([3.0])}, "head")
    assert (list(weight), bias) == ([1, 2], 3)


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"weight": torch.zeros(1, 2)}, "pairs of weight and bias"),
        ({"weight": torch.zeros(2, 2), "bias": torch.zeros(2)}, "gives 2 numbers"),
        (
            {
                "layers.0.weight": torch.zeros(3, 2),
                "layers.0.bias": torch.zeros(3),
                "layers.1.weight": torch.zeros(1, 4),
                "layers.1.bias": torch.zeros(1),
            },
            "takes 4 numbers, but 3 come in",
        ),
    ],
)
def test_other_files_are_refused(state: dict[str, torch.Tensor], message: str) -> None:
    with pytest.raises(WeightsError, match=message):
        as_linear_map(state, "head.pth")
