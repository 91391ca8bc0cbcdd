"""Audits and replications on simulated studies with known gaps: found, false findings, coverage.

    python benchmarks/audits.py [--studies 1000] [--seed 1] [--only slices|counterfactual|replication] [--rows 0 2]

Prints markdown tables; ``docs/measured/audits.md`` is a saved run. One process. Studies are simulated as tables of
answers, and run through what ``beholder audit`` and ``beholder replicate`` run.
"""

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import special

from beholder.api.replication.effects import Scope, contrast_effect
from beholder.audit.contrasts import contrast_of, judged_prompts
from beholder.audit.gap_findings import Gap, gap_findings
from beholder.audit.slice_gap import slice_contrasts
from beholder.judgements.measures import Measure
from beholder.stats.intervals.crossed_t import CrossedInfluence, crossed_means
from beholder.stats.significance.replication import compare_replication

LEVEL = 0.95
FEWEST = 20
BOUND = 1.96  # standard errors of the simulation
TAGS = (0.1, 0.12, 0.15, 0.2, 0.3, 0.4, 0.5, 0.8)  # of the prompts that have each tag
ENTRIES = 2

Rows = Sequence[int] | None
"""Rows of a table to run; none: all of them. Each has random numbers of its own."""
World = TypeVar("World")


def chosen(worlds: Sequence[World], rows: Rows) -> Iterator[tuple[int, World]]:
    """The worlds of the rows that are run, numbered."""
    return ((number, world) for number, world in enumerate(worlds) if rows is None or number in rows)


@dataclass(frozen=True)
class SliceWorld:
    """Raters, or a scorer, judge images of 300 prompts by 2 entries; one slice may have a higher error rate."""

    name: str
    raters: int  # 0: a scorer
    share: float  # of the prompts that a rater judges
    prompts: int = 300
    error: float = 0.1


def slice_study(world: SliceWorld, rng: np.random.Generator, factor: float) -> tuple[Measure, dict[str, set[str]]]:
    """One study: the slice ``tag: t3`` (20 % of the prompts) has ``factor`` times the error rate."""
    names = [f"p{number:04d}" for number in range(world.prompts)]
    tags = rng.random((len(TAGS), world.prompts)) < np.array(TAGS)[:, None]
    rate = np.where(tags[3], factor * world.error, world.error)
    prompt = rng.normal(0, 0.6, world.prompts)
    entry = rng.normal(0, 0.2, ENTRIES)
    slices = {f"tag: t{k}": {names[p] for p in np.flatnonzero(row)} for k, row in enumerate(tags)}
    if world.raters == 0:
        score = (
            -special.logit(rate)[:, None] + prompt[:, None] + entry + rng.normal(0, 1, (world.prompts, ENTRIES))
        )
        place, who = np.divmod(np.arange(score.size), ENTRIES)
        rows = {"prompt": [names[p] for p in place], "entry": [f"e{k}" for k in who]}
        return Measure("score", "scorer", "higher", pl.DataFrame(rows | {"value": score.ravel()})), slices
    seen = rng.random((world.raters, world.prompts, ENTRIES)) < world.share
    rater, place, who = np.nonzero(seen)
    strict = rng.normal(0, 0.4, world.raters)
    wrong = rng.random(len(rater)) < _tripled(rate[place], prompt[place] + entry[who] + strict[rater])
    answers: dict[str, object] = {
        "rater": [f"r{k}" for k in rater],
        "prompt": [names[p] for p in place],
        "entry": [f"e{k}" for k in who],
        "value": 1.0 - wrong,
    }
    return Measure("right", "people", "higher", pl.DataFrame(answers), proportion=True, bounds=(0.0, 1.0)), slices


def _tripled(rate: NDArray[np.float64], shift: NDArray[np.float64]) -> NDArray[np.float64]:
    """The probability of an error whose mean over prompts, entries and raters is about ``rate``."""
    return np.asarray(special.expit(special.logit(rate) + shift - 0.25), np.float64)


