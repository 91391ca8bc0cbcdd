"""How the words of a prompt become the numbers that the text model reads and writes.

Each word has pieces of its own, and a misaligned word is followed by the pieces of ``_0``: so the model can write
nothing but the words of the prompt, and each of them is read back with certainty.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import tokenizers

from beholder.errors import WeightsError
from beholder.study.words import split_words

SUFFIX = "_0"
TOKENIZER = "tokenizer.json"
PAD, END, UNKNOWN, MARK = "<pad>", "</s>", "<unk>", "_0"
SPECIAL = (PAD, END, UNKNOWN, MARK)


@dataclass(frozen=True)
class Pieces:
    """The vocabulary of a text model."""

    size: int
    """How many numbers there are."""
    pad: int
    """Fills up short prompts, and begins what the decoder writes."""
    end: int
    mark: tuple[int, ...]
    """What stands after a misaligned word."""
    _words: dict[str, int] | None = None
    _tokenizer: tokenizers.Tokenizer | None = None

    def of(self, word: str) -> tuple[int, ...]:
        """The pieces of one word."""
        if self._words is not None:
            return (self._words.get(word.lower(), SPECIAL.index(UNKNOWN)),)
        if self._tokenizer is None:
            raise TypeError("pieces need words or a tokenizer")
        found = tuple(self._tokenizer.encode(word, add_special_tokens=False).ids)
        return found or (self.pad,)

    def read(self, text: str, longest: int) -> tuple[list[int], list[tuple[int, ...]]]:
        """The numbers of a prompt with its end, and the pieces of each word, as far as ``longest`` goes."""
        numbers: list[int] = []
        words: list[tuple[int, ...]] = []
        for word in split_words(text):
            found = self.of(word)
            if len(numbers) + len(found) + 1 > longest:
                break
            numbers += found
            words.append(found)
        return [*numbers, self.end], words


def word_pieces(words: Sequence[str]) -> Pieces:
    """Each known word is a number; all others share one. In small letters."""
    known = {word: place for place, word in enumerate(words, len(SPECIAL))}
    return Pieces(len(SPECIAL) + len(known), 0, 1, (3,), _words=known)


def folder_tokenizer(folder: Path) -> str:
    """The ``tokenizer.json`` of a folder, such as T5's, as text."""
    file = folder / TOKENIZER
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise WeightsError(f"{folder}: no {TOKENIZER} there, which says how the text model cuts words") from error
    except (OSError, UnicodeDecodeError) as error:
        raise WeightsError(f"{file} cannot be read ({error})") from error


def tokenizer_pieces(text: str, source: str) -> Pieces:
    """The pieces of a tokenizer, given as the text of its file."""
    try:
        tokenizer = tokenizers.Tokenizer.from_str(text)
    except Exception as error:  # the library raises nothing below it
        raise WeightsError(f"{source} is no tokenizer ({str(error).partition(chr(10))[0]})") from error
    pad, end = tokenizer.token_to_id(PAD), tokenizer.token_to_id(END)
    if pad is None or end is None:
        raise WeightsError(f"{source}: expected the tokens {PAD} and {END} of T5; found neither or one")
    plain, marked = (tokenizer.encode(text, add_special_tokens=False).ids for text in ("a", f"a{SUFFIX}"))
    if marked[: len(plain)] != plain or len(marked) == len(plain):
        raise WeightsError(f"{source}: the suffix {SUFFIX} does not follow the pieces of a word")
    return Pieces(tokenizer.get_vocab_size(), pad, end, tuple(marked[len(plain) :]), _tokenizer=tokenizer)


def vocabulary(prompts: Sequence[str], *more: str) -> tuple[str, ...]:
    """The distinct words of prompts (and of task strings), in small letters, sorted."""
    return tuple(sorted({word.lower() for text in (*prompts, *more) for word in split_words(text)}))
