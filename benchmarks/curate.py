"""What ``beholder curate`` finds: near-duplicates of known origin, labelled pairs, overlaps, tags, cleaning.

``python benchmarks/curate.py`` prints the tables of ``docs/measured/curate.md``; the prompt sets are looked for in
``BEHOLDER_SHARED`` (default ``../shared``).
"""

import csv
import hashlib
import importlib.util
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np
from prompt_variants import CHANGES, draw_variants

from beholder.prompts.checks.check import check_prompt
from beholder.prompts.checks.language import language_of
from beholder.prompts.cleaning.clean import clean
from beholder.prompts.duplicates.compare import compare
from beholder.prompts.duplicates.find import PromptPair, find_pairs
from beholder.prompts.duplicates.overlaps import overlaps
from beholder.prompts.duplicates.spelling import Spelling
from beholder.prompts.normalise import normalise
from beholder.prompts.prompt import Prompt, PromptSet
from beholder.prompts.sets.catalogue import PROMPT_SETS, read_set
from beholder.prompts.tags.tagger import tag_prompt
from beholder.prompts.words.english import english_words
from beholder.stats.intervals.proportions import wilson
from beholder.tables.prompt_id import prompt_id

ROOT = Path(__file__).parents[1]
SHARED = Path(os.environ.get("BEHOLDER_SHARED", ROOT.parent / "shared")) / "data" / "prompts"
WITHIN_ANOTHER = (("t2i-compbench", "main"), ("t2i-compbench", "seen"), ("t2i-compbench", "unseen"))
SEEDS = range(5)
Outcome = TypeVar("Outcome")
VARIANTS = 500

FINE_TYPES: dict[str, tuple[str, ...]] = {
    "count": ("other - count", "attribute - count"),
    "colour": ("attribute - color",),
    "size": (
        *("attribute - size", "attribute - scale", "entity - scale"),
        *("attribute - height", "attribute - width", "attribute - length"),
    ),
    "shape": ("attribute - shape",),
    "material": ("attribute - material",),
    "texture": ("attribute - texture", "attribute - pattern"),
    "state": ("attribute - state",),
    "text": ("other - text rendering", "attribute - text rendering"),
    "spatial": ("relation - spatial",),
    "action": ("relation - action",),
    "style": (
        *("global - -", "attribute - style", "attribute - artist"),
        *("attribute - resolution", "attribute - aspect ratio", "attribute - detail"),
    ),
}
"""A tag of ours -> the types of DSG's tuples."""

BROAD_TYPES: dict[str, tuple[str, ...]] = {
    "attribute": ("colour", "size", "shape", "material", "texture", "state"),
    "relation": ("spatial", "action", "comparison"),
    "global": ("style",),
    "other (count, text)": ("count", "text"),
}


def main() -> None:
    sets = read_all()
    texts = [prompt.text for each in sets for prompt in each.prompts]
    print_sets()
    print_variants(texts)
    print_labelled(texts)
    print_overlaps(sets)
    print_pairs(texts)
    prompts = {each.full_name: each.prompts for each in sets}
    print_geneval(prompts["geneval"])
    print_grammar()
    for half, name in ((0, "developed on"), (1, "held out")):
        print_dsg([prompt for prompt in prompts["dsg-1k"] if half_of(prompt) == half], name)
    print_cleaning(texts)


def read_all() -> list[PromptSet]:
    """Every part of every set that is no part of another one."""
    return [
        read_set(name, SHARED / name, part)
        for name, entry in PROMPT_SETS.items()
        for part in entry.parts
        if (SHARED / name).is_dir() and (name, part) not in WITHIN_ANOTHER
    ]


def print_sets() -> None:
    print("\n| set | prompts | expected | seconds |\n|---|---|---|---|")
    for name, entry in PROMPT_SETS.items():
        for part, about in entry.parts.items():
            if (SHARED / name).is_dir():
                seconds, each = timed(partial(read_set, name, SHARED / name, part))
                print(f"| {each.full_name} | {len(each.prompts):,} | {about.count:,} | {seconds:.3f} |")


def print_variants(texts: Sequence[str]) -> None:
    print(f"\n{VARIANTS} variants among {len(texts):,} prompts\n")
    print(f"| seed | {' | '.join(CHANGES)} | recall | CPU seconds |\n|{'---|' * (len(CHANGES) + 3)}")
    for seed in SEEDS:
        variants = draw_variants(texts, VARIANTS, np.random.default_rng(seed))
        seconds, pairs = timed(partial(find_pairs, [*texts, *(each.text for each in variants)]))
        same = groups_of(pairs, len(texts) + len(variants))
        hits = Counter(
            each.kind for place, each in enumerate(variants) if same[len(texts) + place] == same[each.origin]
        )
        drawn = Counter(each.kind for each in variants)
        cells = [f"{hits[kind]} / {drawn[kind]}" for kind in CHANGES]
        print(f"| {seed} | {' | '.join(cells)} | {hits.total() / VARIANTS:.3f} | {seconds:.1f} |")