def slices(studies: int, seed: int, rows: Rows) -> Iterator[str]:
    """Threefold error rates found, and false findings where there is no gap."""
    yield "| who judges | found: threefold error rate in one slice | any false finding, no gap | bound |"
    yield "|---|---|---|---|"
    worlds = (
        SliceWorld("8 raters, each 60 % of the images", 8, 0.6),
        SliceWorld("30 raters, each 10 % of the images", 30, 0.1),
        SliceWorld("a scorer", 0, 1.0),
    )
    for number, world in chosen(worlds, rows):
        rng = np.random.default_rng([seed, 1, number])
        hits = alarms = 0
        for _ in range(studies):
            for factor in (3.0, 1.0):
                measure, parts = slice_study(world, rng, factor)
                prompts = set(measure.rows["prompt"].unique())
                tested = list(slice_contrasts([measure], parts, prompts, fewest=FEWEST))
                findings = list(gap_findings(tested, level=LEVEL))
                if factor > 1:
                    hits += any(f.severity == "problem" and f.slice == "tag: t3" for f in findings)
                else:
                    alarms += any(f.severity in ("problem", "caution") for f in findings)
        bound = 1 - LEVEL + BOUND * np.sqrt(LEVEL * (1 - LEVEL) / studies)
        yield f"| {world.name} | {hits / studies:.1%} | {alarms / studies:.1%} | {bound:.1%} |"


@dataclass(frozen=True)
class PairWorld:
    """Counterfactual pairs: the same prompt for two groups, of which one is rated lower."""

    pairs: int
    raters: int  # 0: a scorer
    share: float = 1.0
    gap: float = -0.3


def pair_study(world: PairWorld, rng: np.random.Generator) -> tuple[pl.DataFrame, dict[str, int], dict[str, str]]:
    """One study: ratings of both prompts of every pair; raters differ in how much they favour a group."""
    common = rng.normal(0, 0.5, world.pairs)
    single = rng.normal(0, 0.3, (world.pairs, 2))
    group = np.array([world.gap, 0.0])
    names = [[f"a{k}", f"b{k}"] for k in range(world.pairs)]
    group_of = {name: place for both in names for place, name in enumerate(both)}
    set_of = {name: f"s{k}" for k, both in enumerate(names) for name in both}
    seen = np.ones((max(world.raters, 1), world.pairs, 2)) * world.share > rng.random(
        (max(world.raters, 1), world.pairs, 2)
    )
    rater, pair, side = np.nonzero(seen)
    level = rng.normal(0, 0.4, max(world.raters, 1))
    bias = rng.normal(0, 0.2, max(world.raters, 1)) if world.raters else np.zeros(1)
    value = common[pair] + single[pair, side] + group[side] + rng.normal(0, 0.8, len(rater))
    value = value + level[rater] + bias[rater] * (1 - side) if world.raters else value
    rows: dict[str, object] = {"prompt": [names[p][s] for p, s in zip(pair, side, strict=True)], "value": value}
    if world.raters:
        rows["rater"] = [f"r{k}" for k in rater]
    return pl.DataFrame(rows), group_of, set_of


def counterfactual(studies: int, seed: int, rows: Rows) -> Iterator[str]:
    """Coverage of the interval of one gap, and of all gaps of a family together."""
    yield "| pairs | raters | answers | coverage of one gap | of five gaps together |"
    yield "|---|---|---|---|---|"
    worlds = (
        PairWorld(20, 8),
        PairWorld(40, 10),
        PairWorld(40, 30, 0.3),
        PairWorld(100, 30, 0.1),
        PairWorld(20, 0),
        PairWorld(100, 0),
    )
    nobody = Measure(
        "rating",
        "people",
        "higher",
        pl.DataFrame({"prompt": ["p", "q"], "entry": ["e", "e"], "value": [0.0, 1.0]}),
    )
    for number, world in chosen(worlds, rows):
        rng = np.random.default_rng([seed, 2, number])
        alone, together = [], []
        for _ in range(studies):
            tested = []
            for entry in range(5):
                judged, group_of, set_of = pair_study(world, rng)
                contrast = contrast_of(judged_prompts(judged), group_of, set_of)
                assert contrast is not None
                tested.append(Gap(contrast, f"e{entry}", nobody, "gender", "a", "b", symmetric=True))
            first = next(iter(gap_findings(tested[:1], level=LEVEL)))
            alone.append(_holds(first.low, first.high, world.gap))
            together.append(all(_holds(f.low, f.high, world.gap) for f in gap_findings(tested, level=LEVEL)))
        who = str(world.raters) if world.raters else "a scorer"
        part = f"{world.share:.0%} of all" if world.raters else "one per image"
        yield f"| {world.pairs} | {who} | {part} | {np.mean(alone):.1%} | {np.mean(together):.1%} |"


