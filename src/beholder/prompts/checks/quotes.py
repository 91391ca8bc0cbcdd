"""Text in quotation marks, which an image is to show: what raters must be able to read."""

from collections.abc import Iterator

from beholder.prompts.checks.finding import Finding
from beholder.prompts.tags.tokens import Tokens


def find_quoted_text(prompt: Tokens) -> Iterator[Finding]:
    """Yield each quoted text with its place, quotation marks included."""
    for start, end in prompt.quotes:
        yield Finding("quoted-text", prompt.between(start, end), start, end)
