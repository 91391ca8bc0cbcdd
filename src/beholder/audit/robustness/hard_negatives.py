"""Hard negatives: prompts that nearly say what the image shows, as in SugarCrepe; the right prompt should win.

One word is replaced by its counterpart (colour, size, count, relation, gender …), two attributes are exchanged, or
an object is added. Beside these, two easy ones that a scorer must not fail: another image's prompt, and the words
of the right prompt in another order.

Reference: C.-Y. Hsieh et al. (2023), *SugarCrepe*, NeurIPS Datasets and Benchmarks.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from beholder.prompts.tags.tagger import tag_prompt
from beholder.prompts.writing.swaps import swap

REPLACED = {
    "colour": "another colour",
    "size": "another size",
    "count": "another count",
    "spatial": "another relation",
    "person": "another gender",
}
"""Kind of swap -> what it is called."""

ADDED = ("a bicycle", "an umbrella", "a piano")
"""Objects that are added where the prompt does not name them."""

OTHER, SHUFFLED = "another image's prompt", "words in another order"
EXCHANGED, ADDITION = "two attributes exchanged", "an object added"

KINDS = (*REPLACED.values(), EXCHANGED, ADDITION, SHUFFLED, OTHER)
"""All kinds of wrong prompts, the hardest first."""


def hard_negatives(text: str, others: Sequence[str], rng: np.random.Generator) -> Iterator[tuple[str, str]]:
    """Yield kind and text of every wrong prompt that can be written for a right one.

    Args:
        text: The right prompt.
        others: Prompts of other images.
        rng: Draws the other prompt, the order of the words and the added object.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> dict(hard_negatives("a red cube left of a blue ball", [], rng))["two attributes exchanged"]
        'a blue cube left of a red ball'
    """
    for kind, name in REPLACED.items():
        yield from ((name, new.text) for new in swap(text, "", [kind]))
    exchanged = _exchanged(text)
    if exchanged is not None:
        yield EXCHANGED, exchanged
    absent = [object_name for object_name in ADDED if object_name.split()[-1] not in text]
    if absent:
        yield ADDITION, f"{text} and {absent[rng.integers(len(absent))]}"
    words = text.split()
    if len(words) > 2:
        order = rng.permutation(len(words))
        if np.any(order != np.arange(len(words))):
            yield SHUFFLED, " ".join(words[place] for place in order)
    different = [other for other in others if other != text]
    if different:
        yield OTHER, different[rng.integers(len(different))]


def _exchanged(text: str) -> str | None:
    """Exchange the first two colours of a prompt, where they differ."""
    colours = [tag for tag in tag_prompt(text) if tag.name == "colour"]
    distinct = [tag for tag in colours if tag.label != colours[0].label]
    if not distinct:
        return None
    first, second = sorted((colours[0], distinct[0]), key=lambda tag: tag.start)
    parts = (
        text[: first.start],
        second.evidence,
        text[first.end : second.start],
        first.evidence,
        text[second.end :],
    )
    return "".join(parts)
