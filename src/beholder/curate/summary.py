"""A curation in numbers: what became of the candidates, why some were dropped, and what is covered."""

from collections import Counter
from dataclasses import dataclass

import polars as pl

from beholder.tables.store import Store


@dataclass(frozen=True, slots=True)
class FamilyCoverage:
    """Of a family of labels, such as colours: how many there are, are covered, and chosen prompts with one."""

    family: str
    labels: int
    covered: int
    prompts: int


@dataclass(frozen=True, slots=True)
class CurationSummary:
    """Counts over the tables of a curation; ``sets`` and ``overlaps`` are their rows."""

    sets: list[dict[str, object]]
    overlaps: list[dict[str, object]]
    statuses: dict[str, int]
    dropped: dict[str, int]
    pairs: dict[str, int]
    cuts: dict[str, int]
    findings: dict[str, int]
    coverage: list[FamilyCoverage]


def summarise(store: Store) -> CurationSummary:
    """Return the counts of a curated study.

    Args:
        store: its tables.
    """
    candidates = store.read("prompt_candidates")
    reasons = candidates.filter(pl.col("status") == "dropped")["reason"]
    families = (
        store.read("prompt_coverage")
        .group_by("family", maintain_order=True)
        .agg(labels=pl.len(), covered=(pl.col("chosen") > 0).sum())
    )
    tagged = store.read("prompt_tags").group_by("tag").agg(pl.col("prompt").n_unique())
    prompts = dict(tagged.iter_rows()) | {"category": store.read("curated_prompts").height}
    return CurationSummary(
        sets=store.read("prompt_sets").to_dicts(),
        overlaps=store.read("prompt_overlaps").to_dicts(),
        statuses=_counts(candidates["status"]),
        dropped=_counts(pl.Series([_kind_of(reason) for reason in reasons], dtype=pl.String)),
        pairs=_counts(store.read("prompt_pairs")["relation"]),
        cuts=_counts(store.read("prompt_edits")["rule"]),
        findings=_counts(store.read("prompt_findings")["check"]),
        coverage=[
            FamilyCoverage(family, labels, covered, prompts.get(family, 0))
            for family, labels, covered in families.iter_rows()
        ],
    )


def _counts(column: pl.Series) -> dict[str, int]:
    return dict(Counter(column.to_list()).most_common())


def _kind_of(reason: str) -> str:
    """Return the reason without its particulars: ``near-duplicate of …`` is a near-duplicate."""
    return reason.partition(" of ")[0].partition(":")[0]
