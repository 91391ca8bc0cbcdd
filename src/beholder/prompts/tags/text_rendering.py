"""Text that the image is to show: what stands in quotation marks, or follows *that says*."""

from collections.abc import Iterator

from beholder.prompts.tags.relations import tag_listed
from beholder.prompts.tags.tag import Tag
from beholder.prompts.tags.tokens import Tokens


def tag_text(prompt: Tokens) -> Iterator[Tag]:
    """Yield text to be rendered, with the quoted text, or the words that announce it, as label."""
    for start, end in prompt.quotes:
        quoted = prompt.between(start, end)
        yield Tag("text", quoted[1:-1], quoted, start, end)
    for tag in tag_listed(prompt, "text_rendering"):
        yield Tag("text", tag.label, tag.evidence, tag.start, tag.end)