def print_labelled(texts: Iterable[str]) -> None:
    by_id = {prompt_id(text): text for text in texts}
    spelling = Spelling(english_words())
    with (ROOT / "tests" / "prompts" / "labelled_pairs.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    verdicts = [compare(normalise(by_id[row["first"]]), normalise(by_id[row["second"]]), spelling) for row in rows]
    print("\n| called | pairs | the same by hand | proportion (95 % CI) |\n|---|---|---|---|")
    for relation in ("duplicate", "near-duplicate", "minimal-pair"):
        labels = [
            row["same"] == "yes"
            for row, verdict in zip(rows, verdicts, strict=True)
            if verdict is not None and verdict.relation == relation
        ]
        print(f"| {relation} | {len(labels)} | {sum(labels)} | {proportion(sum(labels), len(labels))} |")


def print_overlaps(sets: Sequence[PromptSet]) -> None:
    print("\n| sets | shared |\n|---|---|")
    for pair in overlaps(sets):
        if pair.shared >= 20:
            print(f"| {pair.first}, {pair.second} | {pair.shared:,} |")


def print_pairs(texts: Sequence[str]) -> None:
    pairs = find_pairs(texts)
    print(f"\nall prompts: {dict(Counter(pair.relation for pair in pairs))}")


def print_geneval(prompts: Iterable[Prompt]) -> None:
    right = []
    for prompt in prompts:
        objects = json.loads(prompt.labels["include"])
        tags = tag_prompt(prompt.text)
        labels = [{tag.label for tag in tags if tag.name == name} for name in ("count", "colour", "spatial")]
        expected = [
            {str(each["count"]) for each in objects if each["count"] > 1},
            {each["color"] for each in objects if "color" in each},
            {each["position"][0] for each in objects if "position" in each},
        ]
        right.append(labels == expected)
    print(f"\nGenEval: counts, colours and positions right in {sum(right)} of {len(right)} prompts")


def print_grammar() -> None:
    spec = importlib.util.spec_from_file_location("synthetic", ROOT / "tests" / "prompts" / "synthetic_prompts.py")
    assert spec is not None
    assert spec.loader is not None
    synthetic = importlib.util.module_from_spec(spec)
    sys.modules["synthetic"] = synthetic
    spec.loader.exec_module(synthetic)
    wrong = 0
    for prompt in synthetic.draw_prompts(10_000, np.random.default_rng(1)):
        tags = tag_prompt(prompt.text)
        labels = {(tag.name, tag.label) for tag in tags if tag.name in ("count", "colour")}
        wrong += {tag.name for tag in tags} - {"state", "body-part"} != prompt.tags or labels != prompt.labels
    print(f"grammar: {wrong} of 10,000 prompts with a wrong tag")


def print_dsg(prompts: Sequence[Prompt], half: str) -> None:
    tags = [{tag.name for tag in tag_prompt(prompt.text)} for prompt in prompts]
    types = [prompt.labels["types"].split("; ") for prompt in prompts]
    print(f"\nDSG-1k, the half {half}: {len(prompts)} prompts\n")
    print("| tag or type | prompts with it | precision | recall | F1 |\n|---|---|---|---|---|")
    scores = [
        print_score(tag, [any(kind in of for kind in kinds) for of in types], [tag in of for of in tags])
        for tag, kinds in FINE_TYPES.items()
    ]
    print(f"| **macro, fine types** | | | | **{np.mean(scores):.3f}** |")
    scores = [
        print_score(
            kind,
            [any(each.startswith(f"{kind.split()[0]} -") for each in of) for of in types],
            [not of.isdisjoint(names) for of in tags],
        )
        for kind, names in BROAD_TYPES.items()
    ]
    print(f"| **macro, broad types without entity** | | | | **{np.mean(scores):.3f}** |")
    entity = print_score("entity", [any(e.startswith("entity") for e in of) for of in types], [True] * len(types))
    print(f"| **macro, all broad types** | | | | **{np.mean([*scores, entity]):.3f}** |")


def print_score(name: str, truth: Collection[bool], called: Collection[bool]) -> float:
    hits = sum(a and b for a, b in zip(truth, called, strict=True))
    precision, recall = hits / max(sum(called), 1), hits / max(sum(truth), 1)
    score = 2 * hits / (sum(truth) + sum(called))
    print(f"| {name} | {sum(truth)} | {precision:.3f} | {recall:.3f} | {score:.3f} |")
    return score


def print_cleaning(texts: Sequence[str]) -> None:
    seconds, cleaned = timed(lambda: [clean(text) for text in texts])
    changed = sum(bool(each.cuts) for each in cleaned)
    rules = Counter(cut.rule for each in cleaned for cut in each.cuts)
    again = sum(clean(each.text).text != each.text for each in cleaned)
    print(f"\ncleaning: {changed:,} of {len(texts):,} prompts cut, {again} changed again; {dict(rules)}")
    for name, work in (("tag", tag_prompt), ("check", check_prompt), ("language", language_of)):
        took, _ = timed(partial(list, map(work, texts)))
        print(f"{name}: {1000 * took / len(texts):.2f} ms per prompt")
    print(f"clean: {1000 * seconds / len(texts):.2f} ms per prompt")


def half_of(prompt: Prompt) -> int:
    return int(hashlib.sha256(prompt.key.encode()).hexdigest(), 16) % 2


def groups_of(pairs: Iterable[PromptPair], count: int) -> list[int]:
    """Connected components of duplicates and near-duplicates."""
    roots = list(range(count))

    def root(position: int) -> int:
        while roots[position] != position:
            position = roots[position]
        return position

    for pair in pairs:
        if pair.relation in ("duplicate", "near-duplicate"):
            roots[root(pair.second)] = root(pair.first)
    return [root(position) for position in range(count)]


def proportion(successes: int, trials: int) -> str:
    low, high = wilson(successes, trials)
    return f"{successes / trials:.3f} ({float(low):.3f}–{float(high):.3f})"


def timed(work: Callable[[], Outcome]) -> tuple[float, Outcome]:
    began = time.process_time()
    outcome = work()
    return time.process_time() - began, outcome


if __name__ == "__main__":
    main()
