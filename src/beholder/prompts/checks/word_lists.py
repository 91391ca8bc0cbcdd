"""Words and phrases of the user's lists: brands, slurs, whatever a study must not, or must, mention."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from beholder.errors import PromptsError
from beholder.prompts.checks.finding import Finding
from beholder.prompts.sets.files import read_text
from beholder.prompts.tags.tokens import TOKEN, Tokens, matches


def read_word_list(path: Path) -> tuple[str, ...]:
    """Return the words and phrases of a text file, one per line; lines that start with ``#`` are comments."""
    lines = [line.strip() for line in read_text(path).splitlines()]
    listed = [" ".join(TOKEN.findall(line.lower())) for line in lines if line and not line.startswith("#")]
    if not any(listed):
        raise PromptsError(str(path), ["no words; one per line is expected"])
    return tuple(sorted(set(filter(None, listed))))


def find_listed_words(prompt: Tokens, lists: Mapping[str, tuple[str, ...]]) -> Iterator[Finding]:
    """Yield the words of each list that the prompt contains, in quotation marks or not."""
    for name, listed in lists.items():
        for match in matches(prompt.tokens, listed):
            start, end = prompt.tokens[match.first].start, prompt.tokens[match.after - 1].end
            yield Finding(f"word-list:{name}", prompt.between(start, end), start, end)
