"""One tag of a prompt."""

from dataclasses import dataclass

from beholder.prompts.tags.tokens import Token, Tokens


@dataclass(frozen=True, slots=True)
class Tag:
    """What a prompt asks for: the tag, its value (such as the colour), and the words that show it."""

    name: str
    label: str
    evidence: str
    start: int
    end: int


def tag_of(name: str, label: str, prompt: Tokens, words: tuple[Token, ...], first: int, after: int) -> Tag:
    """Return a tag whose evidence is a run of words of the prompt."""
    start, end = words[first].start, words[after - 1].end
    return Tag(name, label, prompt.between(start, end), start, end)
