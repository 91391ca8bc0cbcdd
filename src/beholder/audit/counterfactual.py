"""Counterfactual pairs: the same prompt but for who is in it. Is one group rated worse, by people or by a scorer?

Prompts that differ only in the words of one dimension (gender, age, skin tone, place, dialect) form a set; within
each set the groups are compared, so that whatever else a prompt asks for is the same on both sides. The gap is
that of the mean ratings, with its error over sets and raters.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from beholder.audit.contrasts import by_entry, contrast_of
from beholder.audit.finding import Finding, nothing
from beholder.audit.gap_findings import Gap, gap_findings
from beholder.audit.material import Material
from beholder.prompts.identities import COUNTERFACTUAL, identity_words, skeleton
from beholder.tables.schemas.audit import UNDECIDED


@dataclass(frozen=True, slots=True)
class PairedPrompts:
    """Prompts of two groups of one dimension: each has its counterpart in the other group."""

    dimension: str
    first: str
    second: str
    group_of: dict[str, int]  # prompt -> 0 for the first group, 1 for the second
    set_of: dict[str, str]  # prompt -> what both have in common

    @property
    def pairs(self) -> int:
        """Sets with both groups."""
        return len(set(self.set_of.values()))


def audit_counterfactual(material: Material) -> Iterator[Finding]:
    """Yield findings on every two groups of a dimension, by every measure, for all entries and for each."""
    paired = list(paired_prompts(material.texts))
    if not material.measures or not paired:
        yield nothing(
            "It needs a measure with a better end, and prompts that differ only in who is in them: write them "
            "with swaps or templates in curate.toml."
        )
        return
    tested: list[Gap] = []
    for each in paired:
        name = f"{each.dimension}: {each.first} less {each.second}"
        if each.pairs < material.fewest:
            words = f"{name}: {each.pairs} pairs of prompts; at least {material.fewest} are needed for numbers."
            yield Finding(words, UNDECIDED, slice=name, prompts=each.pairs)
            continue
        for measure in material.measures.values():
            for entry, judged in by_entry(measure).items():
                contrast = contrast_of(judged, each.group_of, each.set_of)
                if contrast is not None and contrast.prompts >= material.fewest:
                    groups = (f"{each.dimension} {each.first}", f"{each.dimension} {each.second}")
                    tested.append(Gap(contrast, entry, measure, name, *groups, symmetric=True))
    yield from gap_findings(tested, level=material.level)


def paired_prompts(texts: dict[str, str]) -> Iterator[PairedPrompts]:
    """Yield every two groups of which prompts have counterparts.

    Args:
        texts: Prompt -> its text.

    Yields:
        The prompts of both groups, in the order of the word lists.
    """
    for dimension in COUNTERFACTUAL:
        sets: dict[str, dict[str, str]] = {}
        for prompt, text in sorted(texts.items()):
            rest = skeleton(text, dimension)
            if rest is not None:
                sets.setdefault(rest[0], {}).setdefault(rest[1], prompt)
        for first, second in combinations(identity_words()[dimension], 2):
            both = {rest: groups for rest, groups in sets.items() if first in groups and second in groups}
            if both:
                yield PairedPrompts(
                    dimension,
                    first,
                    second,
                    {
                        groups[name]: place
                        for groups in both.values()
                        for place, name in enumerate((first, second))
                    },
                    {groups[name]: rest for rest, groups in both.items() for name in (first, second)},
                )
