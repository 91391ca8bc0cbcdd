"""Composition: do results fall with the number of atoms of a prompt, and on pairs of atoms that are new together?

An atom is a tag with its label, such as *colour red* or *count 3*. A prompt of the held-out part is *unseen* where
each of its atoms occurs in the public prompts, but two of them nowhere together; it is *seen* where all pairs do.
"""

from collections.abc import Iterator
from itertools import combinations

import polars as pl

from beholder.audit.contrasts import by_entry, contrast_of
from beholder.audit.finding import Finding, nothing
from beholder.audit.gap_findings import Gap, gap_findings
from beholder.audit.material import Material
from beholder.tables.schemas.audit import UNDECIDED

Atom = tuple[str, str]


def audit_composition(material: Material) -> Iterator[Finding]:
    """Yield findings on the number of atoms, and on pairs that were not seen together."""
    atoms = _atoms(material)
    if not material.measures or not atoms:
        yield nothing("It needs a measure with a better end, and prompts with tags.")
        return
    many, few, middle = _by_count(atoms)
    splits = {
        "number of atoms": (many, few, f"prompts of more than {middle} atoms", f"prompts of {middle} or fewer")
    }
    common, new = _by_pairs(atoms, material.held_out)
    splits["unseen pairs"] = (new, common, "prompts with a pair of atoms that no public prompt has", "others")
    tested: list[Gap] = []
    for name, (first, second, *words) in splits.items():
        if min(len(first), len(second)) < material.fewest:
            sentence = (
                f"{name}: {len(first)} {words[0]} and {len(second)} {words[1]}; at least {material.fewest} "
                "of each are needed for numbers."
            )
            yield Finding(sentence, UNDECIDED, slice=name, prompts=min(len(first), len(second)))
            continue
        group_of = dict.fromkeys(first, 0) | dict.fromkeys(second, 1)
        for measure in material.within_prompts.values():
            for entry, judged in by_entry(measure).items():
                contrast = contrast_of(judged, group_of)
                if contrast is not None and contrast.prompts >= material.fewest:
                    tested.append(Gap(contrast, entry, measure, name, words[0], words[1]))
    yield from gap_findings(tested, level=material.level)


def _atoms(material: Material) -> dict[str, frozenset[Atom]]:
    atoms: dict[str, set[Atom]] = {prompt: set() for prompt in material.texts}
    rows = material.tags.filter(pl.col("tag") != "style").select("prompt", "tag", "label")
    for prompt, tag, label in rows.iter_rows():
        if prompt in atoms:
            atoms[prompt].add((tag, label))
    return {prompt: frozenset(of_prompt) for prompt, of_prompt in atoms.items()} if any(atoms.values()) else {}


def _by_count(atoms: dict[str, frozenset[Atom]]) -> tuple[set[str], set[str], int]:
    """Return prompts of many atoms and of few, divided at the median, and the largest number of few."""
    counts = sorted(len(of_prompt) for of_prompt in atoms.values())
    middle = counts[(len(counts) - 1) // 2]
    if middle == counts[-1]:
        middle -= 1
    many = {prompt for prompt, of_prompt in atoms.items() if len(of_prompt) > middle}
    return many, set(atoms) - many, middle


def _by_pairs(atoms: dict[str, frozenset[Atom]], held_out: set[str]) -> tuple[set[str], set[str]]:
    """Return the held-out prompts whose pairs all occur in public prompts, and those of which one does not."""
    public = [of_prompt for prompt, of_prompt in atoms.items() if prompt not in held_out]
    single = {atom for of_prompt in public for atom in of_prompt}
    pairs = {pair for of_prompt in public for pair in combinations(sorted(of_prompt), 2)}
    common: set[str] = set()
    new: set[str] = set()
    for prompt in held_out & set(atoms):
        if not atoms[prompt] <= single or len(atoms[prompt]) < 2:
            continue
        lacking = any(pair not in pairs for pair in combinations(sorted(atoms[prompt]), 2))
        (new if lacking else common).add(prompt)
    return common, new
