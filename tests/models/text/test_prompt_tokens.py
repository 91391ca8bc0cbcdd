"""Tokens: as the tokenizers of transformers and of CLIP's authors give them, whatever the prompt."""

import json
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
import transformers

from beholder.errors import WeightsError
from beholder.models.text import vocabulary
from beholder.models.text.prompt_tokens import (
    _clip_tokenizer,
    bert_tokens,
    clean_prompt,
    clip_tokens,
    folder_tokens,
    lowercase_prompt,
    split_tokens,
    word_tokens,
)

PROMPTS = [
    "a photo of a cat",
    "It’s “curly” &amp;amp; they'll see 1984's naïve café…",
    "日本語 😀 emoji, ÅNGSTRÖM",
    "  spaces\tand\nlines  ",
    "",
    "!!! ... 3.14 x_y a-b (c) #d @e",
    "long " * 200,
]


def authors() -> Any:  # noqa: ANN401 - a module without types
    """CLIP's own tokenizer, loaded without its package, which wants torchvision."""
    package = find_spec("clip")
    if package is None or package.origin is None:
        pytest.skip("openai-clip is not installed")
    spec = spec_from_file_location("simple_tokenizer", Path(package.origin).parent / "simple_tokenizer.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.SimpleTokenizer()


def test_by_hand() -> None:
    # from CLIP's vocabulary: begin, a, photo, of, a, cat, end
    assert clip_tokens(None, 77)(PROMPTS[:1]).tolist() == [[49406, 320, 1125, 539, 320, 2368, 49407]]
    assert bert_tokens(None, 35)(PROMPTS[:1]).tolist() == [[101, 1037, 6302, 1997, 1037, 4937, 102]]


def test_clips_are_those_of_its_authors() -> None:
    oracle, tokens = authors(), clip_tokens(None, 77)
    for prompt in PROMPTS:
        expected = [49406, *oracle.encode(prompt), 49407]
        cut = expected if len(expected) <= 77 else [*expected[:76], 49407]
        assert tokens([prompt])[0].tolist() == cut


def test_not_mended_they_are_those_of_transformers(tmp_path: Path) -> None:
    tokenizer_model = json.loads(
        _clip_tokenizer(vocabulary.find_vocabulary(vocabulary.CLIP_MERGES, None)).to_str()
    )["model"]
    (tmp_path / "vocab.json").write_text(json.dumps(tokenizer_model["vocab"]))
    merges = "\n".join(pair if isinstance(pair, str) else " ".join(pair) for pair in tokenizer_model["merges"])
    (tmp_path / "merges.txt").write_text(f"#version: 0.2\n{merges}\n")
    oracle = transformers.CLIPTokenizer.from_pretrained(tmp_path)
    ours, own = clip_tokens(None, 77, mended=False), folder_tokens(tmp_path, 77)
    assert own is not None
    for prompt in PROMPTS:
        expected = oracle(prompt, truncation=True, max_length=77)["input_ids"]
        assert ours([prompt])[0].tolist() == expected == own([prompt])[0].tolist()


def test_berts_are_those_of_transformers() -> None:
    path = vocabulary.find_vocabulary(vocabulary.BERT_WORDS, None)
    oracle = transformers.BertTokenizer.from_pretrained(path.parent)
    tokens = bert_tokens(None, 35)
    for prompt in PROMPTS:
        assert tokens([prompt])[0].tolist() == oracle(prompt, truncation=True, max_length=35)["input_ids"]


def test_shorter_prompts_are_filled_with_zeros() -> None:
    for tokens in (clip_tokens(None, 77), bert_tokens(None, 35), word_tokens(["a"], 9)):
        both = tokens(["a", "a a a"])
        assert both.shape == (2, 5)
        assert both[0, 3:].tolist() == [0, 0]


def test_words() -> None:
    tokens = word_tokens(["a", "cat", "red"], 5)
    assert tokens(["A red, cat"]).tolist() == [[2, 4, 6, 1, 3]]  # cut after three; the comma is not known
    assert split_tokens("A red, cat") == ["a", "red", ",", "cat"]


def test_what_mending_does() -> None:
    assert clean_prompt("It’s  &amp;amp;\n“OK”") == 'it\'s & "ok"'
    assert lowercase_prompt("It’s  &amp;\n“OK”") == "it’s &amp; “ok”"


def test_a_damaged_tokenizer_is_named(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(WeightsError, match="its tokenizer cannot be read"):
        folder_tokens(tmp_path, 77)


def test_no_vocabulary_anywhere(tmp_path: Path) -> None:
    lost = vocabulary.Vocabulary("words", "words.txt", "0", (("no_such_package", "x"),), "pip install it")
    with pytest.raises(WeightsError, match=r"words were not found: put words\.txt into .*, or pip install it"):
        vocabulary.find_vocabulary(lost, tmp_path)
