"""Token ids of prompts for text encoders: CLIP's byte pairs, BERT's word pieces, or plain words.

Each tokenizer gives a tensor (prompts, longest) with the special tokens, truncated to the context of the network
and padded with 0.
"""

import gzip
import html
import json
import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

import ftfy
import tokenizers
import torch
from tokenizers import models, normalizers, pre_tokenizers, processors

from beholder.errors import WeightsError
from beholder.models.text.vocabulary import BERT_WORDS, CLIP_MERGES, find_vocabulary

Tokens = Callable[[Sequence[str]], torch.Tensor]
"""From prompts to (prompts, longest) int64."""

BEGIN, END = "<|startoftext|>", "<|endoftext|>"
CLIP_SIZE, CLIP_MERGED = 49408, 48894
CLIP_PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d|\p{L}+|\p{N}|[^\s\p{L}\p{N}]+"
"""Units across which nothing is merged: contractions, words, single digits, runs of other characters."""

WORD = re.compile(r"\w+|[^\w\s]")
SPECIAL = ("<pad>", "<unknown>", "<begin>", "<end>")


def clip_tokens(folder: Path | None, longest: int, *, mended: bool = True) -> Tokens:
    """CLIP's byte pairs; the prompt ``mended`` as by its authors, or only lowercased, as by transformers."""
    return _batch_tokenizer(
        _clip_tokenizer(find_vocabulary(CLIP_MERGES, folder)),
        longest,
        clean_prompt if mended else lowercase_prompt,
    )


def bert_tokens(folder: Path | None, longest: int) -> Tokens:
    """As ``bert-base-uncased``: lowercase without accents."""
    return _batch_tokenizer(_bert_tokenizer(find_vocabulary(BERT_WORDS, folder)), longest, str)


def folder_tokens(folder: Path, longest: int) -> Tokens | None:
    """By a folder's own ``tokenizer.json`` or ``vocab.json`` and ``merges.txt``; ``None`` where it has none."""
    try:
        if (folder / "tokenizer.json").is_file():
            tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
            tokenizer.no_padding()
            tokenizer.no_truncation()
            return _batch_tokenizer(tokenizer, longest, str)
        if (folder / "vocab.json").is_file() and (folder / "merges.txt").is_file():
            vocabulary = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
            lines = (folder / "merges.txt").read_text(encoding="utf-8").splitlines()
            merges = [_pair(line) for line in lines if line and not line.startswith("#version")]
            return _batch_tokenizer(_byte_pairs(vocabulary, merges), longest, lowercase_prompt)
    except Exception as error:
        raise WeightsError(f"{folder}: its tokenizer cannot be read ({_first_line(error)})") from error
    return None


def word_tokens(words: Sequence[str], longest: int) -> Tokens:
    """Each word of a list is a token, all others are the unknown token; ids 0 to 3 are :data:`SPECIAL`."""
    vocabulary = {word: number for number, word in enumerate(words, len(SPECIAL))}
    pad, unknown, begin, end = range(len(SPECIAL))

    def tokens(prompts: Sequence[str]) -> torch.Tensor:
        rows = [[vocabulary.get(word, unknown) for word in split_tokens(prompt)] for prompt in prompts]
        return _pad_rows([[begin, *row[: longest - 2], end] for row in rows], pad)

    return tokens


def split_tokens(prompt: str) -> list[str]:
    """The words and punctuation marks of a prompt, in lower case."""
    return WORD.findall(prompt.lower())


def clean_prompt(prompt: str) -> str:
    """Mended as CLIP's authors did: wrong encodings and curly quotes, entities (twice), spaces, capitals."""
    mended = html.unescape(html.unescape(ftfy.fix_text(prompt)))
    return " ".join(mended.split()).lower()


def lowercase_prompt(prompt: str) -> str:
    """NFC, single spaces, lower case: all the cleaning that the tokenizer of transformers does."""
    return " ".join(unicodedata.normalize("NFC", prompt).split()).lower()


def _batch_tokenizer(tokenizer: tokenizers.Tokenizer, longest: int, clean: Callable[[str], str]) -> Tokens:
    def tokens(prompts: Sequence[str]) -> torch.Tensor:
        encoded = tokenizer.encode_batch([clean(prompt) for prompt in prompts])
        return _pad_rows([_truncate(encoding.ids, longest) for encoding in encoded], 0)

    return tokens


def _truncate(row: list[int], longest: int) -> list[int]:
    """The row cut to ``longest`` tokens; its last token, which marks the end of the prompt, stays."""
    return row if len(row) <= longest else row[: longest - 1] + row[-1:]


def _pad_rows(rows: list[list[int]], pad: int) -> torch.Tensor:
    longest = max(map(len, rows), default=0)
    return torch.tensor([row + [pad] * (longest - len(row)) for row in rows], dtype=torch.int64)


@lru_cache(maxsize=2)
def _clip_tokenizer(path: Path) -> tokenizers.Tokenizer:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        merges = [_pair(line) for line in file.read().split("\n")[1 : CLIP_MERGED + 1]]
    signs = _byte_signs()
    words = [*signs, *(f"{sign}</w>" for sign in signs), *("".join(pair) for pair in merges), BEGIN, END]
    return _byte_pairs({word: place for place, word in enumerate(words)}, merges)


def _pair(line: str) -> tuple[str, str]:
    first, second = line.split()
    return first, second


def _byte_pairs(vocabulary: dict[str, int], merges: list[tuple[str, str]]) -> tokenizers.Tokenizer:
    tokenizer = tokenizers.Tokenizer(models.BPE(vocabulary, merges, end_of_word_suffix="</w>", unk_token=END))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(tokenizers.Regex(CLIP_PATTERN), "removed", invert=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{BEGIN} $A {END}", special_tokens=[(BEGIN, vocabulary[BEGIN]), (END, vocabulary[END])]
    )
    return tokenizer


def _byte_signs() -> list[str]:
    """A printable character for each byte, in CLIP's order: printable bytes first, the others from 256 on."""
    visible = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = 256 - len(visible)
    return [chr(code) for code in visible] + [chr(256 + place) for place in range(others)]


@lru_cache(maxsize=2)
def _bert_tokenizer(path: Path) -> tokenizers.Tokenizer:
    words = path.read_text(encoding="utf-8").splitlines()
    vocabulary = {word: place for place, word in enumerate(words)}
    tokenizer = tokenizers.Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    ends = [(sign, vocabulary[sign]) for sign in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    return tokenizer


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
