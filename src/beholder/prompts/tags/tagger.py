"""All tags of a prompt. A new tag is a function of the tokens and a line in ``TAGGERS``."""

from collections.abc import Callable, Iterable
from functools import partial

from beholder.prompts.tags.attributes import tag_attributes
from beholder.prompts.tags.counts import tag_counts
from beholder.prompts.tags.relations import tag_actions, tag_listed, tag_spatial
from beholder.prompts.tags.subjects import tag_nouns
from beholder.prompts.tags.tag import Tag
from beholder.prompts.tags.text_rendering import tag_text
from beholder.prompts.tags.tokens import Tokens, tokenise

Tagger = Callable[[Tokens], Iterable[Tag]]

TAGGERS: dict[str, Tagger] = {
    "count": tag_counts,
    "colour": partial(tag_attributes, name="colour"),
    "size": partial(tag_attributes, name="size"),
    "shape": partial(tag_attributes, name="shape"),
    "material": partial(tag_attributes, name="material"),
    "texture": partial(tag_attributes, name="texture"),
    "state": partial(tag_attributes, name="state"),
    "spatial": tag_spatial,
    "action": tag_actions,
    "comparison": partial(tag_listed, name="comparison"),
    "negation": partial(tag_listed, name="negation"),
    "text": tag_text,
    "person": partial(tag_nouns, name="person", wordnet_list="persons"),
    "animal": partial(tag_nouns, name="animal", wordnet_list="animals"),
    "body-part": partial(tag_nouns, name="body-part", wordnet_list="body_parts"),
    "style": partial(tag_listed, name="style"),
}
"""Tag -> the function that finds it."""


def tag_prompt(text: str) -> list[Tag]:
    """Return all tags of a prompt, by name in the order of ``TAGGERS``, then by place.

    Args:
        text: the prompt; the words are looked up in English lists.

    Returns:
        The tags with their labels and the words that show them.

    Example:
        >>> [(tag.name, tag.label) for tag in tag_prompt("two red cats under a table")]
        [('count', '2'), ('colour', 'red'), ('spatial', 'under'), ('animal', 'cat')]
    """
    prompt = tokenise(text)
    return [
        tag for tagger in TAGGERS.values() for tag in sorted(tagger(prompt), key=lambda tag: (tag.start, tag.end))
    ]
