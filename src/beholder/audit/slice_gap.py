"""Slice gap: which prompts is an entry, or a scorer, worse on: counts, colours, relations, text, a style?

A slice is compared with all other prompts, by every measure with a better end, for all entries together and for
each of them. Intervals hold for all of these at once, and the largest gap is shrunk as the largest of many.
"""

from collections.abc import Iterable, Iterator, Mapping

import polars as pl

from beholder.audit.contrasts import by_entry, contrast_of
from beholder.audit.finding import Finding, nothing
from beholder.audit.gap_findings import Gap, gap_findings
from beholder.audit.material import Material
from beholder.judgements.measures import Measure
from beholder.tables.schemas.audit import UNDECIDED


def audit_slice_gap(material: Material) -> Iterator[Finding]:
    """Yield one finding per measure, slice and entry, and one in words for each slice that is too small."""
    slices = prompt_slices(material)
    if not material.measures or not slices:
        yield nothing("It needs a measure with a better end, and prompts with tags or images with styles.")
        return
    usable: dict[str, set[str]] = {}
    everything = set(material.texts) or set(material.images["prompt"].drop_nulls())
    for name, prompts in slices.items():
        inside, outside = len(prompts & everything), len(everything - prompts)
        if min(inside, outside) >= material.fewest:
            usable[name] = prompts
            continue
        side = f"{inside} prompts have it" if inside < material.fewest else f"all but {outside} prompts have it"
        side = side if outside else "every prompt has it"
        words = f"{name}: {side}; at least {material.fewest} with it and without it are needed for numbers."
        yield Finding(words, UNDECIDED, slice=name, prompts=min(inside, outside))
    tested = slice_contrasts(material.within_prompts.values(), usable, everything, fewest=material.fewest)
    yield from gap_findings(list(tested), level=material.level)


def prompt_slices(material: Material) -> dict[str, set[str]]:
    """Return the prompts of every tag and of every style, where there are several."""
    slices = {
        f"tag: {tag}": set(rows["prompt"])
        for (tag,), rows in material.tags.sort("tag").group_by("tag", maintain_order=True)
    }
    styled = material.images.filter(pl.col("style").is_not_null() & pl.col("prompt").is_not_null())
    styles = sorted(styled["style"].unique())
    if len(styles) > 1:
        slices |= {f"style: {name}": set(styled.filter(pl.col("style") == name)["prompt"]) for name in styles}
    return slices


def slice_contrasts(
    measures: Iterable[Measure], slices: Mapping[str, set[str]], everything: set[str], *, fewest: int
) -> Iterator[Gap]:
    """Yield the contrast of every slice with all other prompts, by every measure, for all entries and for each.

    Args:
        measures: With a better end.
        slices: Name -> its prompts.
        everything: All prompts.
        fewest: Judged prompts that a slice, and the rest, must have.
    """
    for measure in measures:
        for entry, judged in by_entry(measure).items():
            counted = [prompt for prompt in judged.names if prompt in everything]
            for name, prompts in slices.items():
                group_of = {prompt: 0 if prompt in prompts else 1 for prompt in counted}
                inside = sum(group == 0 for group in group_of.values())
                if min(inside, len(group_of) - inside) < fewest:
                    continue
                contrast = contrast_of(judged, group_of)
                if contrast is not None:
                    family, label = name.split(": ", 1)
                    words = f"prompts with {label}" if family == "tag" else f"the style {label}"
                    yield Gap(contrast, entry, measure, name, words, "the others")
