"""Token ids of the words of a prompt, as the text model reads and writes them.

Each word is tokenized by itself, and a misaligned word is followed by the tokens of ``_0``: so the model can write
only the words of the prompt, and each of them is decoded unambiguously.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import tokenizers
import torch

from beholder.errors import WeightsError
from beholder.study.words import split_words

SUFFIX = "_0"
TOKENIZER = "tokenizer.json"
PAD, END, UNKNOWN, MARK = "<pad>", "</s>", "<unk>", "_0"
SPECIAL = (PAD, END, UNKNOWN, MARK)


@dataclass(frozen=True)
class PromptTokenizer:
    """Encodes prompts word by word, with the vocabulary of a text model."""

    vocabulary_size: int
    """Number of token ids."""
    pad: int
    """Pads short prompts, and starts the decoder's sequence."""
    end: int
    mark: tuple[int, ...]
    """Tokens after a misaligned word."""
    _words: dict[str, int] | None = None
    _tokenizer: tokenizers.Tokenizer | None = None

    def encode_word(self, word: str) -> tuple[int, ...]:
        """The token ids of one word."""
        if self._words is not None:
            return (self._words.get(word.lower(), SPECIAL.index(UNKNOWN)),)
        if self._tokenizer is None:
            raise TypeError("a vocabulary of words or a tokenizer is needed")
        token_ids = tuple(self._tokenizer.encode(word, add_special_tokens=False).ids)
        return token_ids or (self.pad,)

    def encode_prompt(self, text: str, longest: int) -> tuple[list[int], list[tuple[int, ...]]]:
        """Token ids of a prompt with the end token, and those of each word, truncated to ``longest`` tokens."""
        token_ids: list[int] = []
        words: list[tuple[int, ...]] = []
        for word in split_words(text):
            word_ids = self.encode_word(word)
            if len(token_ids) + len(word_ids) + 1 > longest:
                break
            token_ids += word_ids
            words.append(word_ids)
        return [*token_ids, self.end], words


def word_tokenizer(words: Sequence[str]) -> PromptTokenizer:
    """Each word of a list is one token; all others are the unknown token. In lower case."""
    numbers = {word: number for number, word in enumerate(words, len(SPECIAL))}
    return PromptTokenizer(len(SPECIAL) + len(numbers), 0, 1, (3,), _words=numbers)


def read_tokenizer(folder: Path) -> str:
    """The ``tokenizer.json`` of a folder, such as T5's, as text."""
    file = folder / TOKENIZER
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise WeightsError(
            f"{folder}: no {TOKENIZER} there, which defines the tokens of the text model"
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise WeightsError(f"{file} cannot be read ({error})") from error


def parse_tokenizer(text: str, source: str) -> PromptTokenizer:
    """The tokenizer given by the text of its file; ``source`` names it in errors."""
    try:
        tokenizer = tokenizers.Tokenizer.from_str(text)
    except Exception as error:  # the library raises nothing below it
        raise WeightsError(f"{source} is no tokenizer ({str(error).partition(chr(10))[0]})") from error
    pad, end = tokenizer.token_to_id(PAD), tokenizer.token_to_id(END)
    if pad is None or end is None:
        raise WeightsError(f"{source}: expected the tokens {PAD} and {END} of T5; found neither or one")
    plain, marked = (tokenizer.encode(text, add_special_tokens=False).ids for text in ("a", f"a{SUFFIX}"))
    if marked[: len(plain)] != plain or len(marked) == len(plain):
        raise WeightsError(f"{source}: the suffix {SUFFIX} does not follow the tokens of a word")
    return PromptTokenizer(tokenizer.get_vocab_size(), pad, end, tuple(marked[len(plain) :]), _tokenizer=tokenizer)


def collect_vocabulary(prompts: Sequence[str], *tasks: str) -> tuple[str, ...]:
    """The distinct words of prompts and task strings, in lower case, sorted."""
    return tuple(sorted({word.lower() for text in (*prompts, *tasks) for word in split_words(text)}))


def pad_token_ids(rows: Sequence[Sequence[int]], tokenizer: PromptTokenizer) -> tuple[torch.Tensor, torch.Tensor]:
    """Token ids of different lengths as one padded tensor, and a mask that is 1 where there is a token."""
    longest = max(map(len, rows))
    token_ids = torch.full((len(rows), longest), tokenizer.pad)
    mask = torch.zeros(len(rows), longest, dtype=torch.int64)
    for row, row_ids in enumerate(rows):
        token_ids[row, : len(row_ids)] = torch.tensor(row_ids)
        mask[row, : len(row_ids)] = 1
    return token_ids, mask