def _holds(low: float | None, high: float | None, truth: float) -> bool:
    return low is not None and high is not None and low <= truth <= high


@dataclass(frozen=True)
class ReplicationWorld:
    """An original and a replication of the difference of two entries."""

    name: str
    raters: tuple[int, int]
    prompts: int
    share: float  # of the prompts that a rater judges
    same_prompts: bool
    effect: float = 0.3


def rated(
    world: ReplicationWorld, raters: int, prompt: NDArray[np.float64], rng: np.random.Generator
) -> CrossedInfluence:
    """One study: every rater judges both entries of an equal share of the prompts, spread evenly."""
    each = round(world.share * world.prompts)
    turns = np.concatenate([rng.permutation(world.prompts) for _ in range(-(-raters * each // world.prompts))])
    place = turns[: raters * each]
    rater = np.repeat(np.arange(raters), each)
    taste = rng.normal(0, 0.3, raters)
    level = rng.normal(0, 0.5, raters)
    base = level[rater] + rng.normal(0, 0.7, len(rater))
    lead = world.effect + taste[rater] + prompt[place] + rng.normal(0, 0.8, len(rater))
    cells = np.repeat([0, 1], len(rater))
    return crossed_means(
        np.tile(rater, 2), np.tile(place, 2), cells, np.concatenate([base + lead, base]), cell_count=2
    )


def replication(studies: int, seed: int, rows: Rows) -> Iterator[str]:
    """How often the prediction interval holds the new estimate, and what the verdicts are."""
    yield "| replication | raters, then and now | prompts | holds the new estimate | replicated | failed |"
    yield "|---|---|---|---|---|---|"
    worlds = (
        ReplicationWorld("fresh raters, same prompts", (30, 30), 200, 0.3, same_prompts=True),
        ReplicationWorld("fresh raters, same prompts", (10, 40), 100, 0.5, same_prompts=True),
        ReplicationWorld("fresh raters, same prompts, all judged by all", (8, 8), 50, 1.0, same_prompts=True),
        ReplicationWorld("fresh raters and fresh prompts", (30, 30), 200, 0.3, same_prompts=False),
        ReplicationWorld("fresh raters and fresh prompts", (15, 60), 60, 0.5, same_prompts=False),
    )
    contrast = np.array([1.0, -1.0])
    for number, world in chosen(worlds, rows):
        rng = np.random.default_rng([seed, 3, number])
        within, verdicts = 0, []
        for _ in range(studies):
            prompt = rng.normal(0, 0.5, world.prompts)
            again = prompt if world.same_prompts else rng.normal(0, 0.5, world.prompts)
            scope: Scope = "raters" if world.same_prompts else "raters and prompts"
            effects = [
                contrast_effect(rated(world, count, effects_of_prompts, rng), contrast, scope)
                for count, effects_of_prompts in zip(world.raters, (prompt, again), strict=True)
            ]
            assert effects[0] is not None
            assert effects[1] is not None
            comparison = compare_replication(effects[0], effects[1], level=LEVEL)
            within += comparison.within
            verdicts.append(comparison.verdict)
        failed = sum(verdict in ("not replicated", "contradicted") for verdict in verdicts)
        yield (
            f"| {world.name} | {world.raters[0]}, {world.raters[1]} | {world.prompts} | {within / studies:.1%} "
            f"| {verdicts.count('replicated') / studies:.1%} | {failed / studies:.1%} |"
        )


PARTS = {"slices": slices, "counterfactual": counterfactual, "replication": replication}


def main() -> None:
    """Print every part with its time."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=PARTS, nargs="*", default=list(PARTS))
    parser.add_argument("--rows", type=int, nargs="*")
    arguments = parser.parse_args()
    for name in arguments.only:
        began = time.monotonic()
        print(f"\n### {name}\n")
        for line in PARTS[name](arguments.studies, arguments.seed, arguments.rows):
            print(line, flush=True)
        print(f"\n{arguments.studies:,} studies per row, {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
