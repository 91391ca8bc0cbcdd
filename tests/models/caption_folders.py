"""Small random networks of images and captions in folders, as transformers saves them, with a tokenizer."""

import json
from pathlib import Path

import tokenizers
import torch
import transformers
from tokenizers import models, pre_tokenizers, processors

TOWER = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
IMAGE = {"image_size": 32, "patch_size": 8, **TOWER}
WORDS = [
    "[PAD]",
    "[END]",
    "[BEGIN]",
    "[UNK]",
    *["a", "red", "green", "cube", "dog", "in", "the", "snow", "on", "sofa"],
]
"""The vocabulary; a word's id is its place."""
LONGEST = 8
TEXT = {
    "vocab_size": len(WORDS),
    "max_position_embeddings": LONGEST,
    "pad_token_id": 0,
    "bos_token_id": 2,
    "eos_token_id": 1,
    **TOWER,
}


def clip() -> transformers.PreTrainedModel:
    config = transformers.CLIPConfig(text_config=TEXT, vision_config=IMAGE, projection_dim=12)
    return transformers.CLIPModel(config)


def siglip() -> transformers.PreTrainedModel:
    return transformers.SiglipModel(transformers.SiglipConfig(text_config=TEXT, vision_config=IMAGE))


def blip() -> transformers.PreTrainedModel:
    text = {**TEXT, "encoder_hidden_size": 16}
    config = transformers.BlipConfig(text_config=text, vision_config=IMAGE, image_text_hidden_size=12)
    return transformers.BlipForImageTextRetrieval(config)


NETWORKS = {"clip": clip, "siglip": siglip, "blip": blip}


def write_caption_folder(folder: Path, kind: str, *, seed: int = 1) -> Path:
    """A network of that kind, away from the zeros and ones that some layers begin with, and its tokenizer."""
    torch.manual_seed(seed)
    model = NETWORKS[kind]()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.2)
    model.save_pretrained(folder)
    tokenizer = tokenizers.Tokenizer(models.WordLevel({word: place for place, word in enumerate(WORDS)}, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    ends = [(WORDS[place], place) for place in (2, 1)]
    tokenizer.post_processor = processors.TemplateProcessing(single="[BEGIN] $A [END]", special_tokens=ends)
    tokenizer.save(str(folder / "tokenizer.json"))
    padding = "[END]" if kind == "siglip" else "[PAD]"
    (folder / "tokenizer_config.json").write_text(json.dumps({"pad_token": padding}))
    return folder


def token_ids(text: str) -> list[int]:
    """The ids of a text of known words, by hand."""
    return [2, *(WORDS.index(word) for word in text.split()), 1]
