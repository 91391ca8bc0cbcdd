"""The steps of a curation, each on all candidates: clean, check, write, compare, choose, hold out."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from beholder.curate.candidate import Candidate
from beholder.curate.settings import LANGUAGE, Checks, Choosing, Cleaning, Duplicates, Writing
from beholder.prompts.checks.check import check_prompt
from beholder.prompts.checks.finding import Finding
from beholder.prompts.checks.language import language_of
from beholder.prompts.choosing.balance import choose_balanced
from beholder.prompts.choosing.held_out import hold_out
from beholder.prompts.cleaning.by_command import clean_by_command
from beholder.prompts.cleaning.clean import clean
from beholder.prompts.duplicates.find import find_pairs
from beholder.prompts.duplicates.paraphrases import SentenceEncoder, find_paraphrases
from beholder.prompts.tags.tagger import tag_prompt
from beholder.prompts.writing.by_command import write_by_command
from beholder.prompts.writing.new_prompt import NewPrompt
from beholder.prompts.writing.swaps import swap
from beholder.prompts.writing.templates import expand
from beholder.prompts.writing.variations import vary

UNCATEGORISED = "–"
DROPPED, CHOSEN, HELD_OUT, NOT_DRAWN = "dropped", "chosen", "held-out", "not-drawn"


@dataclass(frozen=True, slots=True)
class CandidatePair:
    """Two candidates by name, and what they are to each other."""

    first: str
    second: str
    relation: str
    evidence: str
    similarity: float


def clean_candidates(candidates: Sequence[Candidate], settings: Cleaning) -> None:
    """Remove style words, by a command or by rules; originals are kept."""
    if settings.command is not None:
        texts = {candidate.name: candidate.text for candidate in candidates}
        by_name = clean_by_command(settings.command, texts, seconds=settings.seconds)
    elif settings.rules:
        by_name = {candidate.name: clean(candidate.text, settings.rules) for candidate in candidates}
    else:
        return
    for candidate in candidates:
        cleaned = by_name[candidate.name]
        candidate.text, candidate.cuts = cleaned.text, cleaned.cuts


def check_candidates(
    candidates: Sequence[Candidate], settings: Checks, word_lists: Mapping[str, tuple[str, ...]]
) -> None:
    """Look for what the checks are about, and drop candidates where the settings say so."""
    for candidate in candidates:
        candidate.language = language_of(candidate.text)
        findings = check_prompt(candidate.text, word_lists)
        if settings.languages and candidate.language not in settings.languages:
            findings.append(Finding(LANGUAGE, candidate.language, 0, len(candidate.text)))
        candidate.findings = tuple(findings)
        cause = next((finding for finding in findings if finding.check in settings.drop), None)
        if cause is not None and candidate.live:
            candidate.decide(DROPPED, f"{cause.check}: {cause.evidence}")


def write_candidates(
    candidates: Sequence[Candidate], settings: Writing, rng: np.random.Generator
) -> list[Candidate]:
    """Return new candidates, written from those that were not dropped, and from templates."""
    seeds = {candidate.name: candidate for candidate in candidates if candidate.live}
    texts = {name: candidate.text for name, candidate in seeds.items()}
    new: list[NewPrompt] = [
        written
        for name, text in texts.items()
        for written in (swap(text, name, settings.swaps) if settings.swaps else ())
    ]
    new += [written for template in settings.templates for written in expand(template)]
    new += vary(texts, settings.variations, rng)
    if settings.command is not None:
        new += write_by_command(settings.command, texts, seconds=settings.seconds)
    return [_candidate(number, written, seeds) for number, written in enumerate(new)]


def compare_candidates(
    candidates: Sequence[Candidate], settings: Duplicates, encoder: SentenceEncoder | None
) -> list[CandidatePair]:
    """Return the pairs of candidates that were not dropped; drop those that say the same as an earlier one."""
    live = [candidate for candidate in candidates if candidate.live]
    texts = [candidate.text for candidate in live]
    pairs = find_pairs(texts)
    if encoder is not None:
        related = {(pair.first, pair.second) for pair in pairs}
        pairs += find_paraphrases(texts, encoder, least_cosine=settings.least_cosine, except_pairs=related)
    for pair in pairs:
        first, second = live[pair.first], live[pair.second]
        same_text = first.text == second.text
        if second.live and (same_text or pair.relation in settings.drop):
            evidence = f" ({pair.evidence})" if pair.evidence else ""
            second.decide(DROPPED, f"{pair.relation} of {first.name}{evidence}")
    by_name = {candidate.name: candidate for candidate in candidates}
    swapped = [
        CandidatePair(candidate.parent, candidate.name, "counterfactual", candidate.change, 1.0)
        for candidate in candidates
        if candidate.origin == "swap" and candidate.parent in by_name
    ]
    named = [
        CandidatePair(live[pair.first].name, live[pair.second].name, pair.relation, pair.evidence, pair.similarity)
        for pair in pairs
    ]
    return named + swapped


def tag_candidates(candidates: Iterable[Candidate]) -> None:
    """Tag those that were not dropped."""
    for candidate in candidates:
        if candidate.live:
            candidate.tags = tuple(tag_prompt(candidate.text))


def choose_candidates(candidates: Sequence[Candidate], settings: Choosing, rng: np.random.Generator) -> None:
    """Choose as many as the settings say, balanced, with tags covered; without a number, all."""
    live = [candidate for candidate in candidates if candidate.live]
    slices = [_slice_of(candidate, settings.balance) or UNCATEGORISED for candidate in live]
    tags = [frozenset((tag.name, tag.label) for tag in candidate.tags) for candidate in live]
    count = len(live) if settings.prompts is None else settings.prompts
    choice = choose_balanced(slices, tags, count, rng)
    chosen = frozenset(choice.chosen)
    for position, candidate in enumerate(live):
        quota, size = choice.by_category[slices[position]]
        where = f"{quota:,} of {size:,} of {settings.balance} '{slices[position]}'"
        where = "all that were not dropped" if quota == size else where.removesuffix(" of none '–'")
        candidate.decide(CHOSEN if position in chosen else NOT_DRAWN, where)


def hold_out_candidates(
    candidates: Sequence[Candidate], pairs: Iterable[CandidatePair], settings: Choosing
) -> None:
    """Hold a part of the chosen ones out; those of a group, parent and child, and paraphrases together."""
    if not settings.held_out:
        return
    chosen = [candidate for candidate in candidates if candidate.status == CHOSEN]
    position = {candidate.name: place for place, candidate in enumerate(chosen)}
    together = [
        (position[pair.first], position[pair.second])
        for pair in pairs
        if pair.relation != "minimal-pair" and pair.first in position and pair.second in position
    ]
    together += [
        (position[candidate.parent], position[candidate.name])
        for candidate in chosen
        if candidate.parent in position
    ]
    groups: dict[str, list[int]] = {}
    for candidate in chosen:
        groups.setdefault(candidate.group or candidate.name, []).append(position[candidate.name])
    together += [pair for members in groups.values() for pair in pairwise(members)]
    held = hold_out([candidate.prompt for candidate in chosen], together, settings.held_out, settings.salt)
    for candidate, is_held in zip(chosen, held, strict=True):
        if is_held:
            candidate.decide(HELD_OUT, f"{settings.held_out:g} of the chosen prompts, by hash; {candidate.reason}")


def _slice_of(candidate: Candidate, balance: str) -> str | None:
    return {"category": candidate.category, "set": candidate.set_name}.get(balance)


def _candidate(number: int, new: NewPrompt, seeds: Mapping[str, Candidate]) -> Candidate:
    seed = seeds.get(new.parent or "")
    key = f"{new.method}-{number}"
    group = new.group if seed is None else (seed.group or seed.name)
    return Candidate(
        name=f"{seed.name}/{key}" if seed else key,
        text=new.text,
        original=new.text,
        set_name=seed.set_name if seed else None,
        key=f"{new.method}: {new.change}",
        category=seed.category if seed else None,
        group=group,
        origin=new.method,
        parent=seed.name if seed else None,
        change=new.change,
    )
