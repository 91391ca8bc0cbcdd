"""The tables of a curation, from its candidates and pairs."""

from collections.abc import Iterable, Sequence

import polars as pl

from beholder.curate.candidate import Candidate
from beholder.curate.steps import CHOSEN, DROPPED, HELD_OUT, UNCATEGORISED, CandidatePair
from beholder.prompts.choosing.coverage import coverage
from beholder.prompts.duplicates.overlaps import overlaps
from beholder.prompts.normalise import normal_text
from beholder.prompts.prompt import PromptSet
from beholder.tables.catalogue import TABLES

Row = dict[str, object]


def curated_tables(
    sets: Sequence[PromptSet], candidates: Sequence[Candidate], pairs: Iterable[CandidatePair]
) -> dict[str, pl.DataFrame]:
    """Return all tables that curate writes."""
    chosen = [candidate for candidate in candidates if candidate.status in (CHOSEN, HELD_OUT)]
    rows: dict[str, list[Row]] = {
        "prompt_sets": [_set_row(each) for each in sets],
        "prompt_overlaps": [
            {"first": pair.first, "second": pair.second, "shared": pair.shared} for pair in overlaps(sets)
        ],
        "prompt_candidates": [_candidate_row(candidate) for candidate in candidates],
        "prompt_edits": [row for candidate in candidates for row in _edit_rows(candidate)],
        "prompt_findings": [row for candidate in candidates for row in _finding_rows(candidate)],
        "prompt_pairs": [
            {
                "first": pair.first,
                "second": pair.second,
                "relation": pair.relation,
                "evidence": pair.evidence,
                "similarity": pair.similarity,
            }
            for pair in pairs
        ],
        "curated_prompts": [_chosen_row(candidate) for candidate in chosen],
        "prompt_tags": [row for candidate in chosen for row in _tag_rows(candidate)],
        "prompt_coverage": _coverage_rows(candidates),
    }
    return {name: TABLES[name].frame(of_table) for name, of_table in rows.items()}


def _set_row(prompts: PromptSet) -> Row:
    return {
        "set": prompts.full_name,
        "version": prompts.version,
        "licence": prompts.licence,
        "source": prompts.source,
        "prompts": len(prompts.prompts),
        "distinct": len({normal_text(prompt.text) for prompt in prompts.prompts}),
    }


def _candidate_row(candidate: Candidate) -> Row:
    return {
        "candidate": candidate.name,
        "prompt": candidate.prompt,
        "text": candidate.text,
        "original": candidate.original,
        "set": candidate.set_name,
        "key": candidate.key,
        "category": candidate.category,
        "group": candidate.group,
        "origin": candidate.origin,
        "parent": candidate.parent,
        "language": candidate.language,
        "status": candidate.status,
        "reason": candidate.reason,
    }


def _edit_rows(candidate: Candidate) -> Iterable[Row]:
    for number, cut in enumerate(candidate.cuts):
        place: Row = {"start": cut.start, "end": cut.end}
        cause: Row = {"rule": cut.rule, "removed": cut.removed, "evidence": cut.evidence}
        yield {"candidate": candidate.name, "number": number, **cause, **place}


def _finding_rows(candidate: Candidate) -> Iterable[Row]:
    for number, finding in enumerate(candidate.findings):
        place: Row = {"start": finding.start, "end": finding.end}
        cause: Row = {"check": finding.check, "evidence": finding.evidence}
        yield {"candidate": candidate.name, "number": number, **cause, **place}


def _chosen_row(candidate: Candidate) -> Row:
    return {
        "prompt": candidate.prompt,
        "text": candidate.text,
        "category": candidate.category,
        "candidate": candidate.name,
        "held_out": candidate.status == HELD_OUT,
    }


def _tag_rows(candidate: Candidate) -> Iterable[Row]:
    for tag in candidate.tags:
        place: Row = {"start": tag.start, "end": tag.end}
        yield {"prompt": candidate.prompt, "tag": tag.name, "label": tag.label, "evidence": tag.evidence, **place}


def _coverage_rows(candidates: Sequence[Candidate]) -> list[Row]:
    available = [candidate for candidate in candidates if candidate.status != DROPPED]
    labels = [
        [("category", candidate.category or UNCATEGORISED), *((tag.name, tag.label) for tag in candidate.tags)]
        for candidate in available
    ]
    chosen = [place for place, candidate in enumerate(available) if candidate.status in (CHOSEN, HELD_OUT)]
    held = [place for place, candidate in enumerate(available) if candidate.status == HELD_OUT]
    return [
        {
            "family": row.family,
            "label": row.label,
            "available": row.available,
            "chosen": row.chosen,
            "held_out": row.held_out,
        }
        for row in coverage(labels, chosen, held)
    ]
