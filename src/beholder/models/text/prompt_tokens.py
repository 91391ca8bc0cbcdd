"""From prompts to the numbers that text encoders take: CLIP's byte pairs, BERT's word pieces, or plain words.

Each gives a tensor (prompts, longest) with the special tokens in place, cut to what the network takes, and 0
where a shorter prompt has ended.
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
"""What is never merged across: endings, words, single digits, runs of other signs."""

WORD = re.compile(r"\w+|[^\w\s]")
SPECIAL = ("<pad>", "<unknown>", "<begin>", "<end>")


def clip_tokens(folder: Path | None, longest: int, *, mended: bool = True) -> Tokens:
    """CLIP's byte pairs; the prompt ``mended`` as its authors do it, or only in small letters, as transformers."""
    return _padded(_clip_tokenizer(find_vocabulary(CLIP_MERGES, folder)), longest, cleaned if mended else small)


def bert_tokens(folder: Path | None, longest: int) -> Tokens:
    """As ``bert-base-uncased``: small letters without accents."""
    return _padded(_bert_tokenizer(find_vocabulary(BERT_WORDS, folder)), longest, str)


def folder_tokens(folder: Path, longest: int) -> Tokens | None:
    """As a folder's own ``tokenizer.json`` or ``vocab.json`` and ``merges.txt`` say; nothing where it has none."""
    try:
        if (folder / "tokenizer.json").is_file():
            found = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
            found.no_padding()
            found.no_truncation()
            return _padded(found, longest, str)
        if (folder / "vocab.json").is_file() and (folder / "merges.txt").is_file():
            vocabulary = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
            lines = (folder / "merges.txt").read_text(encoding="utf-8").splitlines()
            merges = [_pair(line) for line in lines if line and not line.startswith("#version")]
            return _padded(_byte_pairs(vocabulary, merges), longest, small)
    except Exception as error:
        raise WeightsError(f"{folder}: its tokenizer cannot be read ({_first_line(error)})") from error
    return None


def word_tokens(words: Sequence[str], longest: int) -> Tokens:
    """Each word of a list is a token; others are one unknown token. The numbers 0 to 3 are :data:`SPECIAL`."""
    known = {word: place for place, word in enumerate(words, len(SPECIAL))}
    pad, unknown, begin, end = range(len(SPECIAL))

    def tokens(prompts: Sequence[str]) -> torch.Tensor:
        rows = [[known.get(word, unknown) for word in words_of(prompt)] for prompt in prompts]
        return _stacked([[begin, *row[: longest - 2], end] for row in rows], pad)

    return tokens


def words_of(prompt: str) -> list[str]:
    """The words and signs of a prompt, in small letters."""
    return WORD.findall(prompt.lower())


def cleaned(prompt: str) -> str:
    """Mended as CLIP's authors did: wrong encodings and curly quotes, entities (twice), spaces, capitals."""
    mended = html.unescape(html.unescape(ftfy.fix_text(prompt)))
    return " ".join(mended.split()).lower()


def small(prompt: str) -> str:
    """Composed letters (NFC), spaces joined, small: all that the tokenizer of transformers does."""
    return " ".join(unicodedata.normalize("NFC", prompt).split()).lower()


def _padded(tokenizer: tokenizers.Tokenizer, longest: int, clean: Callable[[str], str]) -> Tokens:
    def tokens(prompts: Sequence[str]) -> torch.Tensor:
        encoded = tokenizer.encode_batch([clean(prompt) for prompt in prompts])
        return _stacked([_cut(one.ids, longest) for one in encoded], 0)

    return tokens


def _cut(row: list[int], longest: int) -> list[int]:
    """The row, its last token kept, which says that the prompt has ended."""
    return row if len(row) <= longest else row[: longest - 1] + row[-1:]


def _stacked(rows: list[list[int]], pad: int) -> torch.Tensor:
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
    made = tokenizers.Tokenizer(models.BPE(vocabulary, merges, end_of_word_suffix="</w>", unk_token=END))
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(tokenizers.Regex(CLIP_PATTERN), "removed", invert=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    made.post_processor = processors.TemplateProcessing(
        single=f"{BEGIN} $A {END}", special_tokens=[(BEGIN, vocabulary[BEGIN]), (END, vocabulary[END])]
    )
    return made


def _byte_signs() -> list[str]:
    """A visible sign for each byte, in CLIP's order: the visible ones first, then the others from 256 on."""
    visible = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = 256 - len(visible)
    return [chr(one) for one in visible] + [chr(256 + place) for place in range(others)]


@lru_cache(maxsize=2)
def _bert_tokenizer(path: Path) -> tokenizers.Tokenizer:
    words = path.read_text(encoding="utf-8").splitlines()
    vocabulary = {word: place for place, word in enumerate(words)}
    made = tokenizers.Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    ends = [(sign, vocabulary[sign]) for sign in ("[CLS]", "[SEP]")]
    made.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    return made


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
