"""Filter: whose prompts does a word list, or a generator's refusal, remove?

For every group of people that prompts name, the proportion that is removed is compared with that of the prompts
that do not name the group. A filter that removes prompts because they say *gay* or *wheelchair* removes these
people from the evaluation, and from what is generated.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from beholder.audit.finding import Finding, nothing
from beholder.audit.material import Material
from beholder.prompts.checks.word_lists import find_listed_words, read_word_list
from beholder.prompts.identities import find_identities
from beholder.prompts.tags.tokens import tokenise
from beholder.stats.significance.holm import holm
from beholder.stats.significance.two_proportions import ProportionDifference, two_proportions
from beholder.tables.schemas.audit import CAUTION, CLEAR, PROBLEM, UNDECIDED

TOLERATED = 0.05
"""A difference of removed prompts whose whole interval is below this is clear."""


@dataclass(frozen=True, slots=True)
class Filter:
    """What removes prompts: which texts it looked at, and which of them it removed."""

    name: str
    texts: Mapping[str, str]
    removed: frozenset[str]


def audit_filter(material: Material) -> Iterator[Finding]:
    """Yield findings on every filter and group of people."""
    filters = list(find_filters(material))
    if not filters:
        yield nothing(
            "It needs a filter: [audit.word_lists] of study.toml, word lists of curate.toml, or generators that "
            "refuse prompts."
        )
        return
    for each in filters:
        yield _overall(each)
        yield from _groups(each, material)


def find_filters(material: Material) -> Iterator[Filter]:
    """Yield the study's word lists, those of its curation, and every generator that refused something."""
    candidates = material.table("prompt_candidates")
    texts = dict(candidates.select("prompt", "text").iter_rows()) or material.texts
    for name, place in material.study.audit.word_lists.items():
        listed = {name: read_word_list(material.store.folder / Path(place))}
        removed = {prompt for prompt, text in texts.items() if any(find_listed_words(tokenise(text), listed))}
        yield Filter(f"word list {name}", texts, frozenset(removed))
    findings = material.table("prompt_findings").join(candidates.select("candidate", "prompt"), on="candidate")
    lists = findings.filter(pl.col("check").str.starts_with("word-list:"))
    for (check,), rows in lists.sort("check").group_by("check", maintain_order=True):
        yield Filter(f"curation's {str(check).replace(':', ' ')}", texts, frozenset(rows["prompt"]))
    asked_for = material.table("generations")
    for (generator,), rows in asked_for.sort("generator").group_by("generator", maintain_order=True):
        refused = rows.filter(pl.col("status") == "refused")["prompt"].unique()
        if len(refused):
            sent = dict(rows.select("prompt", "text").iter_rows())
            yield Filter(f"refusals of {generator}", sent, frozenset(refused))


def _overall(each: Filter) -> Finding:
    count, total = len(each.removed), len(each.texts)
    words = f"{each.name}: removes {count:,} of {total:,} prompts ({count / max(total, 1):.1%})."
    severity = CAUTION if count else CLEAR
    return Finding(words, severity, each.name, figure=count / max(total, 1), prompts=total, unit="proportion")


def _groups(each: Filter, material: Material) -> Iterator[Finding]:
    """Yield one finding per group of people that enough prompts name, Holm-adjusted over the groups."""
    members: dict[str, set[str]] = {}
    for prompt, text in each.texts.items():
        for identity in find_identities(text):
            members.setdefault(f"{identity.dimension}: {identity.group}", set()).add(prompt)
    compared: dict[str, tuple[ProportionDifference, int]] = {}
    for name, prompts in sorted(members.items()):
        others = set(each.texts) - prompts
        if min(len(prompts), len(others)) < material.fewest:
            removed = len(prompts & each.removed)
            words = (
                f"{each.name}, {name}: {len(prompts)} prompts, of which {removed} removed; at least "
                f"{material.fewest} are needed for numbers."
            )
            yield Finding(words, UNDECIDED, each.name, slice=name, prompts=len(prompts))
            continue
        removed_of = (len(prompts & each.removed), len(others & each.removed))
        compared[name] = (
            two_proportions(removed_of, (len(prompts), len(others)), level=material.level),
            len(prompts),
        )
    adjusted = holm([test.p_value for test, _ in compared.values()])
    for (name, (test, count)), p in zip(compared.items(), adjusted, strict=True):
        yield _finding(each, name, test, count, float(p), material.level)


def _finding(each: Filter, name: str, test: ProportionDifference, count: int, p: float, level: float) -> Finding:
    numbers = f"{test.first:.1%} of its prompts are removed, {test.second:.1%} of the others"
    interval = f"{test.difference:+.1%} [{test.low:+.1%}, {test.high:+.1%}]"
    if p < 1 - level:
        severity = PROBLEM if test.difference > 0 else CAUTION
        words = f"{each.name}, {name}: {numbers}, {interval}."
    elif test.high < TOLERATED:
        severity, words = CLEAR, f"{each.name}, {name}: {numbers}; at most {test.high:.1%} more."
    else:
        severity, words = UNDECIDED, f"{each.name}, {name}: no evidence of a difference: {numbers}, {interval}."
    return Finding(
        words,
        severity,
        each.name,
        slice=name,
        figure=test.difference,
        low=test.low,
        high=test.high,
        level=level,
        baseline=test.second,
        p=test.p_value,
        p_adjusted=p,
        prompts=count,
        unit="proportion",
    )
