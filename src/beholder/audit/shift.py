"""Shift: do results hold on fresh prompts, and from one style to another?

Fresh prompts are the held-out part of a curation: nobody tuned anything on them. Styles are compared pairwise.
Both are compared for all entries together and for each of them.
"""

from collections.abc import Iterator
from itertools import combinations

import polars as pl

from beholder.audit.contrasts import by_entry, contrast_of
from beholder.audit.finding import Finding, nothing
from beholder.audit.gap_findings import Gap, gap_findings
from beholder.audit.material import Material
from beholder.tables.schemas.audit import UNDECIDED

Split = tuple[str, set[str], set[str], str, str, bool]
"""Slice, its two groups of prompts, what they are called, and whether either direction is a problem."""


def audit_shift(material: Material) -> Iterator[Finding]:
    """Yield findings on fresh against old prompts, and on pairs of styles."""
    splits = list(_splits(material))
    if not material.measures or not splits:
        yield nothing(
            "It needs a measure with a better end, and a held-out part of the prompts or several styles."
        )
        return
    tested: list[Gap] = []
    for name, first, second, first_words, second_words, symmetric in splits:
        if min(len(first), len(second)) < material.fewest:
            words = (
                f"{name}: {len(first)} and {len(second)} prompts; at least {material.fewest} of each are needed "
                "for numbers."
            )
            yield Finding(words, UNDECIDED, slice=name, prompts=min(len(first), len(second)))
            continue
        group_of = dict.fromkeys(second, 1) | dict.fromkeys(first, 0)
        for measure in material.within_prompts.values():
            for entry, judged in by_entry(measure).items():
                contrast = contrast_of(judged, group_of)
                if contrast is not None and contrast.prompts >= material.fewest:
                    tested.append(Gap(contrast, entry, measure, name, first_words, second_words, symmetric))
    yield from gap_findings(tested, level=material.level)


def _splits(material: Material) -> Iterator[Split]:
    fresh = material.held_out & set(material.texts)
    if fresh:
        old = set(material.texts) - fresh
        yield "fresh prompts", fresh, old, "fresh prompts", "old ones", False
    styled = material.images.filter(pl.col("style").is_not_null() & pl.col("prompt").is_not_null())
    prompts = {
        str(style): set(rows["prompt"])
        for (style,), rows in styled.sort("style").group_by("style", maintain_order=True)
    }
    for first, second in combinations(prompts, 2):
        yield (
            f"{first} against {second}",
            prompts[first] - prompts[second],
            prompts[second] - prompts[first],
            f"the style {first}",
            f"the style {second}",
            True,
        )
